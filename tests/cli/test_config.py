import subprocess
import sys
from pathlib import Path
from shlex import split

import pytest
import spacy
from spacy.cli._util import app
from spacy.util import load_config
from typer.testing import CliRunner, Result

import spacy_hashembeds.cli  # noqa: F401
from spacy_hashembeds.configuration.configure import configure
from spacy_hashembeds.symbols import load_symbols

from ..configs import CONFIGS
from ..configuration import toy_configs as toys


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(app, ["hashembeds", "config", *map(str, args)])


def squeeze(text: str) -> str:
    """Long messages are wrapped."""
    return " ".join(text.split())


@pytest.fixture
def base(tmp_path) -> Path:
    return toys.write_base(tmp_path / "base.cfg", ["ner"])


def test_the_config_is_written_and_each_change_named(base, tmp_path):
    train = toys.write_corpus(tmp_path / "train.spacy")
    output = tmp_path / "made" / "new.cfg"
    result = run(base, "-o", output, "-e", "multi_embed", "--train", train, "--scorer")
    assert result.exit_code == 0, result.output
    made = configure(base, embedder="multi_embed", train=train, scorer=True)
    assert output.read_text(encoding="utf8") == made.text
    shown = squeeze(result.stdout)
    assert '[components.ner.scorer] @scorers = "spacy-hashembeds.' in shown
    assert '[nlp.after_pipeline_creation] @callbacks = "spacy-hashembeds.' in shown
    assert all(change.place in shown for change in made.changes)
    assert not any(change.why in shown for change in made.changes)
    assert result.stderr == ""


def test_the_reasons_are_shown_when_asked_for(base, tmp_path):
    result = run(base, "-o", tmp_path / "new.cfg", "-e", "multi_embed", "--why")
    changes = configure(base, embedder="multi_embed").changes
    for change in changes:
        assert f"{change.place}: {change.why}" in squeeze(result.stdout)


def test_what_is_declined_is_left(base, tmp_path):
    result = run(base, "-o", tmp_path / "new.cfg", "--no-encoder", "--no-blas")
    assert result.exit_code == 0, result.output
    written = (tmp_path / "new.cfg").read_text()
    assert written == configure(base, encoder=False, blas=False).text


def find_commands(result: Result) -> list[list[str]]:
    lines = result.stdout.splitlines()
    return [split(line) for line in lines if line.startswith("spacy ")]


def test_what_to_do_next_can_be_pasted(base, tmp_path):
    output = tmp_path / "my new.cfg"
    train = toys.write_corpus(tmp_path / "train.spacy")
    training, evaluation = find_commands(run(base, "-o", output, "-t", train))
    folder = "training/my new"
    assert training[:5] == ["spacy", "train", str(output), "--output", folder]
    assert training[5:7] == ["--paths.train", str(train)]
    assert training[7:] == ["--paths.dev", "dev.spacy"]
    assert evaluation[:3] == ["spacy", "hashembeds", "evaluate"]
    assert evaluation[3:5] == [f"{folder}/model-best", "test.spacy"]
    assert evaluation[5:] == ["--train", str(train)]
    (code := tmp_path / "code.py").touch()
    again = find_commands(run(base, "-o", output, "-t", train, "-F", "-c", code))
    more = ["--code", str(code)]
    assert again == [[*training, *more], [*evaluation, *more]]


def test_splits_beside_the_training_corpus_are_found(base, tmp_path):
    train = toys.write_corpus(tmp_path / "train.spacy")
    dev, test = (toys.write_corpus(tmp_path / f"{s}.spacy") for s in ("dev", "test"))
    commands = find_commands(run(base, "-o", tmp_path / "new.cfg", "-t", train))
    assert commands[0][-2:] == ["--paths.dev", str(dev)]
    assert commands[1][4] == str(test)
    # and `spacy train` needs neither of them
    paths = load_config(tmp_path / "new.cfg")["paths"]
    assert (paths["train"], paths["dev"]) == (str(train), str(dev))
    toys.edit_base(base, ("dev = null", 'dev = "mine.spacy"'))
    run(base, "-o", tmp_path / "new.cfg", "-t", train, "--force")
    assert load_config(tmp_path / "new.cfg")["paths"]["dev"] == "mine.spacy"


@pytest.mark.parametrize("option", ["--train", "--raw", "--vectors"])
def test_a_variable_is_no_name(base, tmp_path, option):
    result = run(base, "-o", tmp_path / "new.cfg", option, "a${paths.dev}.spacy")
    assert result.exit_code == 1
    expected = f"'{option[2:]}' should be a name that a config can hold, but is 'a${{pa"
    assert expected in squeeze(result.stderr)
    raw = tmp_path / "raw.txt"
    raw.write_text("a")
    result = run(base, "-o", tmp_path / "${nlp.lang}.cfg", "--raw", raw)
    assert "'output' should be a name that a config can" in squeeze(result.stderr)


def test_what_has_no_entities_is_evaluated_by_spacy(tmp_path):
    base = toys.write_base(tmp_path / "base.cfg", ["tagger"])
    toys.edit_base(base, ("dev = null", 'dev = "mine.spacy"'))
    train, evaluate = find_commands(run(base, "-o", tmp_path / "new.cfg"))
    paths = ["--paths.train", "train.spacy", "--paths.dev", "mine.spacy"]
    assert train[-4:] == paths
    assert evaluate == ["spacy", "evaluate", "training/new/model-best", "test.spacy"]


def test_categories_are_evaluated_by_us(tmp_path):
    base = toys.write_base(tmp_path / "base.cfg", ["textcat"], optimize="accuracy")
    _, evaluate = find_commands(run(base, "-o", tmp_path / "new.cfg"))
    assert evaluate[:3] == ["spacy", "hashembeds", "evaluate"]
    assert "--train" not in evaluate


def test_vectors_that_are_missing_are_asked_for(base, tmp_path):
    text = "include_static_vectors = "
    toys.edit_base(base, (f"{text}false", f"{text}true"))
    result = run(base, "-o", tmp_path / "new.cfg", "--quiet")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "include_static_vectors is true, but" in squeeze(result.stderr)
    assert "--paths.vectors VECTORS" in run(base, "-o", "-").stderr


def test_weights_of_a_pipeline_are_said_to_stay_behind(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    nlp.to_disk(tmp_path / "model")
    result = run(tmp_path / "model", "-o", tmp_path / "new.cfg")
    assert result.exit_code == 0, result.output
    assert "Training starts anew: the weights in" in squeeze(result.stdout)
    config = load_config(tmp_path / "new.cfg")
    embed = config["components"]["tok2vec"]["model"]["embed"]
    assert embed["@architectures"] == toys.LOOKUP


def test_symbols_of_raw_texts_are_saved_beside_the_config(base, tmp_path):
    raw, output = tmp_path / "raw.txt", tmp_path / "new.cfg"
    raw.write_text("\n".join(f"Anna sees the small dog {i}" for i in range(20)))
    result = run(base, "-o", output, "--raw", raw)
    assert result.exit_code == 0, result.output
    embed = load_config(output)["components"]["tok2vec"]["model"]["embed"]
    assert embed["tables"] == str(tmp_path / "new.npz")
    assert load_symbols(tmp_path / "new.npz").min_freq == 2
    assert find_commands(result)[0] == [
        "spacy",
        "pretrain",
        str(output),
        "pretrained/new",
    ]
    output.unlink()
    refused = run(base, "-o", output, "--raw", raw)
    assert "new.npz' is there already" in squeeze(refused.stderr)
    assert not output.exists()
    same = tmp_path / "config.npz"
    refused = run(base, "-o", same, "--raw", raw)
    assert "would replace another file that is to be written" in squeeze(refused.stderr)
    assert not same.exists()
    refused = run(base, "-o", "-", "--raw", raw)
    assert "can't go to standard output then" in squeeze(refused.stderr)


def test_what_is_read_is_never_replaced(base, tmp_path):
    raw = tmp_path / "raw.txt"
    raw.write_text("\n".join(f"Anna sees the small dog {i}" for i in range(20)))
    before = raw.read_text()
    result = run(base, "-o", raw, "--raw", raw, "--force")
    assert result.exit_code == 1
    assert "is read" in squeeze(result.stderr)
    (tmp_path / "texts").mkdir()
    shard = toys.write_corpus(tmp_path / "texts" / "a.spacy")
    result = run(base, "-o", shard, "--raw", tmp_path / "texts", "--force")
    assert result.exit_code == 1
    vectors = toys.write_vectors(tmp_path / "vectors")
    output = vectors / "new.cfg"
    assert run(base, "-o", output, "--vectors", vectors).exit_code == 1
    assert raw.read_text() == before
    assert not output.exists()


def test_a_file_is_replaced_only_by_force(base):
    old = base.read_text()
    refused = run(base, "-o", base)
    assert refused.exit_code == 1
    assert "is the config to start from" in squeeze(refused.stderr)
    assert base.read_text() == old
    assert run(base, "-o", base, "--force").exit_code == 0
    again = run(base, "-o", base, "-F")
    assert "There was nothing to change." in again.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["gone.cfg"], "There is no config, no folder and no package 'gone.cfg'"),
        (["multi_embed"], "no package 'multi_embed'. Give a .cfg file, as `spacy init"),
        (["{base}", "-e", "bert"], "There is no embedder 'bert' to put in"),
        (["{base}", "-t", "gone.spacy"], "There is no file or folder 'gone.spacy'"),
        (["{base}", "-t", "{base}"], "should be a .spacy file"),
        (["{tmp}/text.cfg"], "should be a spaCy config"),
        (["loop"], "'loop' should be a .cfg file, but is a link that leads nowhere"),
        ([""], "'base' should name a config, but is empty"),
    ],
)
def test_errors_are_told_without_a_traceback(
    base, tmp_path, monkeypatch, args, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "text.cfg").write_text("x" * 10**6)
    arguments = (arg.format(base=base, tmp=tmp_path) for arg in args)
    result = run(*arguments, "-o", tmp_path / "new.cfg")
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "Can't write the config" in result.stderr
    assert message in squeeze(result.stderr)
    assert len(result.stderr) < 3000
    assert not (tmp_path / "new.cfg").exists()


def test_a_config_that_has_all_of_it_stays_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    base = CONFIGS / "multi_embed.cfg"
    result = run(base, "-o", "mine.cfg", "--embedder", "multi_embed")
    assert result.exit_code == 0, result.output
    embed = load_config("mine.cfg")["components"]["tok2vec"]["model"]["embed"]
    assert embed["@architectures"] == "spacy-hashembeds.MultiEmbed.v1"
    assert load_config("mine.cfg") == load_config(base)


def test_a_config_is_read_from_standard_input(tmp_path):
    """In a process that has met no pipeline, whose factories were not loaded yet."""
    base, output = tmp_path / "base.cfg", tmp_path / "new.cfg"
    component = '[components.token_ner]\nfactory = "token_ner"\n'
    base.write_text(
        f'[nlp]\nlang = "en"\npipeline = ["token_ner"]\n[components]\n{component}'
    )
    command = [sys.executable, "-m", "spacy", "hashembeds", "config", "-", "-o", output]
    subprocess.run(command, input=base.read_bytes(), check=True, capture_output=True)
    text = output.read_text()
    assert "[components.token_ner.model.tok2vec.embed]" in text
    assert text == configure(base).text
