"""The tables of the ledger; the laws that the database keeps for them are in the next migration."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Account",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code", models.CharField(max_length=30, unique=True)),
                ("balance", models.BigIntegerField(db_default=0)),
                ("closed", models.BooleanField(db_default=False)),
                (
                    "owner",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="wallet_account",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="Seal",
            fields=[
                ("day", models.DateField(primary_key=True, serialize=False)),
                ("transactions", models.BigIntegerField()),
                ("digest", models.CharField(max_length=64)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "default_permissions": ("view",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("digest__regex", "^[0-9a-f]{64}$")), name="wallet_seal_is_a_digest"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Transaction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reference", models.CharField(max_length=60, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("welcome", "welcome bonus"),
                            ("reward", "reward"),
                            ("fee", "entry fee"),
                            ("refund", "fee paid back"),
                            ("payout", "winnings"),
                            ("abandoned", "abandoned pot"),
                            ("buyin", "chips bought"),
                            ("hand", "hand played"),
                            ("cashout", "chips cashed in"),
                            ("correction", "correction"),
                            ("closed", "account closed"),
                        ],
                        max_length=10,
                    ),
                ),
                ("memo", models.CharField(blank=True, default="", max_length=500)),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "reverses",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="corrections",
                        to="wallet.transaction",
                    ),
                ),
            ],
            options={
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="Reward",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("amount", models.BigIntegerField()),
                ("offered", models.BigIntegerField()),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallet.account",
                    ),
                ),
                (
                    "transaction",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="wallet.transaction"
                    ),
                ),
            ],
            options={
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="Resolution",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "fee",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="resolution", to="wallet.transaction"
                    ),
                ),
                (
                    "transaction",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="resolved", to="wallet.transaction"
                    ),
                ),
            ],
            options={
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="Posting",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("amount", models.BigIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("welcome", "welcome bonus"),
                            ("reward", "reward"),
                            ("fee", "entry fee"),
                            ("refund", "fee paid back"),
                            ("payout", "winnings"),
                            ("abandoned", "abandoned pot"),
                            ("buyin", "chips bought"),
                            ("hand", "hand played"),
                            ("cashout", "chips cashed in"),
                            ("correction", "correction"),
                            ("closed", "account closed"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "destination",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallet.account",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallet.account",
                    ),
                ),
                (
                    "transaction",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="postings", to="wallet.transaction"
                    ),
                ),
            ],
            options={
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="Correction",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("amount", models.BigIntegerField()),
                ("reason", models.CharField(max_length=500)),
                ("requested_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("expires_at", models.DateTimeField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "waits for a second person"),
                            ("approved", "approved"),
                            ("declined", "declined"),
                            ("expired", "expired"),
                        ],
                        db_default="pending",
                        max_length=10,
                    ),
                ),
                ("decided_at", models.DateTimeField(null=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="corrections", to="wallet.account"
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "corrects",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="wallet.transaction",
                    ),
                ),
                (
                    "transaction",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="correction",
                        to="wallet.transaction",
                    ),
                ),
            ],
            options={
                "default_permissions": ("view",),
            },
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("code__regex", "^(player|room|stack):[1-9][0-9]{0,18}$|^house:(issue|abandoned|adjust|closed)$")
                ),
                name="wallet_account_is_in_the_chart",
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(("balance__gte", 0)), name="wallet_balance_not_negative"
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(("closed", False), ("balance", 0), _connector="OR"),
                name="wallet_closed_account_takes_nothing",
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("balance", 0), ("code__startswith", "house:"), ("id__lt", 101)),
                    models.Q(models.Q(("code__startswith", "house:"), _negated=True), ("id__gte", 101)),
                    _connector="OR",
                ),
                name="wallet_house_keeps_no_balance",
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("code__startswith", "player:"), ("owner__isnull", False)),
                    models.Q(models.Q(("code__startswith", "player:"), _negated=True), ("owner__isnull", True)),
                    _connector="OR",
                ),
                name="wallet_player_account_has_owner",
            ),
        ),
        migrations.AddIndex(
            model_name="transaction",
            index=models.Index(fields=["at"], name="wallet_transaction_at"),
        ),
        migrations.AddIndex(
            model_name="transaction",
            index=models.Index(fields=["kind", "id"], name="wallet_transaction_kind"),
        ),
        migrations.AddConstraint(
            model_name="transaction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "welcome"), ("reference__regex", "^welcome:[1-9][0-9]*$")),
                    models.Q(("kind", "reward"), ("reference__regex", "^match:[1-9][0-9]*:reward$")),
                    models.Q(("kind", "fee"), ("reference__regex", "^sitting:[1-9][0-9]*:fee$")),
                    models.Q(("kind", "refund"), ("reference__regex", "^sitting:[1-9][0-9]*:refund$")),
                    models.Q(("kind", "payout"), ("reference__regex", "^match:[1-9][0-9]*:payout$")),
                    models.Q(("kind", "abandoned"), ("reference__regex", "^match:[1-9][0-9]*:abandoned$")),
                    models.Q(("kind", "buyin"), ("reference__regex", "^sitting:[1-9][0-9]*:buyin:[1-9][0-9]*$")),
                    models.Q(("kind", "hand"), ("reference__regex", "^match:[1-9][0-9]*:hand$")),
                    models.Q(("kind", "cashout"), ("reference__regex", "^sitting:[1-9][0-9]*:cashout$")),
                    models.Q(("kind", "correction"), ("reference__regex", "^correction:[1-9][0-9]*$")),
                    models.Q(("kind", "closed"), ("reference__regex", "^closed:[1-9][0-9]*$")),
                    _connector="OR",
                ),
                name="wallet_reference_says_its_kind",
            ),
        ),
        migrations.AddConstraint(
            model_name="transaction",
            constraint=models.CheckConstraint(
                condition=models.Q(("reverses__isnull", True), ("kind", "correction"), _connector="OR"),
                name="wallet_only_corrections_reverse",
            ),
        ),
        migrations.AddIndex(
            model_name="reward",
            index=models.Index(fields=["account", "day"], name="wallet_reward_day"),
        ),
        migrations.AddConstraint(
            model_name="reward",
            constraint=models.CheckConstraint(
                condition=models.Q(("amount__gt", 0), ("offered__gte", models.F("amount"))),
                name="wallet_reward_pays_at_most_its_worth",
            ),
        ),
        migrations.AddIndex(
            model_name="posting",
            index=models.Index(fields=["source", "id"], name="wallet_posting_source"),
        ),
        migrations.AddIndex(
            model_name="posting",
            index=models.Index(fields=["destination", "id"], name="wallet_posting_destination"),
        ),
        migrations.AddConstraint(
            model_name="posting",
            constraint=models.CheckConstraint(
                condition=models.Q(("amount__gt", 0), ("amount__lte", 1000000000000)), name="wallet_amount_is_coins"
            ),
        ),
        migrations.AddConstraint(
            model_name="posting",
            constraint=models.CheckConstraint(
                condition=models.Q(("source", models.F("destination")), _negated=True),
                name="wallet_posting_goes_elsewhere",
            ),
        ),
        migrations.AddConstraint(
            model_name="posting",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("kind__in", ["correction", "reward", "welcome"]),
                    models.Q(models.Q(("source", 1), _negated=True), models.Q(("destination", 1), _negated=True)),
                    _connector="OR",
                ),
                name="wallet_who_may_make_coins",
            ),
        ),
        migrations.AddConstraint(
            model_name="posting",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("kind", "correction"),
                    models.Q(models.Q(("source", 3), _negated=True), models.Q(("destination", 3), _negated=True)),
                    _connector="OR",
                ),
                name="wallet_who_may_adjust",
            ),
        ),
        migrations.AddIndex(
            model_name="correction",
            index=models.Index(
                condition=models.Q(("status", "pending")), fields=["expires_at"], name="wallet_correction_waiting"
            ),
        ),
        migrations.AddConstraint(
            model_name="correction",
            constraint=models.CheckConstraint(
                condition=models.Q(("amount", 0), _negated=True), name="wallet_correction_moves_coins"
            ),
        ),
        migrations.AddConstraint(
            model_name="correction",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="wallet_correction_has_reason"
            ),
        ),
        migrations.AddConstraint(
            model_name="correction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("status", "approved"), _negated=True),
                    models.Q(("decided_by", models.F("requested_by")), _negated=True),
                    _connector="OR",
                ),
                name="wallet_correction_by_two_people",
            ),
        ),
        migrations.AddConstraint(
            model_name="correction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("decided_at__isnull", True),
                        ("decided_by__isnull", True),
                        ("status", "pending"),
                        ("transaction__isnull", True),
                    ),
                    models.Q(
                        ("decided_at__isnull", False),
                        ("decided_by__isnull", False),
                        ("status", "approved"),
                        ("transaction__isnull", False),
                    ),
                    models.Q(
                        ("decided_at__isnull", False),
                        ("decided_by__isnull", False),
                        ("status", "declined"),
                        ("transaction__isnull", True),
                    ),
                    models.Q(
                        ("decided_at__isnull", False),
                        ("decided_by__isnull", True),
                        ("status", "expired"),
                        ("transaction__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="wallet_correction_says_how_it_ended",
            ),
        ),
    ]
