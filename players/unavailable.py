"""The answer while the database, a lock or the count of tries is not to be had: one calm page, never a 500."""

from django.http import HttpResponse
from django.template.loader import get_template

AGAIN_SECONDS = 2


def try_again() -> HttpResponse:
    """503 with the time to try again; made without the request, whose session and messages may need the database."""
    response = HttpResponse(get_template("503.html").render(), status=503)
    response["Retry-After"] = str(AGAIN_SECONDS)
    return response
