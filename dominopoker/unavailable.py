"""What a visitor sees while the database, a lock or the count of tries is not to be had: one calm page, never a 500."""

import logging
from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from redis import RedisError

from dominopoker.paths import shown
from players.unavailable import try_again

log = logging.getLogger(__name__)


class DatabaseBusy:
    """Answers 503 when a view could not reach the database or Valkey in time; nothing was changed then."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        # These alone may pass by themselves: no connection, a lock or a statement that took too long; and what is
        # counted in Valkey (sign-ins, sign-ups, exports) is refused while it cannot be counted.
        if not isinstance(exception, OperationalError | InterfaceError | RedisError):
            return None
        log.warning("503 at %s: %s", shown(request.path), type(exception.__cause__ or exception).__name__)
        return try_again()
