"""The log of events is append-only, and a match's secret and seals stay what they were, for every role."""

from django.db import migrations

from players.roles import app_role

TRIGGERS = """
CREATE FUNCTION games_refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    RAISE EXCEPTION '% of % is not allowed: it is append-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON games_matchevent
    FOR EACH ROW EXECUTE FUNCTION games_refuse_change();
CREATE TRIGGER append_only_table BEFORE TRUNCATE ON games_matchevent
    FOR EACH STATEMENT EXECUTE FUNCTION games_refuse_change();
CREATE TRIGGER fixed_from_the_start BEFORE UPDATE ON games_match FOR EACH ROW
    WHEN ((OLD.id, OLD.game, OLD.rules_version, OLD.options, OLD.secret, OLD.commitments, OLD.created_at)
        IS DISTINCT FROM
        (NEW.id, NEW.game, NEW.rules_version, NEW.options, NEW.secret, NEW.commitments, NEW.created_at))
    EXECUTE FUNCTION games_refuse_change();
CREATE TRIGGER matches_stay BEFORE DELETE ON games_match
    FOR EACH ROW EXECUTE FUNCTION games_refuse_change();
"""

AND_BACK = """
DROP TRIGGER matches_stay ON games_match;
DROP TRIGGER fixed_from_the_start ON games_match;
DROP TRIGGER append_only_table ON games_matchevent;
DROP TRIGGER append_only_rows ON games_matchevent;
DROP FUNCTION games_refuse_change();
"""


def take_rights(_apps, schema_editor):
    role = app_role(schema_editor.connection)
    if role is not None:
        schema_editor.execute(f"REVOKE UPDATE, DELETE, TRUNCATE ON games_matchevent FROM {role}")
        schema_editor.execute(f"REVOKE UPDATE, DELETE, TRUNCATE ON games_match FROM {role}")
        schema_editor.execute(f"GRANT UPDATE (status, version, outcome, finished_at) ON games_match TO {role}")


def give_rights(_apps, schema_editor):
    role = app_role(schema_editor.connection)
    if role is not None:
        schema_editor.execute(f"GRANT UPDATE, DELETE ON games_matchevent, games_match TO {role}")


class Migration(migrations.Migration):
    dependencies = [("games", "0001_initial")]

    operations = [
        migrations.RunSQL(TRIGGERS, AND_BACK),
        migrations.RunPython(take_rights, give_rights),
    ]
