PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
GPU_PYTHON ?= 3.12

# One process per core, with one thread each.
PYTEST = OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses auto --dist worksteal
COMPUTING = tests/kernels tests/layers tests/architectures tests/papers tests/components \
	tests/acceleration tests/test_contract.py tests/test_pipelines.py
KERNELS = $(wildcard spacy_hashembeds/kernels/*.h spacy_hashembeds/kernels/*.pyx)

# All benchmarks except gpu and scale.
BENCHMARKS = published accelerate embedding hashformers pipeline textcat memory

.PHONY: demo test test-lab test-numpy test-torch test-all coverage lint hooks docs bench \
	sdist wheels release gpu-wheels fuzz

demo: $(VENV)/installed
	$(BIN)/spacy project run demo

test: $(VENV)/ready
	$(PYTEST) $(FLAGS)

test-lab: $(VENV)/ready
	$(PYTEST) lab/tests benchmarks/tests $(FLAGS)

# Tests of computation, without compiled kernels.
test-numpy: $(VENV)/ready
	SPACY_HASHEMBEDS_COMPILED=0 $(PYTEST) $(COMPUTING) $(FLAGS)

# Install PyTorch, and run the tests that need it. See CONTRIBUTING.md for builds.
test-torch: $(VENV)/torch-ready
	$(PYTEST) tests lab/tests benchmarks/tests -m torch $(FLAGS)

# Coverage of the package and the lab by all suites. pyproject.toml has the minimum.
coverage: $(VENV)/ready
	$(PYTEST) tests lab/tests benchmarks/tests --cov $(FLAGS)

test-all: $(BIN)/nox
	$(BIN)/nox

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

# Lint changes before each commit.
hooks: $(VENV)/ready
	$(BIN)/pip install --quiet --constraint constraints.txt pre-commit pre-commit-hooks
	$(BIN)/pre-commit install

# Build the site in site/. Warnings, such as for broken links, are errors.
docs: $(VENV)/docs-ready
	$(BIN)/pytest --quiet tests/test_website.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/ready
	-for name in $(BENCHMARKS); do $(BIN)/python -m benchmarks $$name; done
	$(BIN)/python -m benchmarks.page

sdist: $(BIN)/nox
	$(BIN)/nox --session sdist $(FLAGS)

# Wheels with compiled kernels for each installed Python. Install one:
# pip install --find-links dist spacy-hashembeds
wheels: $(BIN)/nox
	$(BIN)/nox --session wheels $(FLAGS)

# Everything except the upload. See CONTRIBUTING.md.
release:
	.ci/release

# Wheels for benchmarks/gpu.sh, for a GPU machine with numpy and without a network.
gpu-wheels: $(VENV)/ready
	rm -rf build/lib build/gpu-wheels
	SPACY_HASHEMBEDS_COMPILED=0 \
		$(BIN)/pip wheel --quiet --no-deps --wheel-dir build/gpu-wheels .
	$(BIN)/pip download --quiet --constraint constraints.txt --dest build/gpu-wheels \
		--only-binary :all: --python-version $(GPU_PYTHON) \
		--platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 \
		build/gpu-wheels/spacy_hashembeds-*.whl hypothesis pytest-xdist
	rm build/gpu-wheels/numpy-*.whl
	du -sh build/gpu-wheels

# Fuzz files, differently in each run. With SEED=1, runs are equal.
fuzz: $(VENV)/ready
	$(PYTEST) tests/fuzz --hypothesis-profile weekly \
		$(if $(SEED),--hypothesis-seed $(SEED)) $(FLAGS)

# Install build requirements first: build isolation would install Thinc twice.
$(VENV)/installed: setup.cfg setup.py pyproject.toml constraints.txt $(KERNELS)
	@echo "Installing spaCy and this package into $(VENV): 330 MB, up to a minute"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt cython setuptools thinc
	$(BIN)/pip install --quiet --constraint constraints.txt --no-build-isolation --editable .
	touch $@

$(VENV)/ready: $(VENV)/installed
	@echo "Installing requirements of tests into $(VENV): the extra test of setup.cfg, 700 MB"
	$(BIN)/pip install --quiet --constraint constraints.txt 'spacy-hashembeds[test]'
	touch $@

$(VENV)/torch-ready: $(VENV)/ready
	@echo "Installing PyTorch into $(VENV). See CONTRIBUTING.md for its CPU build"
	$(BIN)/pip install --quiet --constraint constraints.txt torch
	touch $@

$(VENV)/docs-ready: $(VENV)/ready
	$(BIN)/pip install --quiet --constraint constraints.txt 'spacy-hashembeds[docs]'
	touch $@

$(BIN)/nox: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt nox
	touch $@
