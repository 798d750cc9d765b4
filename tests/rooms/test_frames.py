"""The door of the socket: exact frames come in, everything else is one clear refusal."""

import contextlib
import json
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooms import explain, frames

DOCS = Path(__file__).parents[2] / "docs" / "wire.md"

GOOD = [
    ('{"t":"act","id":"c12","step":"r3.t5.s2","do":"play 3-5 as 3"}', frames.Act("c12", "r3.t5.s2", "play 3-5 as 3")),
    ('{"t":"leave"}', frames.Leave()),
    ('{"t":"take_control"}', frames.TakeControl()),
    ('{"t":"sync","v":41}', frames.Sync(41)),
    ('{"t":"ping","v":0}', frames.Ping(0)),
]
BAD = [
    "",
    "null",
    "[]",
    "1",
    "{}",
    '{"t":"bogus"}',
    '{"t":null}',
    '{"t":"act"}',
    '{"t":"act","id":"c1","step":"r1.b.s0"}',
    '{"t":"act","id":"c1","step":"r1.b.s0","do":1}',
    '{"t":"act","id":"","step":"r1.b.s0","do":"bid 1"}',
    '{"t":"act","id":"c 1","step":"r1.b.s0","do":"bid 1"}',
    '{"t":"act","id":"c1\\n","step":"r1.b.s0","do":"bid 1"}',
    '{"t":"act","id":"c1","step":"r1.b.s0","do":"bid 1","seat":2}',
    '{"t":"act","id":"c1","id":"c2","step":"r1.b.s0","do":"bid 1"}',
    '{"t":"act","id":"' + "c" * 41 + '","step":"r1.b.s0","do":"bid 1"}',
    '{"t":"act","id":"c1","step":"r1.b.s0","do":"' + "b" * 81 + '"}',
    '{"t":"leave","now":true}',
    '{"t":"ping"}',
    '{"t":"ping","v":true}',
    '{"t":"ping","v":1.5}',
    '{"t":"ping","v":1e3}',
    '{"t":"ping","v":"10"}',
    '{"t":"ping","v":-1}',
    '{"t":"ping","v":2147483648}',
    '{"t":"ping","v":9223372036854775808}',
    '{"t":"ping","v":' + "9" * 40 + "}",
    '{"t":"ping","v":NaN}',
    '{"t":"ping","v":Infinity}',
    '{"t":"ping","v":null}',
    '{"t":"ping","v":[]}',
    '{"t":"ping","v":٣}',
    '{"t":"ping","v":1}{"t":"ping","v":1}',
    "[" * 2000,
    '{"t":' * 600,
]


@pytest.mark.parametrize(("text", "frame"), GOOD)
def test_an_exact_frame_is_taken(text: str, frame: frames.Frame) -> None:
    assert frames.parse(text) == frame


@pytest.mark.parametrize("text", BAD)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(frames.BadFrame):
        frames.parse(text)


@given(
    st.text(max_size=200) | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(json.dumps)
)
def test_no_text_breaks_the_door(text: str) -> None:
    with contextlib.suppress(frames.BadFrame):
        frames.parse(text)


def test_every_frame_is_documented() -> None:
    text = DOCS.read_text()
    up = [frame.__struct_config__.tag for frame in get_args(frames.Frame)]
    assert len(up) == 14
    down = [
        json.loads(one)["t"]
        for one in (
            frames.ack("a"),
            frames.refused(None, "x", "y"),
            frames.pong(1),
            frames.talk(0, "tea"),
            frames.bye(4000, "z"),
        )
    ]
    for name in [*up, *down, "update"]:
        assert f'{{"t":"{name}"' in text, f"{name} is not in docs/wire.md"
    for phrase in get_args(frames.Phrase):
        assert f"`{phrase}`" in text, f"{phrase} is not in docs/wire.md"


def test_every_close_code_is_documented_and_has_a_sentence() -> None:
    text = DOCS.read_text()
    for code in (4000, 4002, 4008, 4029, 4400, 4401, 4403, 4404, 4409):
        assert f"| {code} |" in text
        assert explain.close(code)
