"""Addresses as logs may show them: without what opens a private table, or confirms who somebody is."""

import logging
import re

__all__ = ["WithoutSecrets", "shown"]

# Codes and keys of tables are one part of an address; what mails lead to is secret up to the end.
_PART = re.compile(r"/(tables|join|watch)/[^/?\s]+", re.IGNORECASE)
_REST = re.compile(r"/(confirm-email|reset/key)/[^?\s]+", re.IGNORECASE)


def shown(path: str) -> str:
    """The path, or a line with paths in it, with stars where the secrets were."""
    return _REST.sub(r"/\1/***", _PART.sub(r"/\1/***", path))


class WithoutSecrets(logging.Filter):
    """Takes the secrets out of what others write about requests; every line passes."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(shown(one) if isinstance(one, str) else one for one in record.args)
        elif isinstance(record.args, dict):  # daphne's way
            record.args = {name: shown(one) if isinstance(one, str) else one for name, one in record.args.items()}
        if isinstance(record.msg, str):
            record.msg = shown(record.msg)
        return True
