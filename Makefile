# Every target makes its own virtual environment in .venv on first use. The plain commands stand in README.md.
PYTHON ?= python3
NEWEST ?= python3.13
NOTEBOOK ?= short_form
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --constraint constraints.txt
STEPS ?= 4_000_000
DEALS ?= 100

.PHONY: demo warm test test-programs test-slow cost test-lowest test-newest test-newest-notebooks test-text \
    test-trainers test-rllib test-torchrl test-tianshou test-agilerl bench baselines baselines-small boards wheel lint docs clean

$(VENV)/made:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/%: $(VENV)/made pyproject.toml constraints.txt
	@echo "Installing cardenvs[$*] into $(VENV): 0.5 GB, 1.5 GB with torch for the CPU, several more with CUDA (docs/installation.md)."
	$(PIP) --editable '.[$*]'
	@touch $@

demo: $(VENV)/train,report  ## train gin rummy by self-play, a minute or two, then a leaderboard
	$(BIN)/cardenvs train gin_rummy_v0 --total-steps $(STEPS) --out runs/demo --overwrite
	$(BIN)/cardenvs match gin_rummy_v0 --agents ppo:runs/demo/latest.pt,heuristic,search:simulations=50,random --deals $(DEALS) \
	    --processes 2 --json runs/demo/leaderboard.json --html runs/demo/leaderboard.html

warm: $(VENV)/warm  ## compile all games, each in a process of its own

# Remade when a kernel may have changed. Where the cache was emptied since, kernels compile when they are called.
$(VENV)/warm: $(VENV)/dev $(shell find cardenvs/core cardenvs/kits cardenvs/games cardenvs/envs cardenvs/training/cfr -name '*.py')
	@$(BIN)/python -c "import cardenvs; print(*reversed(cardenvs.list_games()))" | \
	    xargs -n 1 -P "$$(getconf _NPROCESSORS_ONLN)" $(BIN)/cardenvs warmup >/dev/null
	@touch $@

test: $(VENV)/dev warm  ## the fast tests
	$(BIN)/python -m pytest -n auto

test-programs: $(VENV)/dev warm  ## the tests with bubblewrap and in Chromium
	$(BIN)/python -m pytest -n auto -m "programs and not slow"

cost: $(VENV)/dev warm  ## what each game costs, for the table in CONTRIBUTING.md; measured with all rotating tests
	@mkdir -p runs
	CARDENVS_SAMPLE=all $(BIN)/python -m pytest -n auto --junitxml=runs/tests.xml
	$(BIN)/python -m tests.cost runs/tests.xml

test-slow: $(VENV)/dev warm  ## the exhaustive tests, too
	CARDENVS_SAMPLE=all $(BIN)/python -m pytest -n auto -m "slow or not slow"

test-lowest:  ## a smoke test with the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear $(VENV)-lowest
	$(PYTHON) tests/lowest_versions.py llm report > $(VENV)-lowest/constraints.txt
	$(VENV)-lowest/bin/pip install --quiet --constraint $(VENV)-lowest/constraints.txt '.[llm,arena]'
	$(VENV)-lowest/bin/python tests/smoke.py

# torch has no small build for the newest Python on PyPI, hence the notebooks without it; see test-newest-notebooks.
# NOTEBOOK=07 runs one of them.
test-newest:  ## with the newest Python, where there is one: a smoke test of the newest core packages, and notebooks
	@if $(NEWEST) --version 2>/dev/null; then \
	    $(NEWEST) -m venv --clear $(VENV)-newest && $(VENV)-newest/bin/pip install --quiet . && \
	    $(VENV)-newest/bin/python tests/smoke.py && \
	    $(VENV)-newest/bin/pip install --quiet --constraint constraints.txt '.[arena]' \
	        pandas hypothesis jsonschema-rs nbclient ipykernel pytest pytest-timeout pytest-xdist && \
	    CARDENVS_SAMPLE=all $(VENV)-newest/bin/python -m pytest -n auto -rs tests/docs/test_notebooks.py \
	        -k "short_form and $(NOTEBOOK)"; \
	else echo "there is no $(NEWEST): its tests are skipped"; fi

test-newest-notebooks:  ## all notebooks in their short form, with the newest Python; several GB with torch for CUDA
	$(NEWEST) -m venv --clear $(VENV)-notebooks
	$(VENV)-notebooks/bin/pip install --quiet --constraint constraints.txt \
	    --editable '.[notebooks]' nbclient ipykernel pytest pytest-timeout
	$(VENV)-notebooks/bin/python -m pytest tests/docs/test_notebooks.py

test-text:  ## the tests with libraries that train language models, whose pins clash with constraints.txt
	$(PYTHON) -m venv --clear $(VENV)-text
	$(VENV)-text/bin/pip install --quiet '.[llm,gem,textarena,openenv,verifiers]' pytest pytest-timeout
	$(VENV)-text/bin/python -m pytest tests/llm/test_text_env.py tests/llm/test_trainers*.py
	$(VENV)-text/bin/python -m pytest tests/docs/test_examples.py -k llm-training

# An environment of its own for each library, with the pins of constraints.txt except those that the library contradicts.
define test_trainer
	$(PYTHON) -m venv --clear $(VENV)-$(1)
	grep -viE '^($(3))==' constraints.txt > $(VENV)-$(1)/constraints.txt
	$(VENV)-$(1)/bin/pip install --quiet --constraint $(VENV)-$(1)/constraints.txt \
	    --editable . torch pytest pytest-timeout $(2)
	OMP_NUM_THREADS=1 $(VENV)-$(1)/bin/python -m pytest tests/trainers/test_$(1).py
endef

test-trainers: test-rllib test-torchrl test-tianshou test-agilerl  ## the examples for other libraries; 1.5 GB each, for a nightly run

test-rllib:
	$(call test_trainer,rllib,'ray[rllib]==2.60.0',gymnasium)

test-torchrl:
	$(call test_trainer,torchrl,torchrl==0.14.1,none)

test-tianshou:
	$(call test_trainer,tianshou,tianshou==2.0.1,filelock)

test-agilerl:  # which imports peft without requiring it
	$(call test_trainer,agilerl,agilerl==2.58.0 peft==0.21.2,pettingzoo)

bench: $(VENV)/train,bench  ## this suite beside its peers
	$(BIN)/python -m benchmarks.run

baselines: $(VENV)/train,arena,bridge  ## train and compare a policy for every game: hours; goes on where it stopped
	$(BIN)/python -m baselines.run --processes 2

baselines-small: $(VENV)/dev  ## the same for two games, in minutes
	$(BIN)/python -m baselines.run --small

boards: $(VENV)/train,arena,bridge,openspiel,rlcard  ## play the boards of configs/arena and build their sites in runs/boards: an hour or two
	@mkdir -p runs/boards
	@for file in configs/arena/*.yaml; do name=$$(basename $$file .yaml); \
	    $(BIN)/cardenvs arena run $$file --store runs/boards/$$name.db --resume --processes 2 --html runs/boards/$$name || exit; \
	done

foreign: $(VENV)/train,arena,bridge,openspiel,rlcard  ## what opponents from outside win from our agents: an hour or two
	$(BIN)/python -m baselines.foreign --processes 2

# Looked up by cardenvs/core/cache.py, whose PREBUILT_CPU this names.
wheel: $(VENV)/dev  ## a wheel in dist/ that holds the kernels compiled for any x86-64-v3 processor
	rm -rf cardenvs/_prebuilt
	NUMBA_CPU_NAME=x86-64-v3 NUMBA_CPU_FEATURES= CARDENVS_CACHE_DIR=$(CURDIR)/cardenvs/_prebuilt $(BIN)/cardenvs warmup
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .

lint: $(VENV)/dev  ## style, format, types, directions of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/dev warm  ## the documentation, in site/
	$(BIN)/python -m docs.generate
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) $(VENV)-* site
