"""What the database holds the ledger to, whoever writes: docs/wallet.md says which law is kept by which of these."""

from django.db import migrations

from players.roles import app_role

APPEND_ONLY = ("transaction", "posting", "resolution", "reward", "seal")
TABLES = (*APPEND_ONLY, "account", "correction")

LAWS = """
CREATE FUNCTION wallet_refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% of % is not allowed: it is append-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;

-- Accounts begin empty, a player's belongs to the player that its code names, and guests have none.
CREATE FUNCTION wallet_check_account() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NEW.balance <> 0 OR NEW.closed THEN
        RAISE EXCEPTION 'account % must begin empty', NEW.code
            USING ERRCODE = 'check_violation', CONSTRAINT = 'wallet_account_begins_empty';
    END IF;
    IF NEW.owner_id IS NOT NULL THEN
        IF NEW.code <> 'player:' || NEW.owner_id THEN
            RAISE EXCEPTION 'account % cannot belong to player %', NEW.code, NEW.owner_id
                USING ERRCODE = 'check_violation', CONSTRAINT = 'wallet_account_is_its_owners';
        END IF;
        -- The lock keeps the player registered until this commits.
        PERFORM FROM public.players_player WHERE id = NEW.owner_id AND NOT is_guest FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'player % is not registered and has no account', NEW.owner_id
                USING ERRCODE = 'check_violation', CONSTRAINT = 'wallet_guests_have_no_account';
        END IF;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER begins_empty BEFORE INSERT ON wallet_account
    FOR EACH ROW EXECUTE FUNCTION wallet_check_account();

-- A balance is moved from inside the trigger on postings only, which is one level deeper than a plain UPDATE.
CREATE FUNCTION wallet_guard_account() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF pg_trigger_depth() < 2 OR (NEW.id, NEW.code, NEW.owner_id) IS DISTINCT FROM (OLD.id, OLD.code, OLD.owner_id) THEN
        RAISE EXCEPTION 'account % is moved by postings only', OLD.code USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER moved_by_postings BEFORE UPDATE ON wallet_account
    FOR EACH ROW EXECUTE FUNCTION wallet_guard_account();

CREATE FUNCTION wallet_keep_registered() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM public.wallet_account WHERE owner_id = NEW.id) THEN
        RAISE EXCEPTION 'player % has an account and stays registered', NEW.id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'wallet_guests_have_no_account';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER wallet_owners_stay_registered BEFORE UPDATE OF is_guest ON players_player
    FOR EACH ROW WHEN (NEW.is_guest AND NOT OLD.is_guest) EXECUTE FUNCTION wallet_keep_registered();

-- The site's role may not lock rows that it may not change; this locks for it, in the one order. House accounts are
-- never locked: they keep no balance.
CREATE FUNCTION wallet_lock(codes text[]) RETURNS TABLE (id bigint, code text, balance bigint, closed boolean)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.id, a.code::text, a.balance, a.closed FROM public.wallet_account a
    WHERE a.code = ANY (codes) AND a.id > 100 ORDER BY a.id FOR NO KEY UPDATE
$$;
REVOKE EXECUTE ON FUNCTION wallet_lock(text[]) FROM PUBLIC;

-- A posting takes its kind from its transaction, and its kind says from where to where it may go.
CREATE FUNCTION wallet_check_posting() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    way text;
BEGIN
    SELECT t.kind, t.kind || ' ' || CASE WHEN s.id <= 100 THEN s.code ELSE split_part(s.code, ':', 1) END
            || ' ' || CASE WHEN d.id <= 100 THEN d.code ELSE split_part(d.code, ':', 1) END
        INTO NEW.kind, way
        FROM public.wallet_transaction t, public.wallet_account s, public.wallet_account d
        WHERE t.id = NEW.transaction_id AND s.id = NEW.source_id AND d.id = NEW.destination_id;
    IF way IS NULL OR way NOT IN (
        'welcome house:issue player', 'reward house:issue player', 'fee player room', 'refund room player',
        'payout room player', 'abandoned room house:abandoned', 'buyin player stack', 'hand stack stack',
        'cashout stack player', 'correction house:adjust player', 'correction player house:adjust',
        'closed player house:closed'
    ) THEN
        RAISE EXCEPTION 'no coins go this way: %', coalesce(way, 'from or to nowhere')
            USING ERRCODE = 'check_violation', CONSTRAINT = 'wallet_posting_follows_its_kind';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER a_check BEFORE INSERT ON wallet_posting FOR EACH ROW EXECUTE FUNCTION wallet_check_posting();

CREATE FUNCTION wallet_move() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- The lower number first, so that even a writer who locked nothing before keeps to the order.
    IF NEW.destination_id < NEW.source_id THEN
        UPDATE public.wallet_account SET balance = balance + NEW.amount WHERE id = NEW.destination_id AND id > 100;
    END IF;
    UPDATE public.wallet_account SET balance = balance - NEW.amount, closed = closed OR NEW.kind = 'closed'
        WHERE id = NEW.source_id AND id > 100;
    IF NEW.destination_id > NEW.source_id THEN
        UPDATE public.wallet_account SET balance = balance + NEW.amount WHERE id = NEW.destination_id AND id > 100;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER b_move AFTER INSERT ON wallet_posting FOR EACH ROW EXECUTE FUNCTION wallet_move();

-- All postings of a transaction come in one statement, after what they rest on (resolutions, the reward's day, the
-- correction's approval); so what is true here stays true.
CREATE FUNCTION wallet_check_whole() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    t record;
    bad text;
BEGIN
    FOR t IN
        SELECT a.transaction_id AS id, min(a.kind) AS kind, count(*) AS lines, sum(a.amount) AS coins,
            min(a.source_id) AS source, max(a.source_id) AS last_source,
            min(a.destination_id) AS destination, array_agg(a.destination_id) AS destinations,
            (SELECT count(*) FROM public.wallet_posting p WHERE p.transaction_id = a.transaction_id) AS all_lines
        FROM added a GROUP BY a.transaction_id
    LOOP
        bad := NULL;
        IF t.all_lines <> t.lines THEN
            RAISE EXCEPTION 'transaction % takes no more postings', t.id USING ERRCODE = 'restrict_violation';
        ELSIF t.lines > 1 AND t.kind NOT IN ('payout', 'hand') THEN
            bad := 'has several postings';
        ELSIF t.kind IN ('refund', 'payout', 'abandoned') THEN
            SELECT CASE
                WHEN t.source <> t.last_source THEN 'empties two rooms'
                WHEN count(*) = 0 OR sum(f.amount) <> t.coins THEN 'does not move the fees that it ends'
                WHEN bool_or(f.destination_id <> t.source) THEN 'ends a fee of another room'
                WHEN t.kind = 'refund' AND NOT bool_and(f.source_id = t.destination) THEN 'pays somebody else back'
                WHEN t.kind = 'payout' AND NOT t.destinations <@ array_agg(f.source_id) THEN 'pays who did not pay in'
                END INTO bad
                FROM public.wallet_resolution r JOIN public.wallet_posting f ON f.transaction_id = r.fee_id
                WHERE r.transaction_id = t.id;
        ELSIF t.kind = 'reward' THEN
            IF NOT EXISTS (
                SELECT FROM public.wallet_reward r
                WHERE r.transaction_id = t.id AND r.account_id = t.destination AND r.amount = t.coins
            ) THEN bad := 'is not counted on a day'; END IF;
        ELSIF t.kind = 'correction' THEN
            IF NOT EXISTS (
                SELECT FROM public.wallet_correction c
                WHERE c.transaction_id = t.id AND c.status = 'approved'
                    AND ((c.amount = t.coins AND c.account_id = t.destination)
                        OR (c.amount = -t.coins AND c.account_id = t.source))
            ) THEN bad := 'was not approved'; END IF;
        END IF;
        IF bad IS NOT NULL THEN
            RAISE EXCEPTION 'transaction % (%) %', t.id, t.kind, bad
                USING ERRCODE = 'check_violation', CONSTRAINT = 'wallet_transaction_is_whole';
        END IF;
    END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER c_whole AFTER INSERT ON wallet_posting REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_check_whole();

-- A transaction without postings is seen by nobody but this: at the commit there must be one.
CREATE FUNCTION wallet_check_not_empty() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM public.wallet_posting WHERE transaction_id = NEW.id) THEN
        RAISE EXCEPTION 'transaction % has no posting', NEW.id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'wallet_transaction_has_postings';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER not_empty AFTER INSERT ON wallet_transaction DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION wallet_check_not_empty();

-- What postings rest on is written before them.
CREATE FUNCTION wallet_check_ground() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    transaction_kind text;
BEGIN
    SELECT kind INTO transaction_kind FROM public.wallet_transaction WHERE id = NEW.transaction_id;
    IF transaction_kind IS NULL
        OR EXISTS (SELECT FROM public.wallet_posting WHERE transaction_id = NEW.transaction_id)
    THEN
        RAISE EXCEPTION 'transaction % is complete', NEW.transaction_id USING ERRCODE = 'restrict_violation';
    END IF;
    IF TG_TABLE_NAME = 'wallet_reward' THEN
        IF transaction_kind = 'reward' THEN RETURN NEW; END IF;
    ELSIF TG_TABLE_NAME = 'wallet_correction' THEN
        IF transaction_kind = 'correction' THEN RETURN NEW; END IF;
    ELSIF transaction_kind IN ('refund', 'payout', 'abandoned')
        AND EXISTS (SELECT FROM public.wallet_transaction WHERE id = NEW.fee_id AND kind = 'fee')
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a transaction of kind % has no row in %', transaction_kind, TG_TABLE_NAME
        USING ERRCODE = 'check_violation', CONSTRAINT = 'wallet_ground_fits_its_kind';
END $$;
CREATE TRIGGER before_postings BEFORE INSERT ON wallet_resolution
    FOR EACH ROW EXECUTE FUNCTION wallet_check_ground();
CREATE TRIGGER before_postings BEFORE INSERT ON wallet_reward
    FOR EACH ROW EXECUTE FUNCTION wallet_check_ground();
CREATE TRIGGER before_postings BEFORE UPDATE OF transaction_id ON wallet_correction
    FOR EACH ROW WHEN (NEW.transaction_id IS NOT NULL) EXECUTE FUNCTION wallet_check_ground();

-- A correction is asked for by somebody, decided once, in time, and by neither its owner nor one person alone.
CREATE FUNCTION wallet_check_correction() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    owner bigint;
BEGIN
    SELECT owner_id INTO owner FROM public.wallet_account WHERE id = NEW.account_id;
    IF owner IS NULL OR owner = NEW.requested_by_id OR owner = NEW.decided_by_id THEN
        RAISE EXCEPTION 'nobody corrects their own account or one of the house'
            USING ERRCODE = 'check_violation', CONSTRAINT = 'wallet_correction_not_of_ones_own';
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF NEW.status <> 'pending' OR NEW.expires_at > NEW.requested_at + interval '31 days' THEN
            RAISE EXCEPTION 'a correction begins as a request, for a month at most' USING ERRCODE = 'check_violation';
        END IF;
        RETURN NEW;
    END IF;
    IF OLD.status <> 'pending' OR NEW.status = 'pending'
        OR (NEW.id, NEW.account_id, NEW.amount, NEW.reason, NEW.corrects_id, NEW.requested_by_id, NEW.requested_at,
            NEW.expires_at)
        IS DISTINCT FROM
        (OLD.id, OLD.account_id, OLD.amount, OLD.reason, OLD.corrects_id, OLD.requested_by_id, OLD.requested_at,
            OLD.expires_at)
    THEN
        RAISE EXCEPTION 'correction % is decided once and else stays as it is', OLD.id
            USING ERRCODE = 'restrict_violation';
    END IF;
    IF NEW.status = 'approved' AND clock_timestamp() >= OLD.expires_at THEN
        RAISE EXCEPTION 'correction % has expired', OLD.id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'wallet_correction_in_time';
    END IF;
    NEW.decided_at := clock_timestamp();
    RETURN NEW;
END $$;
CREATE TRIGGER decided_once BEFORE INSERT OR UPDATE ON wallet_correction
    FOR EACH ROW EXECUTE FUNCTION wallet_check_correction();

ALTER TABLE wallet_account ALTER COLUMN id RESTART WITH 101;
INSERT INTO wallet_account (id, code)
    VALUES (1, 'house:issue'), (2, 'house:abandoned'), (3, 'house:adjust'), (4, 'house:closed');
"""

# The triggers go with their functions.
AND_BACK = """
DROP FUNCTION wallet_refuse_change, wallet_check_account, wallet_guard_account, wallet_keep_registered, wallet_move,
    wallet_check_posting, wallet_check_whole, wallet_check_not_empty, wallet_check_ground,
    wallet_check_correction CASCADE;
DROP FUNCTION wallet_lock;
"""

APPEND_ONLY_TRIGGERS = "\n".join(
    [
        f"CREATE TRIGGER append_only_rows BEFORE UPDATE OR DELETE ON wallet_{table} "
        "FOR EACH ROW EXECUTE FUNCTION wallet_refuse_change();"
        for table in APPEND_ONLY
    ]
    + [
        f"CREATE TRIGGER append_only_rows BEFORE DELETE ON wallet_{table} "
        "FOR EACH ROW EXECUTE FUNCTION wallet_refuse_change();"
        for table in ("account", "correction")
    ]
    + [
        f"CREATE TRIGGER append_only_table BEFORE TRUNCATE ON wallet_{table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION wallet_refuse_change();"
        for table in TABLES
    ]
)

# The columns that the site's role may fill; all others get what the database says.
INSERTED = {
    "account": "code, owner_id",
    "transaction": "reference, kind, reverses_id, by_id, memo",
    "posting": "transaction_id, source_id, destination_id, amount",
    "resolution": "fee_id, transaction_id",
    "reward": "transaction_id, account_id, day, amount, offered",
    "correction": "account_id, amount, reason, corrects_id, requested_by_id, expires_at",
    "seal": "day, transactions, digest",
}


def take_rights(_apps, schema_editor):
    role = app_role(schema_editor.connection)
    if role is None:
        return
    for table, columns in INSERTED.items():
        schema_editor.execute(f"REVOKE ALL ON wallet_{table} FROM {role}")
        schema_editor.execute(f"GRANT SELECT, INSERT ({columns}) ON wallet_{table} TO {role}")
    schema_editor.execute(f"GRANT UPDATE (status, decided_by_id, transaction_id) ON wallet_correction TO {role}")
    schema_editor.execute(f"GRANT EXECUTE ON FUNCTION wallet_lock(text[]) TO {role}")


class Migration(migrations.Migration):
    dependencies = [("wallet", "0001_initial"), ("players", "0001_initial")]

    operations = [
        migrations.RunSQL(LAWS + APPEND_ONLY_TRIGGERS, AND_BACK),
        migrations.RunPython(take_rights, migrations.RunPython.noop),
    ]
