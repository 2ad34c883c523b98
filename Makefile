# `make train` and `make test` are all that a fresh clone needs; each builds its prerequisites.
# Paths are relative and programs are run as modules, so that a clone works at any path.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
# The last TensorFlow with an Estimator of its own, to be measured against.
ORIGINAL := .venv-original
# The last TensorFlow 1, and Keras 3 on JAX.
TF1 := .venv-tf1
JAX := .venv-jax
PYTHON37 ?= python3.7

# Two processes at least, since each has to load TensorFlow; a file's tests stay in one of them.
PYTEST := $(RUN) -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

.PHONY: help train test test-all test-contrib test-fast tests-of seconds lint docs release matrix bench parity differential clean
.DELETE_ON_ERROR:
.NOTPARALLEL:

help:
	@echo 'make train         train the digit classifier, on a TPU or on 8 emulated cores'
	@echo 'make test          linters, type checker and the tests of the core, in ten minutes'
	@echo 'make test-all      all tests: also tf.contrib, models, recorded values, faults, compilers'
	@echo 'make test-contrib  the tests of tf.contrib, which test-all leaves out if nothing changed'
	@echo 'make test-fast     the quick tests of every package, in two minutes'
	@echo 'make tests-of      names the tests that cover a file: FILE=estimator_bridge/data/rows.py'
	@echo 'make lint          linters and type checker alone'
	@echo 'make docs          build the documentation site into site/'
	@echo 'make release       build and check the sdist and the wheel'
	@echo 'make matrix        test each TensorFlow with its lowest and its highest Python'
	@echo 'make bench         measure ten programs beside TensorFlow 2.15 and 1.15, Keras, JAX and loops by hand'
	@echo 'make parity        compare programs number by number with TensorFlow 2.15'
	@echo 'make differential  compare hundreds of small behaviors with TensorFlow 2.15'
	@echo 'make clean         remove the virtual environment, caches and build folders'
	@echo 'PYTHON=python3.12 picks the Python of a new $(VENV)'
train: $(VENV)/with-models
	@echo '== Training'
	@$(RUN) train.py --use_tpu

test: lint
	@echo '== Tests of the core'
	@$(PYTEST) -q @tests/selections/core.txt

test-all: lint
	@if $(RUN) -m tooling.contrib_state; then \
	  echo '== All tests, without those of tf.contrib: they passed on the same files'; \
	  $(PYTEST) --ignore=tests/contrib; \
	else echo '== All tests'; $(PYTEST); fi

# Records that they passed, for `make test-all`.
test-contrib: $(VENV)/with-tests
	@echo '== Tests of tf.contrib'
	@$(PYTEST) -q tests/contrib
	@$(RUN) -m tooling.contrib_state --passed

test-fast: $(VENV)/with-tests
	@$(PYTEST) -q @tests/selections/fast.txt

tests-of: $(VENV)/with-tests
	@$(RUN) -m tooling.tests_of $(FILE)

# After a change of tests' durations: records them, and writes the selections anew.
seconds: $(VENV)/with-tests
	@$(PYTEST) -q -p tooling.selections.recorder --record-seconds tests/selections/seconds.json
	@$(RUN) -m tooling.selections

lint: $(VENV)/with-tests
	@echo '== Linters'
	@$(RUN) -m ruff check --quiet .
	@$(RUN) -m ruff format --check --quiet .
	@$(RUN) -m tooling.house
	@if $(RUN) -c 'import sys; sys.exit(sys.version_info < (3, 10))'; \
	  then echo '== Type checker'; $(RUN) -m mypy; \
	  else echo '== No type checker: mypy has no release for Python 3.9'; fi

# mkdocs and build have a stamp of their own: tests need neither.
docs: $(VENV)/with-docs
	@echo '== Documentation, into site/'
	@NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --quiet

release: $(VENV)/with-release
	@echo '== Release'
	@$(RUN) -m tooling.release

# Continues where it stopped; MATRIX='--only 2.16:3.9' runs one pair.
matrix:
	@echo '== Each TensorFlow with its lowest and its highest Python, into docs/versions.md'
	@$(PYTHON) -m tooling.matrix $(MATRIX)

bench: $(VENV)/with-models $(ORIGINAL)/with-tensorflow $(JAX)/with-keras
	@$(MAKE) --no-print-directory $(TF1)/with-tensorflow || \
	  echo '== Without the columns of TensorFlow 1.15.5'
	@echo '== Benchmarks, against TensorFlow 2.15, 1.15.5 and JAX (BENCH=--quick for minutes)'
	@$(RUN) -m benchmarks --original $(ORIGINAL)/bin/python --jax $(JAX)/bin/python \
	  $$(test ! -e $(TF1)/with-tensorflow || echo --tf1 $(TF1)/bin/python) $(BENCH)
	@echo '== Benchmark of emulated cores'
	@$(RUN) -m benchmarks.emulation_price

parity: $(VENV)/with-models $(ORIGINAL)/with-tensorflow
	@echo '== The same programs under TensorFlow 2.15 and here'
	@$(RUN) -m parity.compare --original $(ORIGINAL)/bin/python --report

differential: $(VENV)/with-models $(ORIGINAL)/with-tensorflow
	@echo '== Small behaviors under TensorFlow 2.15 and here'
	@$(RUN) -m parity.differential --original $(ORIGINAL)/bin/python --report

# A stamp for each set of extras: newer than setup.py means that they are installed.
$(VENV)/with-models: EXTRAS := models
$(VENV)/with-tests: EXTRAS := models,tests,docs
$(VENV)/with-docs: EXTRAS := docs
$(VENV)/with-release: EXTRAS := release

$(VENV)/with-models $(VENV)/with-tests $(VENV)/with-docs $(VENV)/with-release: setup.py | $(RUN)
	@echo '== Installing [$(EXTRAS)] into $(VENV) (TensorFlow is about 2 GB; once)'
	@$(RUN) -m pip install -qq --disable-pip-version-check --editable '.[$(EXTRAS)]'
	@touch $@

$(ORIGINAL)/with-tensorflow:
	@echo '== Installing TensorFlow 2.15 into $(ORIGINAL) (once; needs Python 3.9 to 3.11)'
	@$(PYTHON) -m venv $(ORIGINAL)
	@$(ORIGINAL)/bin/python -m pip install -qq --disable-pip-version-check 'tensorflow-cpu==2.15.1'
	@touch $@

# TensorFlow 1.15.5 has wheels for Python 3.7 at most. Its protobuf and NumPy are of that time.
$(TF1)/with-tensorflow:
	@$(PYTHON37) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 7))' 2>/dev/null || { \
	  echo '== $(PYTHON37) is no Python 3.7, which TensorFlow 1.15.5 needs. Install one and name' \
	  'it: make bench PYTHON37=/path/to/python3.7'; exit 1; }
	@echo '== Installing TensorFlow 1.15.5 into $(TF1) (once)'
	@$(PYTHON37) -m venv $(TF1)
	@$(TF1)/bin/python -m pip install -qq --disable-pip-version-check \
	  'tensorflow==1.15.5' 'protobuf<3.21' 'numpy<1.19' 'h5py==2.10.0'
	@touch $@

$(JAX)/with-keras:
	@echo '== Installing Keras 3 and JAX into $(JAX) (once)'
	@$(PYTHON) -m venv $(JAX)
	@$(JAX)/bin/python -m pip install -qq --disable-pip-version-check 'keras>=3' jax
	@touch $@

$(RUN):
	@echo '== Making $(VENV) with $(PYTHON)'
	@$(PYTHON) -c 'import sys; (3, 9) <= sys.version_info < (3, 14) or sys.exit( \
	  "$(PYTHON) is Python %d.%d; TensorFlow 2.16 to 2.21 needs 3.9 to 3.13. " \
	  "Name one: make $(MAKECMDGOALS) PYTHON=python3.12" % sys.version_info[:2])'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

clean:
	rm -rf $(VENV) $(ORIGINAL) $(TF1) $(JAX) build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
