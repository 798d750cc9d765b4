"""Cookies that cannot be ours are treated as absent before anything asks the database about them."""

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin


class OwnCookies(MiddlewareMixin):
    """Drops a session cookie that is no session key: PostgreSQL refuses a NUL in a text."""

    def process_request(self, request: HttpRequest) -> HttpResponseBase | None:
        key = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
        if key and not (key.isascii() and key.isalnum()):
            del request.COOKIES[settings.SESSION_COOKIE_NAME]
        return None
