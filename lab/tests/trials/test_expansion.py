"""Configs of trials whose variables stand for more than anybody could write out."""

import pytest

from lab.trials.sweep import plan_sweep
from lab.trials.trial import Trial, load_trial_config
from tests.test_expansion import N_LEVELS, PIPELINE, nest_sections, nest_values


def make_trial(folder, text, **overrides):
    for split in ("train", "dev"):
        path = folder / "corpus" / "toy" / f"{split}.spacy"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (folder / "configs").mkdir(exist_ok=True)
    (folder / "configs" / "base.cfg").write_text(PIPELINE + text, encoding="utf8")
    overrides = {"nlp.lang": "en", **overrides}
    return Trial(dataset="toy", embedder="base", root=folder, overrides=overrides)


@pytest.mark.parametrize("nest", [nest_values, nest_sections])
def test_a_sweep_refuses_such_configs(tmp_path, nest):
    trial = make_trial(tmp_path, nest(N_LEVELS))
    with pytest.raises(ValueError, match=r"variables stand for more than 5,000 values"):
        plan_sweep([trial])


def test_settings_that_are_changed_are_counted(tmp_path):
    text = nest_values(3)
    load_trial_config(make_trial(tmp_path, text))
    trial = make_trial(tmp_path, text, **{"nlp.after_creation": "${x.a3}" * 10})
    with pytest.raises(ValueError, match=r"base.cfg' .* at \[nlp\] after_creation"):
        load_trial_config(trial)
