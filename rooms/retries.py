"""A service whose transaction PostgreSQL gave up in favour of another one is run anew, from its first line."""

import logging
import secrets
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import OperationalError, connection

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)
TRIES = 3
# A first pause is this long to twice as long, a second one twice that: two that met must not meet again.
PAUSE_SECONDS = 0.02
# The two failures that say "the same again may well succeed", after PostgreSQL has undone everything. A lock that did
# not come within lock_timeout (55P03) is none of them: whoever holds it would only be waited for once more.
GIVEN_UP = {"40001": "serialization failure", "40P01": "deadlock"}


def retried(service: Callable[P, T]) -> Callable[P, T]:
    """Run the whole service anew when its transaction was the victim of a deadlock or a serialization failure, three
    times in all; then the error passes on, and nothing has changed.

    For a service that opens its transaction itself, and one alone, or that may be repeated from any point. All that it
    did is undone and done again: it must decide by what it reads in this try, and what it does outside the database
    (a counter, a mail) it does after the commit, so that it is done once. Called inside an open transaction it is run
    once: whoever opened that one has to run all of it anew."""

    @wraps(service)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        for tried in range(1, TRIES):
            try:
                return service(*args, **kwargs)
            except OperationalError as error:
                why = GIVEN_UP.get(getattr(error.__cause__, "sqlstate", None) or "")
                if why is None or connection.in_atomic_block:
                    raise
                log.warning("%s is run anew: %s", service.__qualname__, why)
            time.sleep(PAUSE_SECONDS * tried * (1 + secrets.randbelow(1000) / 1000))
        return service(*args, **kwargs)

    return run
