"""The ledger's tables: accounts, transactions, postings; migration 0002 has the laws that the database keeps."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from wallet import chart

MAX_COINS = 10**12


def _reference_says_its_kind() -> Q:
    condition = Q()
    for kind, pattern in chart.REFERENCES.items():
        condition |= Q(kind=kind, reference__regex=pattern)
    return condition


class Kind(models.TextChoices):
    """Why coins moved."""

    WELCOME = "welcome", _("welcome bonus")
    REWARD = "reward", _("reward")
    FEE = "fee", _("entry fee")
    REFUND = "refund", _("fee paid back")
    PAYOUT = "payout", _("winnings")
    ABANDONED = "abandoned", _("abandoned pot")
    BUYIN = "buyin", _("chips bought")
    HAND = "hand", _("hand played")
    CASHOUT = "cashout", _("chips cashed in")
    CORRECTION = "correction", _("correction")
    CLOSED = "closed", _("account closed")


class Account(models.Model):
    """A place where coins are. Its row is the lock of its balance, which only the trigger on postings moves.

    House accounts keep no balance (it is summed when asked), so that tables never queue on one row."""

    code = models.CharField(max_length=30, unique=True)
    owner = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="wallet_account"
    )
    balance = models.BigIntegerField(db_default=0)
    # An account that was emptied for good takes no more coins.
    closed = models.BooleanField(db_default=False)

    class Meta:
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(
                condition=Q(code__regex=chart.ACCOUNT_PATTERN), name="wallet_account_is_in_the_chart"
            ),
            models.CheckConstraint(condition=Q(balance__gte=0), name="wallet_balance_not_negative"),
            models.CheckConstraint(
                condition=Q(closed=False) | Q(balance=0), name="wallet_closed_account_takes_nothing"
            ),
            models.CheckConstraint(
                condition=Q(code__startswith="house:", id__lt=chart.FIRST_OWN_NUMBER, balance=0)
                | (~Q(code__startswith="house:") & Q(id__gte=chart.FIRST_OWN_NUMBER)),
                name="wallet_house_keeps_no_balance",
            ),
            models.CheckConstraint(
                condition=Q(code__startswith="player:", owner__isnull=False)
                | (~Q(code__startswith="player:") & Q(owner__isnull=True)),
                name="wallet_player_account_has_owner",
            ),
        ]

    def __str__(self) -> str:
        return self.code


class Transaction(models.Model):
    """One business fact and its postings, which are written with it and never after. Nobody changes it."""

    reference = models.CharField(max_length=60, unique=True)
    kind = models.CharField(max_length=10, choices=Kind)
    # What a correction sets right.
    reverses = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="corrections")
    # The person who asked for it, where a person did.
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    memo = models.CharField(max_length=500, blank=True, default="")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(condition=_reference_says_its_kind(), name="wallet_reference_says_its_kind"),
            models.CheckConstraint(
                condition=Q(reverses__isnull=True) | Q(kind="correction"), name="wallet_only_corrections_reverse"
            ),
        ]
        indexes = [
            models.Index(fields=["at"], name="wallet_transaction_at"),
            models.Index(fields=["kind", "id"], name="wallet_transaction_kind"),
        ]

    def __str__(self) -> str:
        return self.reference


class Posting(models.Model):
    """So many coins from one account to another. `kind` is its transaction's, set by the database."""

    transaction = models.ForeignKey(Transaction, on_delete=models.PROTECT, related_name="postings")
    source = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    destination = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    amount = models.BigIntegerField()
    kind = models.CharField(max_length=10, choices=Kind)

    class Meta:
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0, amount__lte=MAX_COINS), name="wallet_amount_is_coins"),
            models.CheckConstraint(condition=~Q(source=F("destination")), name="wallet_posting_goes_elsewhere"),
            models.CheckConstraint(
                condition=Q(kind__in=sorted(chart.MAKING))
                | (~Q(source=chart.HOUSE[chart.ISSUE]) & ~Q(destination=chart.HOUSE[chart.ISSUE])),
                name="wallet_who_may_make_coins",
            ),
            models.CheckConstraint(
                condition=Q(kind="correction")
                | (~Q(source=chart.HOUSE[chart.ADJUST]) & ~Q(destination=chart.HOUSE[chart.ADJUST])),
                name="wallet_who_may_adjust",
            ),
        ]
        indexes = [
            models.Index(fields=["source", "id"], name="wallet_posting_source"),
            models.Index(fields=["destination", "id"], name="wallet_posting_destination"),
        ]

    def __str__(self) -> str:
        return f"{self.amount} from {self.source_id} to {self.destination_id}"


class Resolution(models.Model):
    """How one sitting's fee ended: refunded, paid out or abandoned, by the transaction that moved the coins. Once."""

    fee = models.OneToOneField(Transaction, on_delete=models.PROTECT, related_name="resolution")
    transaction = models.ForeignKey(Transaction, on_delete=models.PROTECT, related_name="resolved")

    class Meta:
        default_permissions = ("view",)

    def __str__(self) -> str:
        return f"fee {self.fee_id} ended by {self.transaction_id}"


class Reward(models.Model):
    """What a single-player match paid, and on whose day in UTC: the day's limit is counted on these rows."""

    transaction = models.OneToOneField(Transaction, on_delete=models.PROTECT, related_name="+")
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+", db_index=False)
    day = models.DateField()
    amount = models.BigIntegerField()
    # What the place was worth; more than `amount` when the day's limit was reached.
    offered = models.BigIntegerField()

    class Meta:
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(
                condition=Q(amount__gt=0, offered__gte=F("amount")), name="wallet_reward_pays_at_most_its_worth"
            ),
        ]
        indexes = [models.Index(fields=["account", "day"], name="wallet_reward_day")]

    def __str__(self) -> str:
        return f"{self.amount} of {self.offered} on {self.day}"


class Correction(models.Model):
    """A wish to set one account right, and what a second person said to it. Decided once, by the database too."""

    class Status(models.TextChoices):
        PENDING = "pending", _("waits for a second person")
        APPROVED = "approved", _("approved")
        DECLINED = "declined", _("declined")
        EXPIRED = "expired", _("expired")

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="corrections")
    # Coins given; taken when below 0.
    amount = models.BigIntegerField()
    reason = models.CharField(max_length=500)
    corrects = models.ForeignKey(Transaction, null=True, on_delete=models.PROTECT, related_name="+")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    requested_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    status = models.CharField(max_length=10, choices=Status, db_default=Status.PENDING)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True)
    transaction = models.OneToOneField(Transaction, null=True, on_delete=models.PROTECT, related_name="correction")

    class Meta:
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(condition=~Q(amount=0), name="wallet_correction_moves_coins"),
            models.CheckConstraint(condition=~Q(reason=""), name="wallet_correction_has_reason"),
            models.CheckConstraint(
                condition=~Q(status="approved") | ~Q(decided_by=F("requested_by")),
                name="wallet_correction_by_two_people",
            ),
            models.CheckConstraint(
                condition=Q(
                    status="pending", decided_by__isnull=True, decided_at__isnull=True, transaction__isnull=True
                )
                | Q(status="approved", decided_by__isnull=False, decided_at__isnull=False, transaction__isnull=False)
                | Q(status="declined", decided_by__isnull=False, decided_at__isnull=False, transaction__isnull=True)
                | Q(status="expired", decided_by__isnull=True, decided_at__isnull=False, transaction__isnull=True),
                name="wallet_correction_says_how_it_ended",
            ),
        ]
        indexes = [
            models.Index(fields=["expires_at"], condition=Q(status="pending"), name="wallet_correction_waiting"),
        ]

    def __str__(self) -> str:
        return f"correction {self.pk} ({self.status})"


class Seal(models.Model):
    """The digest over one UTC day's transactions and the seal of the day before."""

    day = models.DateField(primary_key=True)
    transactions = models.BigIntegerField()
    digest = models.CharField(max_length=64)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("view",)
        constraints = [
            models.CheckConstraint(condition=Q(digest__regex=r"^[0-9a-f]{64}$"), name="wallet_seal_is_a_digest"),
        ]

    def __str__(self) -> str:
        return f"seal of {self.day}"
