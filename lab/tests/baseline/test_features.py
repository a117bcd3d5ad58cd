from lab.baseline.features import EDGE, list_features, list_flags, shape_word

#: Of "Oslo" in "In Oslo !".
OSLO = f"""
bias
0:word=Oslo 0:shape=Xxxx 0:short=Xx 0:title
0:prefix1=O 0:prefix2=Os 0:prefix3=Osl 0:prefix4=Oslo
0:suffix1=o 0:suffix2=lo 0:suffix3=slo 0:suffix4=Oslo
-2:lower={EDGE} -1:lower=in 0:lower=oslo 1:lower=! 2:lower={EDGE}
-2:short=<x> -1:short=Xx 1:short=! 2:short=<x>
-1:shape=Xx 1:shape=! -1:suffix3=in 1:suffix3=!
-2,-1:lower={EDGE}|in -1,0:lower=in|oslo 0,1:lower=oslo|! 1,2:lower=!|{EDGE}
-1,0:short=Xx|Xx 0,1:short=Xx|! -1..1:short=Xx|Xx|!
-1:lower,0:short=in|Xx 0:short,1:lower=Xx|! 0:suffix3,short=slo|Xx
"""


def test_features_of_a_token_are_those_of_its_window():
    first, middle, last = list_features(["In", "Oslo", "!"])
    assert sorted(middle) == sorted(OSLO.split())
    assert {"0:word=In", "0:suffix2=In", "1:lower=oslo", "2:lower=!"} <= set(first)
    assert f"-1,0:lower={EDGE}|in" in first
    # no affix is longer than the word
    assert not [feature for feature in first if "fix3=In" in feature]
    assert {"0:punctuation", "-1:lower=oslo", f"1:lower={EDGE}"} <= set(last)
    assert list_features([]) == []


def test_a_shape_keeps_what_is_neither_letter_nor_digit():
    assert shape_word("McDonald's-2nd") == "XxXxxxxx'x-dxx"
    assert shape_word("ÅÉ東") == "XXx"


def test_flags_say_what_a_word_is_made_of():
    assert list_flags("1987") == ["digits", "has_digit"]
    assert list_flags("B-52") == ["has_digit", "title", "upper", "hyphen"]
    assert list_flags("iPhone") == ["inner_upper"]
    assert list_flags("NATO") == ["upper", "inner_upper"]
    assert list_flags("--") == ["punctuation", "hyphen"]
