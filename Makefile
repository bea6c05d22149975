# Needs git, make and Python >= 3.10 with venv; everything else goes into .venv.
PYTHON ?= python3
VENV ?= .venv
LAB_ARGS ?=
PYTEST_ARGS ?=
JOBS ?= 2
# File by file, in their order: by default xdist keeps files of few tests for the end, and the browser's few are long.
SPREAD := --dist loadfile --no-loadscope-reorder

BIN := $(VENV)/bin
STAMPS := $(VENV)/.installed
NBVAL := --nbval --nbval-sanitize-with tests/nbval_sanitize.cfg

.DEFAULT_GOAL := help
.PHONY: help lab test lint notebooks docs bench clean chromium compiler

help: ## Show this list
	@awk -F':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

lab: $(STAMPS)/notebooks ## Open JupyterLab on the first notebook (LAB_ARGS="--port 9999" is handed on)
	@$(BIN)/python -m ascendlab.lab $(LAB_ARGS)

test: $(STAMPS)/test chromium compiler ## Run every test: unit, property, doctest, notebooks, browser (PYTEST_ARGS="-k padding" is handed on)
	$(BIN)/python -m pytest -n $(JOBS) $(SPREAD) $(NBVAL) tests ascendlab notebooks $(PYTEST_ARGS)

lint: $(STAMPS)/lint ## Check format, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

notebooks: $(STAMPS)/notebooks ## Run all notebooks anew and store their outputs
	$(BIN)/python scripts/regenerate_notebooks.py

docs: $(STAMPS)/docs ## Build the documentation into docs/_build/html, every warning an error
	$(BIN)/python -m sphinx -W --keep-going -q -j $(JOBS) -b html -c docs . docs/_build/html
	@echo "Built docs/_build/html/index.html"

bench: $(STAMPS)/bench $(STAMPS)/test chromium ## Measure the speed against the peers, and of a slider in the browser
	mkdir -p benchmarks/results
	ASCENDLAB_BROWSER_RESULTS="$(CURDIR)/benchmarks/results/browser.json" \
		$(BIN)/python -m pytest -q tests/test_browser.py -k measure
	$(BIN)/python -m benchmarks

clean: ## Remove .venv and everything that tools have left
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist docs/_build *.egg-info
	find . -name __pycache__ -prune -exec rm -rf {} +
	find . -name .ipynb_checkpoints -prune -exec rm -rf {} +

chromium: $(STAMPS)/test
	@$(BIN)/python tests/browser_chromium.py

compiler: $(STAMPS)/test
	@$(BIN)/python tests/cpp_compiler.py

# One stamp for each extra of pyproject.toml: installed again only when that file has changed.
$(STAMPS)/lint: EXTRAS = notebooks,lint
$(STAMPS)/ci: EXTRAS = lint,test
$(STAMPS)/%: EXTRAS = $*
$(STAMPS)/%: pyproject.toml | $(STAMPS)/venv
	@echo "Installing ascendlab[$(EXTRAS)] into $(VENV); the first time this takes a minute or two."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(EXTRAS)]"
	@touch $@

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "ascendlab needs Python 3.10 or newer; choose one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@
