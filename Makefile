# `make demo` shows the product, `make test` tests it. Both set up .venv by themselves: with uv when it is
# there, with plain Python otherwise.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
EXTRAS := dev,verify,denoise,ocr,dask
# Tests run side by side already: threads of their own would only get into each other's way.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 OPENCV_FOR_THREADS_NUM=1

.PHONY: demo test test-slow check docs test-mcp test-harness clean
.DEFAULT_GOAL := help

help:
	@echo "make demo          draw a film, build a task of every family, let agents try them, write a page"
	@echo "make test          run the tests"
	@echo "make test-slow     the long sweeps over odd input and attacks"
	@echo "make check         lint, types, import contracts, generated docs"
	@echo "make docs          write the generated parts of README and docs/ anew"
	@echo "make test-mcp      MCP Inspector and the MCP conformance suite (from npm)"
	@echo "make test-harness  real harness command lines (from npm) against a scripted model on loopback"

$(STAMP): pyproject.toml
	@echo "setting up $(VENV) (once)"
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --allow-existing --python $(PYTHON) $(VENV) && uv pip install --quiet --python $(BIN)/python -e ".[$(EXTRAS)]"; \
	else \
	  $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[$(EXTRAS)]"; \
	fi
	@touch $@

demo: $(STAMP)
	@$(BIN)/avb-mcp demo --out demo

test: $(STAMP)
	$(ONE_THREAD) $(BIN)/python -m pytest -n auto -m "not harness and not conformance and not slow"

test-slow: $(STAMP)
	$(ONE_THREAD) $(BIN)/python -m pytest -n auto -m slow

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/cog --check README.md docs/tools.md docs/verifiers.md docs/suites.md

docs: $(STAMP)
	$(BIN)/cog -r README.md docs/tools.md docs/verifiers.md docs/suites.md
	$(BIN)/python -m avb_mcp.docs

test-mcp: $(STAMP)
	$(BIN)/python -m pytest -m conformance -v tests/conformance

test-harness: $(STAMP)
	$(BIN)/python -m pytest -m harness -v tests/harness

clean:
	rm -rf $(VENV) demo .tools
