"""The frames of a table's socket (docs/wire.md): parsed at the door into a closed union, encoded once."""

import json
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

MAX_FRAME_BYTES = 4096

Text = Annotated[str, Meta(min_length=1, max_length=80)]
ActionId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,40}\Z")]
Version = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class Act(Struct, tag_field="t", tag="act", forbid_unknown_fields=True, frozen=True):
    id: ActionId
    step: Text
    do: Text


class Leave(Struct, tag_field="t", tag="leave", forbid_unknown_fields=True, frozen=True):
    pass


class TakeControl(Struct, tag_field="t", tag="take_control", forbid_unknown_fields=True, frozen=True):
    pass


class Sync(Struct, tag_field="t", tag="sync", forbid_unknown_fields=True, frozen=True):
    v: Version


class Ping(Struct, tag_field="t", tag="ping", forbid_unknown_fields=True, frozen=True):
    v: Version


SeatNumber = Annotated[int, Meta(ge=0, le=6)]
Level = Literal["medium", "hard", "epic"]


class Move(Struct, tag_field="t", tag="move", forbid_unknown_fields=True, frozen=True):
    id: ActionId
    seat: SeatNumber


class Bot(Struct, tag_field="t", tag="bot", forbid_unknown_fields=True, frozen=True):
    id: ActionId
    seat: SeatNumber
    level: Level


class Clear(Struct, tag_field="t", tag="clear", forbid_unknown_fields=True, frozen=True):
    id: ActionId
    seat: SeatNumber


class Fill(Struct, tag_field="t", tag="fill", forbid_unknown_fields=True, frozen=True):
    id: ActionId
    level: Level


class Remove(Struct, tag_field="t", tag="remove", forbid_unknown_fields=True, frozen=True):
    id: ActionId
    sitting: Annotated[int, Meta(ge=1, le=2**63 - 1)]


class Start(Struct, tag_field="t", tag="start", forbid_unknown_fields=True, frozen=True):
    id: ActionId


class Delete(Struct, tag_field="t", tag="delete", forbid_unknown_fields=True, frozen=True):
    id: ActionId


class Watching(Struct, tag_field="t", tag="watching", forbid_unknown_fields=True, frozen=True):
    id: ActionId
    allowed: bool


# What may be said at a table, by name: the page has the words and the pictures.
Phrase = Literal[
    "hello", "good_luck", "well_played", "nice_trick", "thanks", "oops", "thinking", "good_game",
    "smile", "laugh", "surprised", "sad", "applause", "tea",
]  # fmt: skip


class Talk(Struct, tag_field="t", tag="talk", forbid_unknown_fields=True, frozen=True):
    id: ActionId
    say: Phrase


Hosting = Bot | Clear | Fill | Remove | Start | Delete | Watching
Frame = Act | Leave | TakeControl | Sync | Ping | Move | Bot | Clear | Fill | Remove | Start | Delete | Watching | Talk
_decoder = msgspec.json.Decoder(Frame)


class BadFrame(Exception):
    """The text is no frame that we know."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _value in pairs]
    if len(set(keys)) != len(keys):
        raise BadFrame("duplicate key")
    return dict(pairs)


def parse(text: str) -> Frame:
    """One frame. Raises BadFrame for anything but an exact one: unknown type, missing or extra or doubled keys,
    a boolean or fraction as a number, NaN, text out of range."""
    try:
        frame = _decoder.decode(text)
        json.loads(text, object_pairs_hook=_once)
    except (msgspec.MsgspecError, ValueError, RecursionError, UnicodeError) as error:
        raise BadFrame(str(error)) from error
    return frame


def encode(frame: dict[str, Any]) -> str:
    return msgspec.json.encode(frame).decode()


def ack(action_id: str) -> str:
    return encode({"t": "ack", "id": action_id})


def refused(action_id: str | None, code: str, text: str) -> str:
    return encode({"t": "refused", "id": action_id, "code": code, "text": text})


def talk(seat: int, say: str) -> str:
    return encode({"t": "talk", "seat": seat, "say": say})


def balance(coins: int) -> str:
    return encode({"t": "balance", "coins": coins})


def pong(version: int) -> str:
    return encode({"t": "pong", "v": version})


def bye(code: int, text: str) -> str:
    return encode({"t": "bye", "code": code, "text": text})
