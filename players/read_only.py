"""Lists in the admin that show and never change: what any list of ours is built on."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from players import staff


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """A list of rows, each linked to a page of ours. Nothing is added, changed or deleted, by whomever.

    `permission` opens the list; `page` names the address of a row's page, which asks for permissions of its own. Each
    look at the list is recorded, as `act`."""

    permission = ""
    act = staff.Act.LIST
    page: str | None = None
    actions = None
    list_per_page = 50
    list_max_show_all = 0  # what is shown at once fits into one line of the record
    show_full_result_count = False
    # Django lets any own field be compared through the address, which would tell bit by bit what no page shows.
    lookups: frozenset[str] = frozenset()

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return staff.may(request.user, self.permission)

    def has_add_permission(self, request: HttpRequest, *_more: Any) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:  # noqa: ARG002
        return lookup in self.lookups

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """The list. PostgreSQL takes no NUL in a text, so whoever asks for one gets Django's answer to nonsense."""
        if any("\0" in value for _name, values in request.GET.lists() for value in values):
            return redirect(f"{request.path}?e=1")
        answer = super().changelist_view(request, extra_context)
        if isinstance(answer, TemplateResponse) and answer.context_data and "cl" in answer.context_data:
            staff.record(request.user, self.act, subject=self.seen(answer.context_data["cl"].result_list))  # type: ignore[arg-type]
        return answer

    def seen(self, rows: Any) -> str:
        """What the record says of these rows: which they were. What was typed to find them is not kept."""
        return f"{self.opts.model_name}: {' '.join(str(row.pk) for row in rows)}"

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",  # noqa: ARG002
        extra_context: Any = None,  # noqa: ARG002
    ) -> HttpResponse:
        """The row's own page; no form is made of it."""
        number = object_id.isascii() and object_id.isdigit() and len(object_id) < 19
        if request.method != "GET" or self.page is None or not number or not self.has_view_permission(request):
            raise PermissionDenied
        return redirect(reverse(self.page, args=[int(object_id)]))

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:  # noqa: ARG002
        raise PermissionDenied
