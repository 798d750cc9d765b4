"""`python -m tests.playthroughs` writes the recorded matches anew."""

from tests.games.playthroughs import main

main()
