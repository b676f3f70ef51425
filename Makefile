# What a reader types. Everything lives in .venv; each step does nothing when it has been done.

PYTHON ?= python3
MODEL := smollm2-135m-instruct
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: setup run test lint parity bench bench-others model nano

setup: model
	@echo "Ready. Next: make run"

run: model
	$(BIN)/python -m streamlit run app.py

test: model .venv/installed-dev
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: .venv/installed-dev
	$(BIN)/python -m ruff check app.py core lessons pages tests tools viz
	$(BIN)/python -m ruff format --check app.py core lessons pages tests tools viz

# Op by op against Hugging Face transformers: needs torch, which nothing else does.
parity: model .venv/installed-parity
	$(BIN)/python tools/parity.py

# Train the model in models/nano anew, some minutes; see tools/train_nano.py.
nano: .venv/installed-parity
	$(BIN)/python tools/train_nano.py
	$(BIN)/python tools/nano_readme.py
	$(BIN)/python tools/nano_golden.py
	$(BIN)/python tools/nano_claims.py --write

bench: model .venv/installed-dev
	$(BIN)/python tools/bench.py
	$(BIN)/python tools/bench_pages.py
	$(BIN)/python tools/bench_views.py
	$(BIN)/python tools/bench_inside.py
	$(BIN)/python tools/bench_steps.py
	$(BIN)/python tools/bench_loop.py

# What `make bench` compares with, in an environment of its own (some GB).
bench-others: .venv-bench/installed

model: .venv/installed
ifndef TOKENWALK_NO_DOWNLOAD
	@$(BIN)/python -m core fetch $(MODEL) > /dev/null || \
	  echo "Warning: going on without $(MODEL). Fetch it later: $(BIN)/python -m core fetch $(MODEL)"
endif

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, and $(PYTHON) is not. Say: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make a folder .venv. On Debian: apt install python3-venv"; exit 1; }
	@$(PYTHON) -m venv .venv || \
	  { echo "The folder .venv could not be made; the reason stands above."; exit 1; }

.venv/installed: requirements.txt | $(BIN)/pip
	@echo "Installing the packages of requirements.txt into .venv"
	@$(PIP) -r requirements.txt
	@touch $@

.venv/installed-dev: requirements-dev.txt .venv/installed
	@$(PIP) -r requirements-dev.txt
	@touch $@

.venv/installed-parity: requirements-parity.txt .venv/installed-dev
	@$(PIP) -r requirements-parity.txt
	@touch $@

.venv-bench/installed: requirements-bench.txt | $(BIN)/pip
	@$(PYTHON) -m venv .venv-bench
	@.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-bench.txt
	@touch $@
