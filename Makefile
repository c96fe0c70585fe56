# The two commands: `make quickstart` and `make test`. Every set-up step is skipped when it is already done, and
# an interrupted set-up continues when the same command is given again.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory --no-builtin-rules

VENV := .venv
PYTHON := $(VENV)/bin/python
TESTBED := $(VENV)/bin/testbed
PYTHON_STAMP := $(VENV)/.synced
SOURCES := testbed broker_grpc protos experiments
EXAMPLES := $(wildcard docs/examples/*)
EXAMPLE_PROTOS := $(wildcard docs/examples/*/*/*.proto)
SHELL_SCRIPTS := .ci/run $(shell grep -lsE '^\#!/bin/(ba)?sh' scripts/*)
WORKERS ?= 2

export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

.PHONY: help
help: ## this list
	@echo "make quickstart   set up, run the first experiment, show its tables"
	@echo "make test         set up, run every test that needs no special machine"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 26

# ---- set-up -----------------------------------------------------------------------------------------------

.PHONY: setup system-packages python plugin kernel spark-archive
setup: system-packages python proto-if-needed kernel spark-archive ## everything the two commands need

system-packages: ## Debian packages (scripts/debian-packages.txt); only this step wants root
	@scripts/install-system-packages

python: $(PYTHON_STAMP) ## the Python environment in .venv, from uv.lock
$(PYTHON_STAMP): pyproject.toml uv.lock scripts/setup-python | system-packages
	@scripts/setup-python
	@touch $@

plugin: $(PYTHON_STAMP) ## DIR=folder: install a package with protocols or papers of yours into .venv
	@scripts/setup-python "$(abspath $(DIR))"

kernel: $(PYTHON_STAMP) ## the virtual-time kernel, built once per user
	@scripts/setup-kernel

spark-archive: $(PYTHON_STAMP) ## Java class archive: Spark starts in half the time
	@scripts/setup-spark-archive

# ---- generated code ---------------------------------------------------------------------------------------

.PHONY: proto proto-if-needed proto-check
proto: $(PYTHON_STAMP) ## Python code from protos/*.proto
	@$(PYTHON) -m protos.generate
	@$(PYTHON) -m protos.generate $(EXAMPLE_PROTOS)

# The generated code is committed, so a fresh clone has nothing to do; an edited .proto does.
proto-if-needed: $(PYTHON_STAMP)
	@$(PYTHON) -m protos.generate --check >/dev/null 2>&1 || $(MAKE) proto

proto-check: $(PYTHON_STAMP) ## fails when the committed generated code is not what the .proto files give
	@$(PYTHON) -m protos.generate --check
	@$(PYTHON) -m protos.generate --check $(EXAMPLE_PROTOS)

# ---- the main job -----------------------------------------------------------------------------------------

.PHONY: quickstart doctor
quickstart: setup ## set up, run topologies/quickstart.yaml, analyse it, show the tables
	@scripts/quickstart

doctor: $(PYTHON_STAMP) ## what this machine can do
	@$(TESTBED) doctor

# ---- tests and gates --------------------------------------------------------------------------------------

.PHONY: test test-fast nightly bench verify lint format types imports shell
test: setup ## every test that needs no special machine
	@WORKERS=$(WORKERS) scripts/run-tests fast spark browser guest

test-fast: python proto-if-needed ## only the tests that start neither Spark nor a kernel
	@WORKERS=$(WORKERS) scripts/run-tests fast

nightly: setup ## all tests, the long and the special ones too
	@WORKERS=$(WORKERS) scripts/run-tests fast spark browser guest nightly

bench: setup ## measure (BENCH=name for one); kept in artifacts/bench
	@scripts/run-benchmarks $(BENCH)

verify: lint types imports proto-check shell ## all quality gates

lint: $(PYTHON_STAMP) ## ruff: errors, style, import order, layout
	ruff check .
	ruff format --check .

format: $(PYTHON_STAMP) ## ruff: repair what lint would complain about
	ruff check --fix-only --quiet .
	ruff format .

types: $(PYTHON_STAMP) ## mypy, strict
	mypy $(SOURCES) $(EXAMPLES)

imports: $(PYTHON_STAMP) ## import-linter: the one-way arrows of docs/architecture.md
	lint-imports --no-cache

shell: ## shellcheck
	shellcheck $(SHELL_SCRIPTS)

# ---- tidying ----------------------------------------------------------------------------------------------

.PHONY: clean distclean
clean: ## remove caches; keeps .venv, results and the kernel
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist spark-warehouse artifacts
	find $(SOURCES) $(EXAMPLES) tests -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## clean, and remove .venv
	rm -rf $(VENV)
