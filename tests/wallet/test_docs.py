"""docs/wallet.md names every account, kind, check, service and refusal that there is."""

import re
from pathlib import Path

from wallet import audit, chart, services

PAGE = Path(__file__).parents[2].joinpath("docs/wallet.md").read_text()


def test_the_page_names_all_that_there_is() -> None:
    words = set(re.findall(r"[\w:]+", PAGE))
    wanted = {*chart.HOUSE, *chart.REFERENCES, *audit.CHECKS, "sum", "seal", "open"}
    wanted |= {name for name in services.__all__ if name.islower()}
    wanted |= {trigger for names in audit.GUARDS.values() for trigger in names} - {
        "append_only_rows", "append_only_table", "begins_empty", "decided_once", "wallet_owners_stay_registered",
    }  # fmt: skip
    assert sorted(wanted - words) == []


def test_every_reference_of_the_page_is_one_of_the_chart() -> None:
    rows = re.findall(r"^\| `([a-z0-9:]+)` \| (\w+) \| ", PAGE, re.MULTILINE)
    assert {kind for _reference, kind in rows if kind in chart.REFERENCES} == set(chart.REFERENCES)
    for reference, kind in rows:
        if kind in chart.REFERENCES:
            assert re.match(chart.REFERENCES[kind], reference), reference
            assert chart.fact(reference).number > 0


def test_builders_build_what_the_chart_says() -> None:
    built = {
        "welcome": chart.welcome(1), "fee": chart.fee(1), "refund": chart.refund(1), "payout": chart.payout(1),
        "abandoned": chart.abandoned(1), "reward": chart.reward(1), "buyin": chart.buyin(1, 2), "hand": chart.hand(1),
        "cashout": chart.cashout(1), "correction": chart.correction(1), "closed": chart.closed(1),
    }  # fmt: skip
    assert set(built) == set(chart.REFERENCES)
    for kind, reference in built.items():
        assert re.match(chart.REFERENCES[kind], reference)
    for code in (chart.player_account(1), chart.room_account(2), chart.stack_account(3), *chart.HOUSE):
        assert re.match(chart.ACCOUNT_PATTERN, code)
