# Everything a person or a machine does with this project; `make` alone lists it.
SHELL := /bin/sh
PYTHON := .venv/bin/python
WORKERS ?= 4

.DEFAULT_GOAL := help
.PHONY: help setup setup-browser play admin stop test soak lint types format bench conform playthroughs screenshots lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | awk -F '\t' '{printf "make %-14s %s\n", $$1, $$2}'

setup: ## make .venv with exactly what requirements.lock says; again: nothing
	@set -eu; \
	stamp() { cat requirements.lock .venv/pyvenv.cfg 2>/dev/null | cksum; }; \
	works() { "$$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }; \
	if works $(PYTHON) && [ "$$(cat .venv/.installed 2>/dev/null)" = "$$(stamp)" ]; then exit 0; fi; \
	if ! works $(PYTHON); then \
		found=""; \
		for candidate in python3.11 python3.12 python3.13 python3; do \
			if command -v $$candidate >/dev/null 2>&1 && works $$candidate; then found=$$candidate; break; fi; \
		done; \
		if [ -z "$$found" ]; then \
			echo "Python 3.11 or newer with its venv module is needed (Debian, Ubuntu: apt-get install python3 python3-venv)." >&2; \
			exit 1; \
		fi; \
		echo "Making .venv with $$($$found --version)"; \
		rm -rf .venv; \
		$$found -m venv .venv; \
	fi; \
	echo "Installing requirements.lock"; \
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock; \
	stamp > .venv/.installed

setup-browser: setup ## find Chromium for the browser tests; as root, install it when it is missing
	@set -eu; \
	if $(PYTHON) -m tests.support.chromium >/dev/null 2>&1; then exit 0; fi; \
	if [ -z "$${CHROMIUM_PATH:-}" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
		echo "Installing Chromium"; \
		apt-get -qq update; \
		for package in chromium-headless-shell chromium; do \
			if DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$package >/dev/null; then break; fi; \
		done; \
	fi; \
	$(PYTHON) -m tests.support.chromium >/dev/null

play: setup ## run the game on this machine; PORT=9000 make play for another port
	@exec $(PYTHON) -m dominopoker.local play

admin: setup ## make the first staff: NAME=Olga make admin (ROLE=support, moderator, senior or admin; EXISTING=1: of an account)
	@$(PYTHON) manage.py migrate --verbosity=0
	@exec $(PYTHON) manage.py make_admin "$${NAME:-Olga}" --role "$${ROLE:-admin}" $${EXISTING:+--existing}

stop: setup ## stop PostgreSQL and Valkey that manage.py commands have started
	@exec $(PYTHON) -m dominopoker.local stop

lint: setup ## ruff, import contracts, migrations check
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@.venv/bin/python .venv/bin/lint-imports
	@$(PYTHON) manage.py makemigrations --check --dry-run

types: setup ## mypy, strict
	@WITHOUT_DATABASE=1 $(PYTHON) -m mypy

format: setup ## put code into the form that lint asks for
	@$(PYTHON) -m ruff check --fix .
	@$(PYTHON) -m ruff format .

conform: setup ## run the rule vectors in tests/vectors
	@$(PYTHON) manage.py conform tests/vectors/*.json

test: setup-browser lint types conform ## the one definition of green: everything but the soak tests
	@$(PYTHON) -m pytest -n $(WORKERS) --dist worksteal -m "not soak and not clock"
	@$(PYTHON) -m pytest -n 2 -m "clock and not soak"

soak: setup-browser ## the long suites
	@$(PYTHON) -m pytest -n $(WORKERS) --dist worksteal -m soak

bench: setup ## figures of the engine and, on servers of its own, of coins and statistics
	@$(PYTHON) manage.py bench
	@$(PYTHON) -m tests.bench
	@$(PYTHON) -m tests.bench.settling
	@$(PYTHON) -m tests.bench.statistics

playthroughs: setup ## write the recorded matches in tests/playthroughs anew
	@$(PYTHON) -m tests.playthroughs

screenshots: setup-browser ## take the picture of the README, and one of every page below .local/
	@$(PYTHON) -m tests.browser.screenshots

lock: setup ## resolve requirements.in into requirements.lock, with hashes
	@$(PYTHON) -m piptools compile --quiet --strip-extras --generate-hashes --no-header --no-emit-index-url \
		--no-emit-trusted-host --no-emit-options --allow-unsafe --output-file requirements.lock requirements.in

clean: ## stop what runs here and delete .local (all matches played here) and caches; .venv stays
	@if [ -x $(PYTHON) ]; then $(PYTHON) -m dominopoker.local clean; fi
	@rm -rf .local .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis test-results
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
