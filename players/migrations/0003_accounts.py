"""Addresses belong to one account, bans have a record, and a closed account is empty."""

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("players", "0002_names_that_look_alike"),
    ]

    operations = [
        migrations.CreateModel(
            name="Ban",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.TextField(verbose_name="reason")),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("until", models.DateTimeField(null=True, verbose_name="until")),
                ("lifted_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name="player",
            name="closed_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddConstraint(
            model_name="player",
            constraint=models.UniqueConstraint(
                django.db.models.functions.text.Lower("email"),
                condition=models.Q(("email", ""), _negated=True),
                name="email_is_unique_in_any_case",
            ),
        ),
        migrations.AddConstraint(
            model_name="player",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("closed_at__isnull", True), models.Q(("email", ""), ("is_active", False)), _connector="OR"
                ),
                name="closed_account_is_empty",
            ),
        ),
        migrations.AddField(
            model_name="ban",
            name="by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="ban",
            name="lifted_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="ban",
            name="player",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="bans", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddConstraint(
            model_name="ban",
            constraint=models.UniqueConstraint(
                condition=models.Q(("lifted_at__isnull", True)), fields=("player",), name="one_ban_at_a_time"
            ),
        ),
        migrations.AddConstraint(
            model_name="ban",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="ban_has_a_reason"
            ),
        ),
    ]
