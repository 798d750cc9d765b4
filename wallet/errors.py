"""What the wallet may answer instead of moving coins: a code for programs, a sentence for people."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class WalletError(Exception):
    """A refusal; no coin was moved. The message quotes what was asked, for the log."""

    code = "refused"
    text: str | Promise = _("That is not possible.")

    def __init__(self, detail: str = "") -> None:
        super().__init__(f"{self.code}: {detail}" if detail else self.code)


class InsufficientFunds(WalletError):
    """An account holds less than is to be taken from it; `missing` is how many coins are wanting."""

    code = "insufficient_funds"
    text = _("There are not enough coins for that.")

    def __init__(self, detail: str = "", missing: int = 0) -> None:
        super().__init__(detail)
        self.missing = missing


class NoAccount(WalletError):
    code = "no_account"
    text = _("Only registered players have coins.")


class AccountClosed(WalletError):
    code = "account_closed"
    text = _("This account is closed.")


class WrongAmount(WalletError):
    """Not a whole number of coins from 1 to 1,000,000,000,000."""

    code = "wrong_amount"
    text = _("This is not an amount of coins.")


class ReferenceReused(WalletError):
    """There is a transaction of this reference, and it says something else."""

    code = "reference_reused"
    text = _("This was already booked, in another way.")


class NoSuchFee(WalletError):
    code = "no_fee"
    text = _("No such entry fee was paid at this table.")


class AlreadyResolved(WalletError):
    """The sitting's fee was refunded, paid out or abandoned before."""

    code = "already_resolved"
    text = _("This entry fee was already paid back or paid out.")


class NotAPayer(WalletError):
    code = "not_a_payer"
    text = _("Only players who paid into the pot can win it.")


class CorrectionRefused(WalletError):
    """The base of what is refused to those who correct."""


class NoSuchCorrection(CorrectionRefused):
    code = "no_correction"
    text = _("There is no such correction.")


class ReasonMissing(CorrectionRefused):
    code = "no_reason"
    text = _("A correction needs a reason of at most 500 characters.")


class OwnAccount(CorrectionRefused):
    code = "own_account"
    text = _("Nobody corrects their own account.")


class SecondPersonNeeded(CorrectionRefused):
    code = "second_person"
    text = _("A second person must approve this.")


class AlreadyDecided(CorrectionRefused):
    code = "already_decided"
    text = _("This correction is already decided.")


class CorrectionExpired(CorrectionRefused):
    code = "expired"
    text = _("This request is too old. Ask for the correction again.")


class OverLimit(CorrectionRefused):
    code = "over_limit"
    text = _("This is more than one person may correct.")


class NotTheMirror(CorrectionRefused):
    """The correction does not take back what the named transaction did to this account."""

    code = "not_the_mirror"
    text = _("This is not the reverse of that transaction for this account.")
