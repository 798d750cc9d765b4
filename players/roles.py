"""The database's two roles, for migrations: the owner makes tables, the site's own role gets what it needs on them."""

import os
from urllib.parse import unquote, urlsplit

from django.db.backends.base.base import BaseDatabaseWrapper


def app_role(connection: BaseDatabaseWrapper) -> str | None:
    """The site's role, quoted for SQL: the user of DATABASE_URL. None when there is no such role or when it is the
    one that migrates, who owns the tables and needs no grant."""
    name = unquote(urlsplit(os.environ.get("DATABASE_URL", "")).username or "")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT quote_ident(rolname) FROM pg_roles WHERE rolname = %s AND rolname <> current_user", [name]
        )
        row = cursor.fetchone()
    return str(row[0]) if row else None
