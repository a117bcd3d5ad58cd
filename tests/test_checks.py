import pytest

from spacy_hashembeds.checks import check_choice
from spacy_hashembeds.inputs import check_attributes


@pytest.mark.parametrize("shape", [68, "68", "SHAPE", "shape"])
def test_attributes_have_names_and_ids(shape):
    # spaCy 3.8.7 hands over the IDs of a config as text
    assert check_attributes(["NORM", shape]) == ["NORM", "SHAPE"]


@pytest.mark.parametrize("attr", [987654, "987654", "-68", "6 8", "²", "", True, 68.5])
def test_what_is_no_attribute_is_named(attr):
    with pytest.raises(ValueError, match=f"'attrs' holds {attr!r}, which is no token"):
        check_attributes(["NORM", attr])


def test_a_choice_that_is_very_long_is_cut_short():
    with pytest.raises(ValueError, match=r"'form'.*'a' or 'b', but is 'xxx") as e:
        check_choice(("a", "b"), form="x" * 10_000)
    assert len(str(e.value)) < 200
