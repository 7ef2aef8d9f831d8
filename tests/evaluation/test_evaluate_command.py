import csv
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from dataset.release import release_version
from tests.factories import make_collection, make_sample

pytestmark = pytest.mark.django_db


@pytest.fixture
def evaluate(tmp_path):
    """Scores a model that is right on caption → image and knows one caption of image 1's two."""
    zoo = make_collection(images=2, captions_each=2)
    release_version("v1", collection=zoo, sample=make_sample(zoo), merge="original")
    path = tmp_path / "model_a.json"
    path.write_text(json.dumps({"i2t": {"0": [0, 1], "1": [2]}, "t2i": {str(c): [c // 2] for c in range(4)}}))

    def evaluate(*arguments: str) -> str:
        out = StringIO()
        call_command("evaluate", "--version", "v1", "--rankings", str(path), *arguments, stdout=out)
        return out.getvalue()

    return evaluate


def test_the_table_has_percentages_and_says_where_lists_were_short(evaluate):
    head, row, note = evaluate().splitlines()
    assert head.split() == [
        "i2t",
        "R@1",
        "i2t",
        "R-Precision",
        "i2t",
        "mAP@R",
        "t2i",
        "R@1",
        "t2i",
        "R-Precision",
        "t2i",
        "mAP@R",
    ]
    assert row.split() == ["model_a", "100.0", "75.0", "75.0", "100.0", "100.0", "100.0"]
    assert note.startswith("model_a i2t: 1 queries have more positives than entries in their list")


def test_csv_can_be_read_again(evaluate):
    (row,) = csv.DictReader(StringIO(evaluate("--csv")))
    assert (row["model"], row["i2t mAP@R"]) == ("model_a", "75.0")


def test_latex_escapes_names(evaluate):
    assert r"model\_a & 100.0 & 75.0 & 75.0 & 100.0 & 100.0 & 100.0 \\" in evaluate("--latex")


def test_json_has_figures_in_full(evaluate):
    figures = json.loads(evaluate("--json"))["model_a"]
    assert figures["i2t"] == {"R@1": 1.0, "R-Precision": 0.75, "mAP@R": 0.75, "queries": 2, "lists_shorter_than_r": 1}


def test_an_unknown_version_is_refused_with_the_known_ones(db):
    with pytest.raises(CommandError, match="There is no version 'v9'; there is none yet"):
        call_command("evaluate", "--version", "v9")
