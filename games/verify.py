"""Checks a record: deals everything again from the secret, plays the answers again, compares line by line."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from games.engine import registry, table
from games.engine.deals import SecretDeal
from games.engine.errors import EngineError, shown
from games.engine.wire import canonical
from games.record import EventRecord, Record

ANSWERERS = {"seat", "bot", "idle", "table"}


def differences(record: Record) -> Iterator[str]:
    """A sentence for each thing that is not as the secret and the answers make it; none when all is well."""
    try:
        game = registry.build(record.game, record.options)
    except EngineError as error:
        yield str(error)
        return
    if record.rules_version != registry.RULES_VERSION[record.game]:
        yield f"rules version {record.rules_version} is not the one known here ({registry.RULES_VERSION[record.game]})"
        return
    deal = SecretDeal(bytes.fromhex(record.secret), record.game, record.match)
    yield from _seals(record, deal, int(getattr(game, "rounds", 1)))
    yield from _seats(record, game.seats())
    if record.version != len(record.events):
        yield f"the match says {record.version} events, there are {len(record.events)}"
    replay = _Replay(record, game, deal)
    yield from replay.run()
    if not replay.broken:
        yield from _end(record, game, replay.state)


def _seals(record: Record, deal: SecretDeal, rounds: int) -> Iterator[str]:
    if len(record.commitments) != rounds:
        yield f"there are {len(record.commitments)} seals for {rounds} rounds"
    for number, seal in enumerate(record.commitments[:rounds], 1):
        if seal != deal.commitment(number):
            yield f"round {number}: the seal is not that of the secret"


def _seats(record: Record, count: int) -> Iterator[str]:
    if [seat.number for seat in record.seats] != list(range(count)):
        yield f"the seats are not numbered 0 to {count - 1}"
        return
    gone = {event.seat for event in record.events if event.answer == table.WITHDRAW}
    for seat in record.seats:
        if seat.forfeited != (seat.number in gone):
            yield f"seat {seat.number}: forfeited is {seat.forfeited}, the events say otherwise"


class _Replay:
    """Plays the answers of a record again. `broken` once the record and the rules have parted ways."""

    def __init__(self, record: Record, game: table.Game[Any, Any, Any], deal: SecretDeal) -> None:
        self.record, self.game, self.deal = record, game, deal
        self.state: Any = game.open()
        self.broken = False

    def run(self) -> Iterator[str]:
        waiting: list[Any] = []
        bots = {seat.number for seat in self.record.seats if seat.bot_level}
        if self.record.events:
            self.state, waiting = table.start(self.game, self.deal)
        for number, line in enumerate(self.record.events, 1):
            if line.n != number:
                yield f"event {number}: it is numbered {line.n}"
            if waiting and line.answer:
                yield f"event {number}: an answer, where the table had to go on by itself"
                self.broken = True
            elif not waiting and not line.answer:
                yield f"event {number}: nothing follows of itself here, and nobody answered"
                self.broken = True
            if self.broken:
                return
            if line.answer:
                if line.by not in ANSWERERS:
                    yield f"event {number}: nobody is called {shown(line.by)}"
                if line.by == "seat" and line.seat in bots:
                    yield f"event {number}: seat {line.seat} is a bot's, the answer claims a person"
                try:
                    waiting = self._answer(line)
                except EngineError as error:
                    yield f"event {number}: the answer {shown(line.answer)} is refused: {error}"
                    self.broken = True
                    return
            elif (line.by, line.seat, line.step) != ("table", None, ""):
                yield f"event {number}: it follows of itself, yet claims to be somebody's"
            yield from self._compare(number, line, waiting.pop(0))
        if waiting:
            yield f"the events end before the table came to rest: {len(waiting)} more follow"
            self.broken = True

    def _answer(self, line: EventRecord) -> list[Any]:
        if line.seat is None or not 0 <= line.seat < self.game.seats():
            raise EngineError(f"there is no seat {line.seat}")
        if line.answer == table.WITHDRAW:
            if line.step:
                raise EngineError(f"a withdrawal answers no question, not {shown(line.step)}")
            self.state, events = table.withdraw(self.game, self.state, self.deal, line.seat)
        else:
            self.state, events = table.act(self.game, self.state, self.deal, line.seat, line.step, line.answer)
        return events

    def _compare(self, number: int, line: EventRecord, event: Any) -> Iterator[str]:
        tag = type(event).__name__
        if line.tag != tag:
            yield f"event {number}: it is a {shown(line.tag)}, the rules make it a {tag}"
            return
        body = self.game.event_body(event)
        if canonical(line.body) != canonical(body):
            wrong = sorted(k for k in line.body.keys() | body.keys() if not _same(line.body, body, k))
            yield f"event {number}: {tag} differs in {', '.join(wrong)}"


def _same(one: dict[str, Any], other: dict[str, Any], key: str) -> bool:
    if key not in one or key not in other:
        return False
    return canonical({key: one[key]}) == canonical({key: other[key]})


def _end(record: Record, game: table.Game[Any, Any, Any], state: Any) -> Iterator[str]:
    outcome = game.outcome(state)
    expected = None if outcome is None else asdict(outcome)
    if canonical({"outcome": record.outcome}) != canonical({"outcome": expected}):
        yield "the outcome is not the one that the events make"
    fits = {"finished"} if outcome is not None else {"abandoned", "playing" if record.events else "waiting"}
    if record.status not in fits:
        yield f"the status {shown(record.status)} does not fit the events"
