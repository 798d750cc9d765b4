"""Makes a member of staff: a new one who can sign in at once, or an account that there is already."""

import secrets
from typing import Any
from urllib.parse import quote

from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from players import staff
from players.errors import NameRefused
from players.models import Player
from players.names import login_name
from players.selectors import confirmed


class Command(BaseCommand):
    help = (
        "Make a member of staff. A new one's password, secret and one-time codes are printed once and kept nowhere in "
        "clear; with --existing, a registered player gets the role and keeps the password."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="by which this person signs in and is shown")
        parser.add_argument("--role", choices=staff.ROLES, default="admin")
        parser.add_argument("--address", default="", help="an e-mail address, taken as confirmed")
        parser.add_argument("--existing", action="store_true", help="give the role to the account of this name")

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["existing"]:
            self._promote(options["name"], options["role"], options["address"])
        else:
            self._make(options["name"], options["role"], options["address"])

    def _make(self, name: str, role: str, address: str) -> None:
        password = secrets.token_urlsafe(15)
        if settings.EMAIL_VERIFICATION == "mandatory" and not address:
            raise CommandError(_("Addresses must be confirmed here: give one with --address."))
        try:
            player, secret, codes = staff.make_staff(name, role, password, address)
        except NameRefused as refused:
            said = str(refused.text)
            if _account(name) is not None:
                said = _("%(refused)s To give the role to the account of that name: --existing.") % {"refused": said}
            raise CommandError(said) from refused
        label = quote(f"{settings.MFA_TOTP_ISSUER}:{player.shown_name}")
        # The middle one of those that count now, so that it holds for half a minute at least.
        counters = list(yield_hotp_counters_from_time())
        code = format_hotp_value(hotp_value(secret, counters[len(counters) // 2]))
        lines = {
            _("Name"): player.shown_name,
            _("Role"): role,
            _("Password"): password,
            _("Secret for an authenticator"): secret,
            _(
                "The same as an address"
            ): f"otpauth://totp/{label}?secret={secret}&issuer={quote(settings.MFA_TOTP_ISSUER)}",
            _("One-time code of this moment"): code,
            _("Recovery codes, each once"): " ".join(codes),
            _("Sign in at"): f"{settings.SITE_URL}/admin/",
        }
        self._print(lines)
        self.stdout.write(_("None of this is shown again."))

    def _promote(self, name: str, role: str, address: str) -> None:
        if address:
            raise CommandError(_("An account keeps its own address: --existing takes none."))
        player = _account(name)
        if player is None:
            raise CommandError(_("There is no account of that name. Without --existing, one is made."))
        try:
            staff.appoint(player, role, None, "make admin --existing")
        except staff.Refused as refused:
            raise CommandError(_("That account is banned or closed: it gets no role.")) from refused
        needed = [] if confirmed(player.pk) else [_("a confirmed address")]
        needed += (
            [] if staff.has_second_step(player.pk) else [_("a second step, which the first page after it asks for")]
        )
        lines = {
            _("Name"): player.shown_name,
            _("Role"): role,
            _("Password"): _("the one that the account has"),
            _("Still needed"): _(" and ").join(needed) or _("nothing"),
            _("Sign in at"): f"{settings.SITE_URL}/admin/",
        }
        self._print(lines)
        self.stdout.write(_("The account is signed out everywhere."))

    def _print(self, lines: dict[str, str]) -> None:
        for name, value in lines.items():
            self.stdout.write(f"{name}: {value}")


def _account(name: str) -> Player | None:
    """The registered player who signs in by this name; never by a number, which may be somebody's name too."""
    return Player.objects.filter(username=login_name(name), is_guest=False).first()
