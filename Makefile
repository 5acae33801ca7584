# make demo and make test each do everything on a fresh machine: Python 3.11 or later and GNU make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# One compute thread a test process: the processes share the cores.
TEST_ENV := OMP_NUM_THREADS=1
# Without a notice about the next version of MkDocs; the pins say which this is.
SITE := NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Each process takes files that lie together, so that what a file prepares is prepared once.
SHARED := -n $(JOBS) --dist worksteal

.PHONY: setup demo test test-all check docs bench clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@echo "Installing into $(VENV), once; this takes some minutes."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $@

demo: setup
	$(BIN)/teddy find citeseer --model gin --seeds 5 --out demo.ticket
	$(BIN)/teddy predict demo.ticket --out demo-predictions.csv

test: setup
	$(TEST_ENV) $(BIN)/python -m pytest $(SHARED) -m 'not slow'

test-all: setup
	$(TEST_ENV) $(BIN)/python -m pytest $(SHARED)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(SITE) --site-dir build/site

docs: setup
	$(SITE)
	@echo "Open site/index.html."

bench: setup
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist site demo.ticket demo-predictions.csv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
