"""Configs of trials whose variables stand for what they stand in themselves."""

import pytest

from lab.trials.sweep import plan_sweep
from lab.trials.trial import Trial, load_trial_config
from tests.test_expansion import ENDLESS, PIPELINE


def make_trial(folder, text, **overrides):
    for split in ("train", "dev"):
        path = folder / "corpus" / "toy" / f"{split}.spacy"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (folder / "configs").mkdir(exist_ok=True)
    (folder / "configs" / "base.cfg").write_text(PIPELINE + text, encoding="utf8")
    overrides = {"nlp.lang": "en", **overrides}
    return Trial(dataset="toy", embedder="base", root=folder, overrides=overrides)


@pytest.mark.parametrize(("text", "message"), ENDLESS)
def test_a_sweep_refuses_such_configs(tmp_path, text, message):
    trial = make_trial(tmp_path, text)
    with pytest.raises(ValueError, match=f"base.cfg' should be .* {message}"):
        plan_sweep([trial])


def test_settings_that_are_changed_are_checked(tmp_path):
    trial = make_trial(tmp_path, "", **{"nlp.after_creation": "${nlp}"})
    with pytest.raises(ValueError, match=r"base.cfg' .* puts a section into itself"):
        load_trial_config(trial)
