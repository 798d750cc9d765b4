"""Makes a member of staff who can sign in at once, and prints password and codes this one time."""

import secrets
from typing import Any
from urllib.parse import quote

from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from players import staff
from players.errors import NameRefused


class Command(BaseCommand):
    help = "Make a member of staff; password, secret and one-time codes are printed once and kept nowhere in clear."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="by which this person signs in and is shown")
        parser.add_argument("--role", choices=staff.ROLES, default="admin")
        parser.add_argument("--address", default="", help="an e-mail address, taken as confirmed")

    def handle(self, *_args: Any, **options: Any) -> None:
        password = secrets.token_urlsafe(15)
        if settings.EMAIL_VERIFICATION == "mandatory" and not options["address"]:
            raise CommandError(_("Addresses must be confirmed here: give one with --address."))
        try:
            player, secret, codes = staff.make_staff(options["name"], options["role"], password, options["address"])
        except NameRefused as refused:
            raise CommandError(str(refused.text)) from refused
        label = quote(f"{settings.MFA_TOTP_ISSUER}:{player.shown_name}")
        # The middle one of those that count now, so that it holds for half a minute at least.
        counters = list(yield_hotp_counters_from_time())
        code = format_hotp_value(hotp_value(secret, counters[len(counters) // 2]))
        lines = {
            _("Name"): player.shown_name,
            _("Role"): options["role"],
            _("Password"): password,
            _("Secret for an authenticator"): secret,
            _(
                "The same as an address"
            ): f"otpauth://totp/{label}?secret={secret}&issuer={quote(settings.MFA_TOTP_ISSUER)}",
            _("One-time code of this moment"): code,
            _("Recovery codes, each once"): " ".join(codes),
            _("Sign in at"): f"{settings.SITE_URL}/admin/",
        }
        for name, value in lines.items():
            self.stdout.write(f"{name}: {value}")
        self.stdout.write(_("None of this is shown again."))
