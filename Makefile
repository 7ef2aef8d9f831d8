# make demo    a whole round on a drawn collection, then the site        (ARGS=--no-serve stops before serving)
# make check   the fast part of the tests, on SQLite                     (five minutes or so)
# make test    everything CI runs: checks, both databases, slow and browser tests
# make vulnerabilities   known ones of the locked packages; asks the advisory database on the network
# make lock    requirements-locked.txt and requirements-gpu-locked.txt written again, after a change of what Counterpart runs on
# make screenshots   the pictures of docs/tour.md, light and dark, of the demo site and a simulated COCO round
# make client-models   the types of counterpart-client again, after a change of what calls of the API answer
# make chaos   200 kills of a site under load on each database, written into docs/reliability.md  (half an hour or more)

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(abspath $(VENV))/bin
# A folder of wheels or an index to prefer for the CPU build of torch; pip's own settings hold otherwise.
# pip would compile all modules for half a minute; those that are used compile when they are first imported.
PIP_INSTALL = $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --no-compile $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))
LOCK = $(VENV)-lock/bin/uv pip compile --quiet --generate-hashes --only-binary :all: --no-annotate --custom-compile-command "make lock" \
	--python-version 3.11 --python-platform x86_64-manylinux_2_28 \
	$(foreach one,$(PACKAGES),--no-emit-package counterpart-$(one))
# Libraries that know nothing of the site, each with tests of its own.
PACKAGES = $(notdir $(wildcard packages/*))
RUNTIME = requirements.txt requirements-common.txt requirements-site.txt $(wildcard packages/*/pyproject.toml)
DEMO_ENV = VAR_DIR=$(CURDIR)/var/demo DATABASE_URL=$(DEMO_DATABASE_URL) REDIS_URL=
# Tests that need what numba compiles.
KERNELS = tests/console/rounds/test_rounds.py::test_a_plan_ends_in_a_draft_that_can_be_published \
	tests/evaluation/test_analyse_command.py::test_a_sample_that_asks_in_one_direction_has_no_hs_sum \
	tests/evaluation/designing/test_plans.py::test_a_pool_without_judgments_is_planned_from_priors_and_says_so \
	tests/mitl/search/test_beyond_rows.py::test_the_lists_are_those_of_an_exact_search \
	'tests/mitl/annotators/test_kinds.py::test_a_kind_is_added_trained_exported_added_again_and_searched_with[kcca]'
# Several test processes that each let torch use every core, or spin while they wait for a thread, slow each other down.
PYTEST = env OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive $(BIN)/python -m pytest -n $(or $(TEST_PROCESSES),2)

# Python keeps what it has compiled, also where the environment forbids it: otherwise each process compiles all of it.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo check test vulnerabilities lock fetched ready lint kernels packages fast services services-all slow cluster browser screenshots client-models chaos clean

demo: $(VENV)/.runtime
	@$(DEMO_ENV) $(BIN)/python manage.py demo $(ARGS)

check: ready fast

test: fetched ready packages fast slow services

# pip keeps one core busy at most, so the browser and Ray are fetched meanwhile.
fetched:
	$(MAKE) --no-print-directory --jobs=3 --output-sync $(VENV)/.dev browser $(VENV)-ray/.installed

# In a fresh clone numba compiles for a minute and a half, and each of two test processes would: so once, during lint.
ready: $(VENV)/.dev
	$(MAKE) --no-print-directory --jobs=2 --output-sync kernels lint

kernels: $(VENV)/.dev
	DATABASE_URL= REDIS_URL= $(PYTEST) -n 0 -q $(KERNELS)
	cd packages/topk && $(PYTEST) -n 0 tests/test_searching.py::test_a_case_worked_by_hand

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy .
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py check --fail-level WARNING

# Each package in processes of its own, without Django's settings. The search on Ray, which waits for processes to start,
# and the small packages run at the same time as the one with the most to compute.
packages: $(VENV)/.dev
	$(MAKE) --no-print-directory --jobs=2 --output-sync $(sort $(PACKAGES:%=package-%)) cluster

package-annotators: TEST_PROCESSES ?= 2
package-%: $(VENV)/.dev
	cd packages/$* && $(BIN)/lint-imports && $(PYTEST) -n $(or $(TEST_PROCESSES),0) --dist loadfile

# Each process takes one half of the files in their order, so that what a file prepares once is prepared once.
fast: $(VENV)/.dev
	DATABASE_URL= REDIS_URL= $(PYTEST) --dist worksteal -m "not slow and not browser and not service"

# By the file: what a file prepares once (COCO's captions, a browser) is prepared in one process. In their order: by the
# number of their tests, files of few and long tests would come last, and one process would wait for the other.
# Tests that passed only in a second try are listed at the end (-rR). There are more processes than cores: these
# tests wait for browsers and servers more than they compute, and those of services for two databases.
slow: $(VENV)/.dev browser
	DATABASE_URL= REDIS_URL= $(PYTEST) -n $(or $(TEST_PROCESSES),4) --dist loadfile --no-loadscope-reorder -rfER -m "slow or browser"

# On PostgreSQL and Redis (those configured, those on this machine, or real ones from wheels): what needs the services,
# and again what touches a database. Slow tests send the statements of the fast ones for more data, so that they run
# there on demand. Estimates are compared with two packages that pip fetches into .venv-witness; without a network, not.
services: $(VENV)/.dev
	$(BIN)/python -m tests.services $(PYTEST) -n $(or $(TEST_PROCESSES),3) --dist worksteal -m "service or not (slow or browser)"

# Ray is not in the base install. It has a folder of its own, where only these tests look.
cluster: $(VENV)/.dev $(VENV)-ray/.installed
	PYTHONPATH=$(CURDIR)/$(VENV)-ray DATABASE_URL= REDIS_URL= $(PYTEST) -n 0 -m slow tests/mitl/search/test_on_ray.py

$(VENV)-ray/.installed: requirements-cluster.txt | $(VENV)/bin/python
	$(PIP_INSTALL) --upgrade --target $(VENV)-ray -r requirements-cluster.txt
	touch $@

services-all: $(VENV)/.dev
	$(BIN)/python -m tests.services $(PYTEST) -m "not browser"

# Not in test, which needs no network. pip-audit has an environment of its own: it would replace packages of ours.
vulnerabilities:
	$(PYTHON) -m venv $(VENV)-vulnerabilities
	$(VENV)-vulnerabilities/bin/python -m pip install --quiet --quiet --disable-pip-version-check pip-audit==2.10.1
	sed 's/+cpu / /' requirements-locked.txt | $(VENV)-vulnerabilities/bin/pip-audit --strict --disable-pip -r /dev/stdin

# What the images install: all packages with the hashes of their files. TORCH is where torch for processors is found.
lock: TORCH ?= --torch-backend cpu
lock:
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet --quiet --disable-pip-version-check uv==0.13.9
	$(LOCK) $(TORCH) requirements.txt --output-file requirements-locked.txt
	$(LOCK) requirements-gpu.txt --output-file requirements-gpu-locked.txt

screenshots: $(VENV)/.dev browser
	$(BIN)/python docs/screenshots.py $(ARGS)

client-models: $(VENV)/.dev
	DJANGO_SETTINGS_MODULE=config.settings $(BIN)/python -m tests.client.write_models

chaos: $(VENV)/.dev
	$(BIN)/python -m tests.chaos sqlite --report docs/reliability.md
	$(BIN)/python -m tests.chaos postgresql --report docs/reliability.md

# Pages are tested without windows, which is faster; frames, whose cookies only the whole browser blocks, are not.
browser:
	@(command -v chromium && command -v chromium-headless-shell) >/dev/null \
		|| (command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq chromium chromium-headless-shell) \
		|| command -v chromium >/dev/null \
		|| echo "No Chromium here and apt cannot install it; set ALLOW_NO_BROWSER=1 to go on without the browser tests."

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: $(RUNTIME) | $(VENV)/bin/python
	@echo "Installing packages into $(VENV) (about two minutes the first time) ..."
	$(PIP_INSTALL) -r requirements.txt
	@touch $@

# What Counterpart runs on is in it, and is installed in the same pass.
$(VENV)/.dev: $(RUNTIME) requirements-dev.txt | $(VENV)/bin/python
	$(PIP_INSTALL) -r requirements-dev.txt
	@touch $(VENV)/.runtime $@

clean:
	rm -rf $(VENV) $(VENV)-vulnerabilities $(VENV)-lock $(VENV)-ray .venv-witness .venv-peers var .mypy_cache .ruff_cache .pytest_cache .hypothesis
