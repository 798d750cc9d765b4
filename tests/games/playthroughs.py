"""Recorded matches as readable text: a change of the rules shows as a difference (`make playthroughs` writes anew)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from games import bots
from games.engine import registry, table, wire
from games.engine.deals import SecretDeal

HERE = Path(__file__).parents[1] / "playthroughs"
# By file: game, options, levels of the seats ("random" answers by lot), which seat leaves after how many answers.
RECORDED: dict[str, tuple[str, dict[str, Any], tuple[str, ...], tuple[int, int] | None]] = {
    "domino_poker_random.txt": ("domino_poker", {"rounds": 2}, ("random",) * 4, None),
    "domino_poker_medium.txt": ("domino_poker", {"rounds": 3}, ("medium",) * 4, None),
    "domino_poker_withdrawal.txt": ("domino_poker", {"rounds": 1}, ("random", "medium", "medium", "medium"), (0, 11)),
}


def record(name: str) -> str:
    """The whole text of one recorded match, always the same for the same rules."""
    return "\n".join(_lines(name)) + "\n"


def _lines(name: str) -> Iterator[str]:
    key, options, levels, leaving = RECORDED[name]
    game = registry.build(key, options)
    deal = SecretDeal(name.encode().ljust(32, b".")[:32], key, 1)
    draw = bots.Draw(deal.secret, "playthrough")
    rules = f"rules {registry.RULES_VERSION[key]}, {wire.canonical(options)}"
    yield f"{registry.title(key)}, {rules}, seats {', '.join(levels)}"
    state, events = table.start(game, deal)
    yield from _told(game, events)
    answers = 0
    while prompts := table.waiting(game, state):
        if leaving is not None and leaving[1] == answers:
            yield f"seat {leaving[0]} withdraws"
            state, events = table.withdraw(game, state, deal, leaving[0])
            yield from _told(game, events)
            leaving = None
        prompt = prompts[0]
        if levels[prompt.seat] == "random":
            text = str(prompt.choices[draw.below(len(prompt.choices))])
        else:
            text = bots.answer(key, levels[prompt.seat], game.view(state, prompt.seat), prompt, draw)
        choices = " | ".join(choice["do"] for choice in table.prompt_json(prompt)["choices"])
        yield f"{prompt.step} {wire.canonical(dict(prompt.rule))} {choices}"
        yield f"  seat {prompt.seat}: {text}"
        state, events = table.act(game, state, deal, prompt.seat, prompt.step, text)
        yield from _told(game, events)
        answers += 1
    yield f"outcome: {game.outcome(state)}"
    for seat in (0, None):
        viewer = "a spectator" if seat is None else f"seat {seat}"
        yield f"view of {viewer}: {wire.encode(game.view(state, seat)).decode()}"


def _told(game: Any, events: list[Any]) -> Iterator[str]:
    for event in events:
        yield f"  {type(event).__name__} {wire.canonical(game.event_body(event))}"


def main() -> None:
    """Write every recorded match anew."""
    for name in RECORDED:
        (HERE / name).write_text(record(name), encoding="ascii")
        print(f"tests/playthroughs/{name}")


if __name__ == "__main__":
    main()
