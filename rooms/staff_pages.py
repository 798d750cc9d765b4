"""What every page of staff stands on: who may see it, that a refusal is recorded, and how it is shown."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from players import staff
from players.selectors import Player
from players.staff import Act

# What the templates may ask `may` for.
PERMISSIONS = (
    "see_players", "see_personal", "see_ledger", "export_ledger", "see_matches", "see_flags", "ban", "note",
    "end_sessions", "ask_correction", "approve_correction", "see_log", "appoint",
)  # fmt: skip


def staff_page(permission: str) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """A page of the admin for those who have the permission; others are refused, and that is recorded."""

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not staff.may(request.user, permission):
                staff.record(member(request), Act.REFUSED, subject=request.path)
                raise PermissionDenied
            return view(request, *args, **kwargs)

        wrapped: Callable[..., HttpResponseBase] = admin.site.admin_view(guarded)
        return wrapped

    return decorate


def member(request: HttpRequest) -> Player:
    """The member of staff who asks."""
    assert isinstance(request.user, Player)
    return request.user


def show(request: HttpRequest, template: str, title: str, status: int = 200, **context: Any) -> HttpResponse:
    """A page inside the admin; its template knows who looks (`me`) and what that one may (`may`)."""
    me = member(request)
    may = {name: staff.may(me, name) for name in PERMISSIONS}
    whole = {**admin.site.each_context(request), "title": title, "may": may, "me": me, **context}
    return render(request, f"staff/{template}.html", whole, status=status)
