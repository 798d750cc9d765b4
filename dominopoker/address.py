"""The visitor's address is found once, before anything asks for it."""

from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from players.address import client_address


class ClientAddress(MiddlewareMixin):
    """Sets request.client_address, and REMOTE_ADDR for those who read that (the limits of sign-in)."""

    def process_request(self, request: HttpRequest) -> HttpResponseBase | None:
        address = client_address(request)
        request.client_address = address  # type: ignore[attr-defined]
        request.META["REMOTE_ADDR"] = address
        return None
