SHELL := bash
PORT ?= 8501
WORKERS ?= 1
PYTHON := .venv/bin/python

.PHONY: help run test check format bench sweep fit lock browser proxy clean venv installed

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: installed ## open the dashboard on http://localhost:8501 (another port, several processes: make run PORT=8600 WORKERS=2)
	$(PYTHON) -m inferdash --port $(PORT) --workers $(WORKERS)

test: installed browser proxy compiled ## run all tests, those in a browser beside the others
	@$(MAKE) --no-print-directory --jobs 3 --keep-going --output-sync=target tests/walks tests/browser tests/others

# Else each server of a test would compile it, and its first pages wait.
.PHONY: compiled
compiled: installed
	@$(PYTHON) -c 'from inferdash.serving.simulated.simulator import prepare; prepare()'

# Three at once on two cores, as those in a browser mostly wait for it.
.PHONY: tests/walks tests/browser tests/others
tests/walks:
	$(PYTHON) -m pytest tests/browser/test_walks.py

tests/browser:
	$(PYTHON) -m pytest tests/browser --ignore tests/browser/test_walks.py

tests/others:
	nice $(PYTHON) -m pytest --ignore tests/browser

check: installed ## check format, style and types
	$(PYTHON) -m ruff format --check
	$(PYTHON) -m ruff check
	$(PYTHON) -m mypy

format: installed ## format the code and sort its imports
	$(PYTHON) -m ruff check --select I --fix
	$(PYTHON) -m ruff format

bench: installed browser ## measure the dashboard (a part or a page of it: make bench ARGS="keys --pages plan")
	$(PYTHON) -m bench $(ARGS)

sweep: installed browser ## try many generated cases, for hours (fewer: make sweep ARGS="states links --count 20 --seed 7")
	$(PYTHON) -m bench.sweep $(ARGS)

fit: installed ## fit presets/engines/ and presets/power/ to published measurements, and print the errors
	OMP_NUM_THREADS=1 $(PYTHON) -m bench.fit
	OMP_NUM_THREADS=1 $(PYTHON) -m bench.energy

lock: venv ## pin what pyproject.toml asks for (for newer releases, first remove requirements.lock)
	$(PYTHON) -m uv --version || $(PYTHON) -m pip install uv
	$(PYTHON) -m uv pip compile pyproject.toml --group dev --output-file requirements.lock --quiet \
		--universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links
	$(PYTHON) -m uv pip compile pyproject.toml --extra mcp --constraint requirements.lock --quiet \
		--output-file deploy/requirements.lock \
		--universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links

browser: installed ## provide Chromium for the tests
	@command -v chromium || \
	{ [ "$$(id -u)" = 0 ] && apt-get update && apt-get install -y --no-install-recommends chromium; } || \
	$(PYTHON) -m playwright install chromium

proxy: ## provide HAProxy, for several processes on one machine
	@PATH="$$PATH:/usr/sbin" command -v haproxy || \
	{ [ "$$(id -u)" = 0 ] && apt-get update && apt-get install -y --no-install-recommends haproxy openssl; } || \
	echo 'No HAProxy: what needs it is skipped (on Debian: apt-get install haproxy).' >&2

clean: ## remove .venv, caches and builds
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Each is tried by running it: pyenv's commands may exist and fail, Debian's Python may lack ensurepip.
venv:
	@$(PYTHON) -c 'import pip' 2>/dev/null && exit; \
	for python in python3.13 python3.12 python3.11 python3; do \
		if "$$python" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			echo "$$python -m venv .venv"; exec "$$python" -m venv --clear .venv; \
		fi; \
	done; \
	echo 'Needs Python 3.11 or newer with venv (on Debian: apt-get install python3-venv).' >&2; exit 1

# A copy of the lock in .venv says what is installed.
installed: venv requirements.lock
	@cmp -s requirements.lock .venv/requirements.lock || { \
		$(PYTHON) -m pip install --require-hashes -r requirements.lock && cp requirements.lock .venv/; }
