"""Staff: roles with what each may, and an append-only record of what they see and do."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

from players.roles import app_role

PERMISSIONS = [
    ("see_players", "May find and see players"),
    ("see_personal", "May see addresses and sessions"),
    ("see_ledger", "May search the ledger"),
    ("export_ledger", "May export the ledger"),
    ("see_matches", "May see matches that are over"),
    ("see_flags", "May see signals of chip dumping"),
    ("ban", "May ban and end bans"),
    ("note", "May write notes"),
    ("end_sessions", "May sign players out"),
    ("ask_correction", "May ask for corrections"),
    ("approve_correction", "May approve and decline corrections"),
    ("see_log", "May see what staff did"),
    ("appoint", "May give and take roles"),
]
SUPPORT = ["see_players", "see_ledger", "see_matches"]
MODERATOR = [*SUPPORT, "see_personal", "export_ledger", "see_flags", "ban", "note", "end_sessions", "ask_correction"]
SENIOR = [*MODERATOR, "approve_correction", "see_log"]
ADMIN = [*SENIOR, "appoint"]
ROLES = {"support": SUPPORT, "moderator": MODERATOR, "senior": SENIOR, "admin": ADMIN}

TRIGGERS = """
CREATE FUNCTION players_refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    RAISE EXCEPTION '% of % is not allowed: it is append-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON players_staffact
    FOR EACH ROW EXECUTE FUNCTION players_refuse_change();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON players_staffact
    FOR EACH STATEMENT EXECUTE FUNCTION players_refuse_change();
"""

AND_BACK = """
DROP TRIGGER append_only_table ON players_staffact;
DROP TRIGGER append_only_rows ON players_staffact;
DROP FUNCTION players_refuse_change();
"""


def take_rights(_apps, schema_editor):
    role = app_role(schema_editor.connection)
    if role is not None:
        schema_editor.execute(f"REVOKE ALL ON players_staffact FROM {role}")
        schema_editor.execute(
            f"GRANT SELECT, INSERT (by_id, act, player, subject, reason) ON players_staffact TO {role}"
        )


def make_roles(apps, _schema_editor):
    """Django makes permissions only after all migrations; these are needed now, and it finds them then."""
    content_type, _made = apps.get_model("contenttypes", "ContentType").objects.get_or_create(
        app_label="players", model="staffact"
    )
    found = {}
    for codename, name in PERMISSIONS:
        found[codename], _made = apps.get_model("auth", "Permission").objects.get_or_create(
            content_type=content_type, codename=codename, defaults={"name": name}
        )
    for role, codenames in ROLES.items():
        group, _made = apps.get_model("auth", "Group").objects.get_or_create(name=role)
        group.permissions.set([found[codename] for codename in codenames])


def drop_roles(apps, _schema_editor):
    apps.get_model("auth", "Group").objects.filter(name__in=ROLES).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("players", "0003_accounts"),
    ]

    operations = [
        migrations.CreateModel(
            name="StaffAct",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "act",
                    models.CharField(
                        choices=[
                            ("search", "saw a list of players"),
                            ("look", "saw a player"),
                            ("ledger", "searched the ledger"),
                            ("export", "exported the ledger"),
                            ("money", "saw the gold of a room"),
                            ("match", "saw a match"),
                            ("verify", "verified a match"),
                            ("flags", "saw the flags"),
                            ("corrections", "saw the corrections"),
                            ("log", "saw this log"),
                            ("ban", "banned"),
                            ("unban", "lifted a ban"),
                            ("note", "noted"),
                            ("sessions", "ended sessions"),
                            ("ask", "asked for a correction"),
                            ("approve", "approved a correction"),
                            ("decline", "declined a correction"),
                            ("appoint", "gave or took a role"),
                            ("refused", "was refused"),
                        ],
                        max_length=12,
                        verbose_name="what",
                    ),
                ),
                ("player", models.BigIntegerField(null=True, verbose_name="whom")),
                ("subject", models.CharField(blank=True, default="", max_length=500, verbose_name="about")),
                ("reason", models.CharField(blank=True, default="", max_length=500, verbose_name="reason")),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name="when")),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="who",
                    ),
                ),
            ],
            options={
                "verbose_name": "act of staff",
                "verbose_name_plural": "acts of staff",
                "permissions": [
                    ("see_players", "May find and see players"),
                    ("see_personal", "May see addresses and sessions"),
                    ("see_ledger", "May search the ledger"),
                    ("export_ledger", "May export the ledger"),
                    ("see_matches", "May see matches that are over"),
                    ("see_flags", "May see signals of chip dumping"),
                    ("ban", "May ban and end bans"),
                    ("note", "May write notes"),
                    ("end_sessions", "May sign players out"),
                    ("ask_correction", "May ask for corrections"),
                    ("approve_correction", "May approve and decline corrections"),
                    ("see_log", "May see what staff did"),
                    ("appoint", "May give and take roles"),
                ],
                "default_permissions": (),
                "indexes": [models.Index(fields=["player", "id"], name="staff_act_player")],
            },
        ),
        migrations.RunSQL(TRIGGERS, AND_BACK),
        migrations.RunPython(take_rights, migrations.RunPython.noop),
        migrations.RunPython(make_roles, drop_roles),
    ]
