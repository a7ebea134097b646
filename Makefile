# `make` alone lists what there is. Everything runs in a virtual environment inside the checkout.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/mmsp-fsm
SHOWN := tests/data/recordings
BROKEN := tests/data/broken/interleaved.jsonl

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-wheel test-deep check generate build bench clean

help: ## list these targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-10s %s\n", $$1, $$2 }'

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(VENV)/package: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/tools: $(VENV)/package
	$(BIN)/python -m pip install --quiet --group test --group check --group build
	@touch $@

$(VENV)/interop: $(VENV)/tools
	$(BIN)/python -m pip install --quiet --group interop
	@touch $@

setup: $(VENV)/interop ## make the virtual environment with everything that development needs

demo: $(VENV)/package ## set up, then check, explain and parse real recordings
	@echo '$$ mmsp-fsm validate $(SHOWN)/ant-*.jsonl'
	@$(RUN) validate $(SHOWN)/ant-*.jsonl
	@echo
	@echo '$$ mmsp-fsm validate $(BROKEN)'
	@$(RUN) validate $(BROKEN); test $$? -eq 1
	@echo
	@echo '$$ mmsp-fsm explain E302'
	@$(RUN) explain E302
	@echo
	@echo '$$ mmsp-fsm parse $(SHOWN)/ant-think-text-tool.sse'
	@$(RUN) parse $(SHOWN)/ant-think-text-tool.sse

test: $(VENV)/interop ## set up and run the tests
	$(BIN)/python -m pytest

test-wheel: build ## install the built wheel in an empty environment and use it from another folder
	rm -rf $(VENV)/installed
	$(PYTHON) -m venv $(VENV)/installed
	$(VENV)/installed/bin/python -m pip install --quiet dist/*.whl
	cd / && $(CURDIR)/$(VENV)/installed/bin/python -I $(CURDIR)/tests/wheel/installed.py $(CURDIR)/tests/data

test-deep: $(VENV)/interop ## the property tests with 20,000 examples each
	$(BIN)/python -m pytest tests/properties --hypothesis-profile=deep

check: $(VENV)/interop ## lint, format, types, and drift of generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m mmsp_fsm.reference.generate --check

generate: $(VENV)/tools ## write what is made from grammar/: the model, the EBNF's kinds, the diagrams
	$(BIN)/python -m mmsp_fsm.reference.generate

build: $(VENV)/tools ## build the wheel and the sdist into dist/
	rm -rf dist
	$(BIN)/python -m build --quiet

$(VENV)/bench: $(VENV)/package
	$(BIN)/python -m pip install --quiet --group bench
	@touch $@

bench: $(VENV)/bench ## measure what checking costs, as ratios in one run (some minutes)
	$(BIN)/python benchmarks $(BENCH)

clean: ## remove the virtual environment and everything built
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
