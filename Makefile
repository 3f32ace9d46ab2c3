# `make up` and `make test` are all one needs; `make help` lists the rest.

VENV   ?= .venv
PYTHON ?= python3
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help up setup test check format testbeds pins clean

help:  ## list the commands
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## /\1|/' | awk -F'|' '{printf "  make %-10s %s\n", $$1, $$2}'

up: setup  ## start the control plane on its embedded default (SQLite under .lictor/, the bundle in policy/)
	@$(BIN)/lictor serve

setup: $(STAMP)  ## make the virtual environment; quick when nothing changed

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Lictor needs Python 3.11 or newer as \`$(PYTHON)\`; name another with: make setup PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || { echo "making $(VENV)"; $(PYTHON) -m venv $(VENV); } || { \
	  echo "the module venv is missing; on Debian: apt-get install python3-venv" >&2; rm -rf $(VENV); exit 1; }
	@echo "installing the packages of constraints.txt into $(VENV) (about a minute the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

test: setup  ## run every test; real systems that are missing are named at the end
	@$(BIN)/python -m pytest $(ARGS)

check: setup  ## format, lint, types, import directions, the bundle
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/lictor policy check policy

format: setup  ## format and fix what can be fixed
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

testbeds:  ## install the real systems that the tests can use: PostgreSQL, strace (Debian), OPA (Go)
	@tests/testbeds/install

pins:  ## rewrite constraints.txt with the newest versions of every extra
	@rm -rf .pins && $(PYTHON) -m venv .pins
	@.pins/bin/python -m pip install --quiet --disable-pip-version-check '.[dev,agent,kubernetes]'
	@{ head -1 constraints.txt; .pins/bin/python -m pip freeze --exclude lictor; } > constraints.new
	@mv constraints.new constraints.txt && rm -rf .pins

clean:  ## remove the virtual environment and caches; state under .lictor/ stays
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
