"""Response headers that Django has no setting for."""

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase

_Next = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


class PrivacyHeaders:
    """Switches off browser features that we never use, and keeps personal pages out of every cache."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: _Next) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        response = self.get_response(request)
        if isinstance(response, HttpResponseBase):
            return self.mark(response)
        return self.later(response)

    async def later(self, response: Awaitable[HttpResponseBase]) -> HttpResponseBase:
        return self.mark(await response)

    @staticmethod
    def mark(response: HttpResponseBase) -> HttpResponseBase:
        response.headers.setdefault(
            "Permissions-Policy",
            "camera=(), microphone=(), geolocation=(), payment=(), usb=(), screen-wake-lock=(self)",
        )
        response.headers.setdefault("Cache-Control", "no-store")
        return response
