"""An account without coins can be closed, too: no posting can say so, since none moves nothing."""

from django.db import migrations

from players.roles import app_role

CLOSING = """
-- A balance is moved from inside the trigger on postings only, which is one level deeper than a plain UPDATE. An empty
-- account may be closed, by those who may write at all: the owner, and wallet_close.
CREATE OR REPLACE FUNCTION wallet_guard_account() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (NEW.id, NEW.code, NEW.owner_id) IS NOT DISTINCT FROM (OLD.id, OLD.code, OLD.owner_id)
        AND (pg_trigger_depth() >= 2 OR (NEW.closed AND NEW.balance = OLD.balance))
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'account % is moved by postings only', OLD.code USING ERRCODE = 'restrict_violation';
END $$;

-- For the site's role, which may not write accounts.
CREATE FUNCTION wallet_close(player bigint) RETURNS void LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
    UPDATE public.wallet_account SET closed = true WHERE code = 'player:' || player AND balance = 0 AND NOT closed
$$;
REVOKE EXECUTE ON FUNCTION wallet_close(bigint) FROM PUBLIC;

SELECT wallet_close(id) FROM players_player WHERE closed_at IS NOT NULL;
"""

AND_BACK = """
DROP FUNCTION wallet_close;
CREATE OR REPLACE FUNCTION wallet_guard_account() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF pg_trigger_depth() < 2 OR (NEW.id, NEW.code, NEW.owner_id) IS DISTINCT FROM (OLD.id, OLD.code, OLD.owner_id) THEN
        RAISE EXCEPTION 'account % is moved by postings only', OLD.code USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
"""


def give_right(_apps, schema_editor):
    role = app_role(schema_editor.connection)
    if role is not None:
        schema_editor.execute(f"GRANT EXECUTE ON FUNCTION wallet_close(bigint) TO {role}")


class Migration(migrations.Migration):
    dependencies = [("wallet", "0002_laws"), ("players", "0003_accounts")]

    operations = [
        migrations.RunSQL(CLOSING, AND_BACK),
        migrations.RunPython(give_right, migrations.RunPython.noop),
    ]
