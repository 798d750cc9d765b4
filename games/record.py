"""A match as a file: everything that anybody needs to check it without us (docs/fairness.md describes each field)."""

from typing import Any

import msgspec

FORMAT = 1


class BadRecord(ValueError):
    """The text is no record of a match."""


class SeatRecord(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    number: int
    name: str
    bot_level: str
    forfeited: bool


class EventRecord(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """`body` is the event; `by`, `seat`, `step` and `answer` say whose answer made it (empty for what followed)."""

    n: int
    tag: str
    body: dict[str, Any]
    at: str
    by: str
    seat: int | None
    step: str
    answer: str

    def __repr__(self) -> str:
        return f"EventRecord(n={self.n}, tag={self.tag!r})"


class Record(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    format: int
    match: int
    game: str
    rules_version: int
    options: dict[str, Any]
    secret: str
    commitments: list[str]
    status: str
    version: int
    outcome: dict[str, Any] | None
    created_at: str
    finished_at: str | None
    seats: list[SeatRecord]
    events: list[EventRecord]

    def __repr__(self) -> str:
        return f"Record(match={self.match}, status={self.status!r})"


def write(record: Record) -> bytes:
    """The record as indented JSON with a line's end."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"


def read(text: bytes) -> Record:
    """The record of a file. Raises BadRecord, which says where the text goes wrong."""
    try:
        record = msgspec.json.decode(text, type=Record)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadRecord(f"not the record of a match: {error}") from error
    if record.format != FORMAT:
        raise BadRecord(f"a record of format {record.format}; this program reads format {FORMAT}")
    if len(record.secret) != 64 or not set(record.secret) <= set("0123456789abcdef"):
        raise BadRecord("the secret must be 64 digits of hex in lower case")
    return record
