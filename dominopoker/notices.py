"""What was done, told on the next page: in a cookie that is as well guarded as the others, or in the session."""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class OwnCookie(CookieStorage):
    """Under a name of ours: Django's own has no setting."""

    cookie_name = settings.NOTICES_COOKIE_NAME


class Notices(FallbackStorage):
    """Short notices in the cookie, long ones in the session."""

    storage_classes = (OwnCookie, SessionStorage)
