# `make test` and `make ladder` need only Python 3.11 or newer, a C compiler and make: they set up all else in .venv.
# PYTHON=python3.12 names another Python; CABOOSE_NATIVE=1 builds for this machine's processor only.

VENV := .venv
EXTRAS := dev
SECONDS ?= 60
KILLS ?= 50
RUN ?= latest
LADDER := build/ladder

BIN := $(VENV)/bin
READY := $(VENV)/ready$(if $(filter-out 0,$(CABOOSE_NATIVE)),-native)
YARDSTICKS := $(foreach build,native portable,build/yardstick-$(build)-2 build/yardstick-$(build)-3)
PORTABLE := $(if $(filter x86_64 amd64,$(shell uname -m)),-msse4.2 -mpopcnt)
SOURCES := pyproject.toml setup.py $(wildcard engine/*/*.pyx engine/*/*.pxd engine/*/*.h protocol/*/*.pyx) protocol/process/keeper.c11 protocol/process/filter.h
PYTHONS := $(or $(PYTHON),$(wildcard $(BIN)/python) python3.13 python3.12 python3.11 python3)

# Tests that no clock and no other process matters to.
COMPUTING := $(sort $(wildcard $(foreach what,engine/test_belief engine/test_endgame engine/test_networks engine/test_perft \
    engine/test_rules_* engine/test_search engine/test_simulate bots/test_bots bots/test_measuring house/test_instructions \
    house/test_strength arena/test_analyse arena/test_standings arena/test_suite arena/stats/* arena/tuning/test_tune \
    arena/tuning/test_choices \
    protocol/test_records protocol/test_verify protocol/test_fuzz protocol/test_observation_text,tests/$(what).py)))

.DELETE_ON_ERROR:
ifndef TWO
.NOTPARALLEL:
endif
MAKEFLAGS += --no-print-directory

.PHONY: help
help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-19s %s\n", $$1, $$2 }' Makefile

# Two processes and no more: what is played on the clock would tell of a busy machine. Beside those tests run the checks,
# and then what only computes; what that says comes at its end.
.PHONY: test
test: $(READY) ## check the code and run the tests, on two cores
	@$(MAKE) --no-print-directory -j2 TWO=yes on-the-clock off-the-clock

.PHONY: on-the-clock
on-the-clock: $(READY)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/pytest $(COMPUTING:%=--ignore=%)

.PHONY: off-the-clock
off-the-clock: lint
	@mkdir -p build; \
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -p no:cacheprovider $(COMPUTING) >build/off-the-clock.txt 2>&1 || failed=yes; \
	echo; cat build/off-the-clock.txt; [ -z "$$failed" ]

.PHONY: ladder
ladder: $(READY) ## play a small ladder of the built-in bots (two minutes at most), show the standings, write a report
	@rm -rf $(LADDER) && mkdir -p build
	@$(BIN)/caboose ladder init $(LADDER) --seed 1
	@for bot in random greedy planner mcts; do $(BIN)/caboose ladder add $(LADDER) $$bot || exit 1; done
	@$(BIN)/caboose ladder add $(LADDER) mcts --name mcts-level-3 --option Level=3
	@$(BIN)/caboose ladder add-list $(LADDER) main --format random --rounds 3 --nodes 200 --blocks 30 --generation 8
	@$(BIN)/caboose ladder run $(LADDER) --minutes 1
	@echo; $(BIN)/caboose ladder report $(LADDER)

.PHONY: lint
lint: $(READY) ## check style and types, and the stubs against the compiled modules
	@$(BIN)/ruff check --quiet --output-format concise
	@$(BIN)/ruff format --quiet --check || { echo "The format of some files is off: make format"; exit 1; }
	@PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint engine protocol
	@$(BIN)/mypy
	@MYPYPATH=build/pkg $(BIN)/stubtest --mypy-config-file pyproject.toml --allowlist tests/stubtest.allow \
	    --ignore-disjoint-bases --ignore-missing-stub caboose.engine caboose.protocol.process.pipes

.PHONY: format
format: $(READY) ## format the code and mend what ruff can mend
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

# Not `python -m pytest`, which would put the root on the path.
.PHONY: pytest
pytest: $(READY) ## run the tests only
	@OPENBLAS_NUM_THREADS=1 $(BIN)/pytest

.PHONY: test-all
test-all: ## run the tests on each of Python 3.11, 3.12 and 3.13 that is here
	@for version in 3.11 3.12 3.13; do \
	    for python in python$$version $${PYENV_ROOT:-$$HOME/.pyenv}/versions/$$version.*/bin/python -; do \
	        $$python -c pass 2>/dev/null && break; \
	    done; \
	    if [ $$python = - ]; then echo "== Python $$version is not here"; continue; fi; \
	    echo "== Python $$version ($$python)"; tested=yes; \
	    $(MAKE) pytest VENV=.venv-$$version EXTRAS=test PYTHON=$$python || failed="$$failed $$version"; \
	done; \
	[ -n "$$tested" ] || { echo "There is nothing to test on"; exit 1; }; \
	[ -z "$$failed" ] || { echo "Tests failed on Python$$failed"; exit 1; }

.PHONY: soak
soak: $(READY) ## look for rare faults of the rules and then of the referee, for SECONDS=60 each
	@failed=; \
	$(BIN)/python tests/tools/soak.py --seconds $(SECONDS) || failed=yes; echo; \
	$(BIN)/python tests/tools/soak_referee.py --seconds $(SECONDS) || failed=yes; \
	[ -z "$$failed" ]

.PHONY: kills
kills: $(READY) ## kill a ladder KILLS=50 times, and compare it with one that nobody disturbed
	@$(BIN)/python tests/tools/kill_ladder.py --kills $(KILLS)

.PHONY: cluster
cluster: $(READY) ## kill clients, workers and the scheduler of a small Dask cluster while it plays a ladder (some minutes)
	@$(BIN)/python tests/tools/soak_cluster.py

.PHONY: instructions
instructions: $(READY) ## count the core's instructions (valgrind), all workloads, and compare with the kept counts
	@$(BIN)/python benchmarks/perf/instructions.py

.PHONY: words
words: $(READY) ## write the commands' words anew, which the help and the completion of shells show
	@$(BIN)/python -m caboose.cli.command_words

.PHONY: update-instructions
update-instructions: $(READY) ## count the core's instructions and keep the counts of this build
	@$(BIN)/python benchmarks/perf/instructions.py --update

.PHONY: networks
networks: $(READY) ## make the networks of the search anew, from planners' rounds (about a minute each)
	@$(BIN)/python -m caboose.engine.training.train

.PHONY: benchmarks
benchmarks: $(READY) ## measure what should be fast, show it and keep it as a run
	@$(BIN)/python benchmarks/perf/compare.py save

.PHONY: compare
compare: $(READY) $(YARDSTICKS) ## measure again, against RUN=latest and against the yardstick
	@$(BIN)/python benchmarks/perf/compare.py compare --run $(RUN)

.PHONY: yardstick
yardstick: $(READY) $(YARDSTICKS) ## measure playouts against the plain C loop only
	@$(BIN)/python benchmarks/perf/compare.py yardstick

# The plain C loop, with the flags of a portable build and of one for this machine (setup.py), and with the sets of tiles
# in two words and in three. It is called .c11 since .c files beside Cython's are taken for what that makes.
build/yardstick-native-%: benchmarks/perf/yardstick.c11
	@mkdir -p build
	@$(CC) -std=c11 -O3 -march=native -DWORDS=$* -o $@ -x c $<

build/yardstick-portable-%: benchmarks/perf/yardstick.c11
	@mkdir -p build
	@$(CC) -std=c11 -O3 $(PORTABLE) -DWORDS=$* -o $@ -x c $<

.PHONY: dist-check
dist-check: $(READY) ## build a wheel from the sdist alone, install it and look at both (a few minutes)
	@$(BIN)/pytest -m slow tests/house/test_package.py

.PHONY: clean
clean: ## remove what was built
	@rm -rf build dist *.egg-info engine/*/*.so protocol/*/*.so protocol/process/keeper .venv*/ready* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find . -name '.venv*' -prune -o -name __pycache__ -prune -exec rm -rf {} +

.PHONY: clean-all
clean-all: clean ## remove the virtual environments and the saved benchmarks too
	@rm -rf .venv* .benchmarks

# Exits with the reason why a Python will not do.
define CHECK
import sys
if sys.version_info < (3, 11):
    sys.exit("is older than 3.11")
import os, shlex, shutil, sysconfig
try:
    import ensurepip, venv
except ImportError:
    sys.exit("has no venv module (Debian and Ubuntu: apt install python3-venv)")
if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    sys.exit("has no C headers (Debian and Ubuntu: apt install python3-dev)")
compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC"))[0]
if not shutil.which(compiler):
    sys.exit("needs the C compiler %s, which is not here; install it, or name another with CC=" % compiler)
endef
export CHECK

# Where a Python is named, the environment may be one of another; where its Python has gone, it must be made anew.
ifneq ($(PYTHON)$(if $(wildcard $(BIN)/python),,none),)
.PHONY: $(READY)
endif

# Candidates are tried by running them: a pyenv shim may be on the path and yet refuse.
$(READY): $(SOURCES)
	@for python in $(PYTHONS) -; do \
	    if command -v $$python >/dev/null; then why=$$($$python -c "$$CHECK" 2>&1) && break; else why="is not here"; fi; \
	    [ $$python = - ] || tried="$$tried\n  $$python $$(echo "$$why" | head -n 1)"; \
	done; \
	if [ $$python = - ]; then printf '%b\n' "Caboose needs Python 3.11 or newer and a C compiler. Tried:$$tried"; exit 1; fi; \
	same="sys; print(sys.version, sys.base_prefix)"; \
	if [ "$$($(BIN)/python -c "import pip, $$same" 2>/dev/null)" != "$$($$python -c "import $$same")" ]; then \
	    echo "Making $(VENV) with $$($$python --version) ($$python)"; \
	    $$python -m venv --clear $(VENV) || exit 1; \
	fi
	@echo "Installing what is needed into $(VENV) and building: a minute or two"
	@$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'], sep='\n')" \
	    > $(VENV)/build-requires.txt
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -r $(VENV)/build-requires.txt
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-build-isolation -e '.[$(EXTRAS)]'
	@rm -f $(VENV)/ready* && touch $@
