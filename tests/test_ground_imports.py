"""The import contracts hold, and each of them would be seen to break."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dominopoker.local.place import CHECKOUT

# For each contract: the file that gets a forbidden import, and the import.
BREAKS = {
    "layers": ("games/selectors.py", "import rooms.selectors"),
    "engine": ("games/engine/deals.py", "import random"),
    "bots": ("games/bots/__init__.py", "import datetime"),
    "bots-state": ("games/bots/__init__.py", "import games.engine.domino_poker.state"),
    "games-apart": ("games/engine/domino_poker/rules.py", "import games.engine.second"),
    "players-models": ("rooms/seating.py", "import players.models"),
    "games-models": ("rooms/playing.py", "import games.models"),
    "stats-models": ("rooms/playing.py", "import stats.models"),
    "rooms-models": ("dominopoker/urls.py", "import rooms.models"),
    "wallet-models": ("rooms/seating.py", "import wallet.models"),
    "wallet-apart": ("games/services.py", "import wallet.services"),
}


def lint_imports(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as r; r()", "--no-cache", *arguments],
        cwd=tree, env={"PYTHONPATH": str(tree), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project's packages, with a second game so that two could meet."""
    copy = tmp_path_factory.mktemp("tree")
    for package in ("dominopoker", "rooms", "stats", "games", "wallet", "players"):
        shutil.copytree(CHECKOUT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "games/engine/second").mkdir()
    (copy / "games/engine/second/__init__.py").write_text("")
    rules = (CHECKOUT / "pyproject.toml").read_text()
    one = 'modules = ["games.engine.domino_poker"]'
    assert rules.count(one) == 1
    (copy / "pyproject.toml").write_text(rules.replace(one, one[:-1] + ', "games.engine.second"]'))
    return copy


def test_the_contracts_are_kept(tree: Path) -> None:
    done = lint_imports(tree)
    assert done.returncode == 0, done.stdout


def test_every_contract_has_its_break() -> None:
    rules = (CHECKOUT / "pyproject.toml").read_text()
    assert {line.split('"')[1] for line in rules.splitlines() if line.startswith('id = "')} == set(BREAKS)


@pytest.mark.parametrize("contract", BREAKS)
def test_a_forbidden_import_breaks_its_contract(tree: Path, contract: str) -> None:
    name, line = BREAKS[contract]
    path = tree / name
    before = path.read_text()
    path.write_text(f"{before}\n{line}\n")
    try:
        done = lint_imports(tree, "--contract", contract)
    finally:
        path.write_text(before)
    assert done.returncode == 1, done.stdout
    assert "0 kept, 1 broken" in done.stdout
