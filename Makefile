# Two commands for users: "make augment" and "make test". Both make a virtual environment first.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install -qq --constraint constraints.txt
WORKERS ?= 2

# Bytecode is kept, whatever the shell says: without it each start takes a second more.
export PYTHONDONTWRITEBYTECODE =

.PHONY: augment test lint licence types unit doctests quick slow durations mutants docs end-to-end benchmark wheel schemas run-options lists format-pages pictures reproduction clean

augment: $(VENV)/.installed
	$(BIN)/luigi --module pipelines BuildAugmentedTrace

# What needs no more than one core goes beside something else: checks beside compiling ahead, documents beside tests.
test: $(VENV)/.installed-dev
	$(MAKE) --jobs 2 lint types $(VENV)/.warm-tests
	$(MAKE) --jobs 2 unit docs
	$(MAKE) --jobs 2 doctests end-to-end

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/ruff check --preview --select CPY001 .
	$(BIN)/python -m swftools.fields.generate --check
	$(BIN)/python docs/make_run_options.py --check
	$(BIN)/python docs/make_lists.py --check

# The licence in the first line of each Python file, behind a "#!" if there is one.
licence:
	git grep --files-without-match '^# SPDX-License-Identifier' -- '*.py' '*.pyi' | \
	  xargs perl -0777 -pi -e 's/\A(#!.*\n)?/$$1# SPDX-License-Identifier: BSD-3-Clause\n/'

types: $(VENV)/.installed-dev
	$(BIN)/mypy

unit: $(VENV)/.installed-dev $(VENV)/.warm-tests
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

doctests: $(VENV)/.installed-dev $(VENV)/.warm-tests
	$(BIN)/pytest --doctest-modules swftools pipelines

# The tests that are nearest to a change, within a minute: what git says has changed, or make quick ROOMS="swftools/qbets".
quick: $(VENV)/.installed-dev $(VENV)/.warm-tests
	$(BIN)/python -m tests.quick $(ROOMS)

# What each file of tests takes, against which later runs are held.
durations: $(VENV)/.installed-dev $(VENV)/.warm-tests
	SWFTOOLS_DURATIONS=write $(BIN)/pytest -n $(WORKERS) --dist worksteal

# The heavier tests, which make test leaves out: whole logs, processes that are killed or race, other damage; and all that
# Hypothesis draws for, with ten times as many examples.
slow: $(VENV)/.installed-dev $(VENV)/.warm-tests
	HYPOTHESIS_PROFILE=night $(BIN)/pytest -n $(WORKERS) --dist worksteal -m "slow or hypothesis"

# Small changes planted at random in a copy, to see whether the nearest tests notice: make mutants MUTANTS="--seed 3".
mutants: $(VENV)/.installed-dev $(VENV)/.warm
	$(BIN)/python -m tests.mutants $(MUTANTS)

# The site of the documentation, in build/docs: open index.html there, no server is needed. A warning is an error.
docs: $(VENV)/.installed-dev
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --jobs auto --doctree-dir build/doctrees docs build/docs

# What a user does first, in a directory of its own: publish, find it complete, and read it.
end-to-end: $(VENV)/.installed-dev
	rm -rf build/end-to-end
	mkdir -p build/end-to-end
	cd build/end-to-end && $(abspath $(BIN))/luigi --module pipelines BuildAugmentedTrace
	cd build/end-to-end && $(abspath $(BIN))/luigi --module pipelines BuildAugmentedTrace | grep "already complete"
	cd build/end-to-end && $(abspath $(BIN))/python $(abspath examples/read_data_set.py)
	cd build/end-to-end && $(abspath $(BIN))/swftools verify SDSC-BLUE-2000-4.2-cln-5000-9999

# Off by default: figures depend on the machine. SWFTOOLS_SHARED names the folder with the full logs.
benchmark: $(VENV)/.installed-dev
	$(BIN)/pytest tests/benchmark --benchmark-enable --benchmark-only -p no:xdist

# A wheel that has its kernels compiled, for this Python, this system and the usual processors, in dist/.
wheel: $(VENV)/.installed-dev
	$(BIN)/python recipe/compiled_wheel.py dist

schemas: $(VENV)/.installed-dev
	$(BIN)/python -m swftools.fields.generate

# The options of a run, from where they are declared into signatures and pages.
run-options: $(VENV)/.installed-dev
	$(BIN)/python docs/make_run_options.py

lists: $(VENV)/.installed-dev
	$(BIN)/python docs/make_lists.py

format-pages: $(VENV)/.installed-dev
	$(BIN)/python docs/make_format_pages.py

pictures: $(VENV)/.installed-dev
	$(BIN)/python docs/make_pictures.py

# Papers' tables made anew, and their page; SWFTOOLS_SHARED names the folder with the full logs.
PAPERS = barsanti2006 barsanti2006-beyond chiang2008 chiang2008-large lee2009 nurmi2009 nurmi2009-beyond popa2023 popa2023-beyond weng2023 weng2023-beyond yuan2010

reproduction: $(VENV)/.installed-dev $(VENV)/.warm
	rm -rf build/reproduction
	for paper in $(PAPERS); do \
		SWFTOOLS_LOG_PATH=$(SWFTOOLS_SHARED)/traces:$(SWFTOOLS_SHARED)/samples/mila:$(SWFTOOLS_SHARED)/samples/openb \
			$(BIN)/swftools reproduce $$paper --data-root build/reproduction --workers $(WORKERS) || exit; \
	done
	$(BIN)/python docs/make_reproduction.py build/reproduction $(PAPERS)

# A recent pip goes through the versions of a package in half the time.
$(VENV)/.made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "swftools needs Python 3.11 or later: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --no-compile --upgrade pip
	touch $@

# What is never imported need not be compiled.
$(VENV)/.installed: $(VENV)/.made setup.cfg constraints.txt
	$(INSTALL) --no-compile --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.made setup.cfg constraints.txt
	$(INSTALL) --no-compile --editable '.[dev]'
	touch $@ $(VENV)/.installed

# Every kernel compiled once, so that nothing waits for it later; after a change of kernels it is done where they are used.
$(VENV)/.warm: $(VENV)/.installed
	$(BIN)/swftools warm-up
	touch $@

# And the forms that look at each index, which only tests want.
$(VENV)/.warm-tests: $(VENV)/.installed-dev
	$(BIN)/python -m tests.warm
	touch $(VENV)/.warm $@

clean:
	rm -rf $(VENV) build data *.egg-info .mypy_cache .pytest_cache .ruff_cache
	find swftools pipelines tests -name __pycache__ -prune -exec rm -rf {} +
