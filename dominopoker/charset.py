"""Forms are read as UTF-8 alone, which is what pages of ours send."""

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.views.defaults import bad_request


class UnicodeForms:
    """Answers 400 to a body in another charset: Django would decode it with whatever codec Python has by that name,
    some of which decode no text at all."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        charset = (request.content_params or {}).get("charset", "utf-8")
        if charset.lower() not in {"utf-8", "utf8"}:
            request.encoding = "utf-8"  # the answer's page asks for what was sent
            return bad_request(request, BadRequest("not UTF-8"))
        return self.get_response(request)
