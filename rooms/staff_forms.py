"""What staff fill in: searches, and actions that each ask for a reason."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from players import selectors as players
from players import staff
from wallet.selectors import MAX_COINS, Kind, Search

HIGHEST = 2**63 - 1
PLAIN = re.compile("-?[0-9]{1,13}")


class DayInput(forms.DateInput):
    input_type = "date"


class LedgerForm(forms.Form):
    """A search in the ledger: all of what is given."""

    player = forms.CharField(label=_("Player (number or name)"), required=False, max_length=60)
    room = forms.IntegerField(label=_("Room"), required=False, min_value=1, max_value=HIGHEST)
    match = forms.IntegerField(label=_("Match"), required=False, min_value=1, max_value=HIGHEST)
    reference = forms.CharField(label=_("Reference begins with"), required=False, max_length=60)
    kind = forms.MultipleChoiceField(
        label=_("Kind"), required=False, choices=Kind.choices, widget=forms.SelectMultiple(attrs={"size": 4})
    )
    least = forms.IntegerField(label=_("At least (gold)"), required=False, min_value=0, max_value=HIGHEST)
    most = forms.IntegerField(label=_("At most (gold)"), required=False, min_value=0, max_value=HIGHEST)
    since = forms.DateField(label=_("From (UTC)"), required=False, widget=DayInput())
    until = forms.DateField(label=_("Until, included (UTC)"), required=False, widget=DayInput())

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        data["player_id"] = None
        if data.get("player"):
            found = players.found(data["player"])
            if found is None:
                raise ValidationError({"player": _("There is no such player.")})
            data["player_id"] = found.pk
        if data.get("match") and data.get("reference"):
            raise ValidationError({"reference": _("Give a match or a reference, not both.")})
        return data

    def search(self) -> Search:
        data = self.cleaned_data
        match, until = data["match"], data["until"]
        return Search(
            player_id=data["player_id"],
            room_id=data["room"],
            reference=f"match:{match}:" if match else data["reference"],
            kinds=data["kind"],
            least=data["least"],
            most=data["most"],
            since=_midnight(data["since"]) if data["since"] else None,
            until=_midnight(until + timedelta(days=1)) if until and until.year < 9999 else None,
        )


def _midnight(day: Any) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


class PeriodForm(forms.Form):
    """How many days are looked at."""

    days = forms.IntegerField(label=_("Days"), min_value=1, max_value=366)


class ReasonForm(forms.Form):
    """Why something is done; whoever reads the record later depends on it."""

    reason = forms.CharField(label=_("Reason"), max_length=500, widget=forms.Textarea(attrs={"rows": 2, "cols": 60}))


class NoteForm(ReasonForm):
    """A note is kept as the reason of its line of the record."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].label = _("Note")


class BanForm(ReasonForm):
    days = forms.IntegerField(
        label=_("Days (empty: until somebody lifts it)"), required=False, min_value=1, max_value=3650
    )

    def until(self) -> datetime | None:
        days = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=days) if days else None


class RoleForm(ReasonForm):
    role = forms.ChoiceField(
        label=_("Role"), required=False, choices=[("", _("none")), *((role, role) for role in staff.ROLES)]
    )


class DecisionForm(forms.Form):
    """Why a correction is declined; who approves needs to say nothing."""

    reason = forms.CharField(label=_("Why not"), required=False, max_length=500)


class CoinsField(forms.IntegerField):
    """Coins in plain digits, below 0 with a minus: what else Python takes for a number is more often a slip."""

    def to_python(self, value: Any) -> int | None:
        if isinstance(value, str) and value and not PLAIN.fullmatch(value):
            raise ValidationError(self.error_messages["invalid"], code="invalid")
        return super().to_python(value)


class CorrectionForm(ReasonForm):
    """Give gold, or take it with a number below 0."""

    amount = CoinsField(label=_("Gold (below 0: taken)"), min_value=-MAX_COINS, max_value=MAX_COINS)
    corrects = forms.CharField(
        label=_("Reference that it takes back, where there is one"), required=False, max_length=60
    )
    field_order = ("amount", "corrects", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        limits = {"limit": settings.CORRECTION_COINS, "limit_a_day": settings.CORRECTION_COINS_A_DAY}
        self.fields["amount"].help_text = _("At most %(limit)d at once, and %(limit_a_day)d in 24 hours.") % limits
