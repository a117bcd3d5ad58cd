PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
GPU_PYTHON ?= 3.12

# A process for each core, so one thread for each: more would wait for each other.
PYTEST = OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses auto --dist worksteal
COMPUTING = tests/kernels tests/layers tests/architectures tests/papers tests/components \
	tests/acceleration tests/test_contract.py tests/test_pipelines.py
KERNELS = $(wildcard spacy_hashembeds/kernels/*.h spacy_hashembeds/kernels/*.pyx)

# All but those of a GPU, of pipelines that the lab has trained, and of recipes.
BENCHMARKS = published accelerate embedding hashformers pipeline textcat memory

.PHONY: demo test test-lab test-numpy test-torch test-all coverage lint hooks docs bench \
	sdist wheels release gpu-wheels fuzz

demo: $(VENV)/installed
	$(BIN)/spacy project run demo

test: $(VENV)/ready
	$(PYTEST) $(FLAGS)

test-lab: $(VENV)/ready
	$(PYTEST) lab/tests benchmarks/tests $(FLAGS)

# The package's without compiled kernels: those of folders that compute.
test-numpy: $(VENV)/ready
	SPACY_HASHEMBEDS_COMPILED=0 $(PYTEST) $(COMPUTING) $(FLAGS)

# Those that need PyTorch, which it installs: CONTRIBUTING.md says which build.
test-torch: $(VENV)/torch-ready
	$(PYTEST) tests lab/tests benchmarks/tests -m torch $(FLAGS)

# All suites, and how much of the package and the lab they run: pyproject.toml has the floor.
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

# Before each commit, lint what changed.
hooks: $(VENV)/ready
	$(BIN)/pip install --quiet --constraint constraints.txt pre-commit pre-commit-hooks
	$(BIN)/pre-commit install

# The site, in site/: a warning, such as of a link that leads nowhere, is an error.
docs: $(VENV)/docs-ready
	$(BIN)/pytest --quiet tests/test_website.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/ready
	-for name in $(BENCHMARKS); do $(BIN)/python -m benchmarks $$name; done
	$(BIN)/python -m benchmarks.page

sdist: $(BIN)/nox
	$(BIN)/nox --session sdist $(FLAGS)

# For each Python that is there, with compiled kernels. Pip chooses among them:
# pip install --find-links dist spacy-hashembeds
wheels: $(BIN)/nox
	$(BIN)/nox --session wheels $(FLAGS)

# All but the upload: CONTRIBUTING.md says what comes before and after.
release:
	.ci/release

# What benchmarks/gpu.sh installs, for a machine that has a GPU, numpy and no network.
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

# Damages files, in other ways each time: SEED=1 draws the same each time.
fuzz: $(VENV)/ready
	$(PYTEST) tests/fuzz --hypothesis-profile weekly \
		$(if $(SEED),--hypothesis-seed $(SEED)) $(FLAGS)

# What builds it comes first: in an environment of its own, pip would install Thinc twice.
$(VENV)/installed: setup.cfg setup.py pyproject.toml constraints.txt $(KERNELS)
	@echo "Installing spaCy and this package into $(VENV): 330 MB, up to a minute"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt cython setuptools thinc
	$(BIN)/pip install --quiet --constraint constraints.txt --no-build-isolation --editable .
	touch $@

$(VENV)/ready: $(VENV)/installed
	@echo "Installing what tests need into $(VENV): the extra test of setup.cfg, 700 MB"
	$(BIN)/pip install --quiet --constraint constraints.txt 'spacy-hashembeds[test]'
	touch $@

$(VENV)/torch-ready: $(VENV)/ready
	@echo "Installing PyTorch into $(VENV): CONTRIBUTING.md says how to have its CPU build"
	$(BIN)/pip install --quiet --constraint constraints.txt torch
	touch $@

$(VENV)/docs-ready: $(VENV)/ready
	$(BIN)/pip install --quiet --constraint constraints.txt 'spacy-hashembeds[docs]'
	touch $@

$(BIN)/nox: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt nox
	touch $@
