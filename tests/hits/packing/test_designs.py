"""The two designs of the paper, and designs from files, good and bad."""

import json

import pytest

from core.errors import CounterpartError
from hits.packing.designs import Design, load_design

GOOD = {"name": "small", "candidates": 4, "positives": 1, "negatives": 2}


def written(tmp_path, content):
    path = tmp_path / "design.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize(("name", "candidates", "size"), [("eccv-18", 16, 18), ("eccv-20", 18, 20)])
def test_the_papers_designs_have_one_control_of_each_kind(name, candidates, size):
    design = load_design(name)
    assert (design.candidates, design.positives, design.negatives, design.size) == (candidates, 1, 1, size)


def test_a_file_describes_a_design(tmp_path):
    assert load_design(written(tmp_path, GOOD)) == Design("small", 4, 1, 2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"name": "cut', "is not valid JSON"),
        ([1, 2], "name, candidates, positives, negatives"),
        ({"name": "small", "candidates": 4}, "of exactly"),
        ({**GOOD, "name": " "}, "needs a name"),
        ({**GOOD, "candidates": -1}, "numbers from 0 for candidates"),
        ({**GOOD, "positives": 1.5, "negatives": True}, "for positives, negatives"),
        ({**GOOD, "positives": 0, "negatives": 0}, "at least 1 candidate"),
        ({**GOOD, "candidates": 5000}, "5003 pairs in a HIT"),
    ],
)
def test_a_file_that_describes_no_hit_is_refused(tmp_path, content, message):
    with pytest.raises(CounterpartError, match=message):
        load_design(written(tmp_path, content))


def test_a_folder_is_not_a_design(tmp_path):
    with pytest.raises(CounterpartError, match="cannot be read"):
        load_design(tmp_path)
