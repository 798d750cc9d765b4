"""Views and events as bytes: one encoder for the socket, one canonical text for the log."""

import json
from typing import Any

import msgspec

from games.engine.tiles import Tile


def _plain(value: Any) -> Any:
    if isinstance(value, Tile):
        return value.text
    raise TypeError(f"{type(value).__name__} cannot be written")


_encoder = msgspec.json.Encoder(enc_hook=_plain)


def encode(value: Any) -> bytes:
    """A view (in the shape of its `wire()`) or plain data as JSON."""
    return _encoder.encode(value.wire() if hasattr(value, "wire") else value)


def canonical(body: dict[str, Any]) -> str:
    """A body as the log keeps it: keys sorted, no blanks, ASCII."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
