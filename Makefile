PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SEED ?= 0

.PHONY: demo test test-all lint bench fuzz

demo: $(VENV)/ready
	$(BIN)/spacy project run demo

# A process for each core, so one thread for each: more would wait for each other.
test: $(VENV)/ready
	OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses auto --dist worksteal

test-all: $(BIN)/nox
	$(BIN)/nox

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/ready
	$(BIN)/python -m benchmarks.accelerate
	$(BIN)/python -m benchmarks.embedding
	$(BIN)/python -m benchmarks.weights
	$(BIN)/python -m benchmarks.hashformers
	$(BIN)/python -m benchmarks.pipeline
	$(BIN)/python -m benchmarks.recognizers
	-$(BIN)/python -m benchmarks.encoders
	-$(BIN)/python -m benchmarks.textcat
	$(BIN)/python -m benchmarks.growth
	$(BIN)/python -m benchmarks.page

fuzz: $(VENV)/ready
	$(BIN)/python -m fuzz --seed $(SEED) --output benchmarks/results/fuzz.json \
		--page docs/reliability.md

$(VENV)/ready: setup.cfg constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[test]'
	touch $@

$(BIN)/nox: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt nox
	touch $@
