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


def test_the_tables_have_averages_first_and_say_where_lists_were_short(evaluate):
    *tables, note = evaluate().splitlines()
    assert tables[::4] == ["average of both", "image → captions", "caption → images"]
    assert {tuple(head.split()) for head in tables[1::4]} == {("model", "mAP@R", "R-Precision", "R@1", "R@5", "R@10")}
    averages, i2t, t2i = ["87.5", "87.5", *["100.0"] * 3], ["75.0", "75.0", *["100.0"] * 3], ["100.0"] * 5
    rows = [row.replace("*", "").split() for row in tables[2::4]]
    assert rows == [["model_a", *cells] for cells in (averages, i2t, t2i)]
    assert note.startswith(
        "model_a image → captions: 1 query has more positives than entries in their list, by up to 1;"
    )


def test_models_are_compared_with_the_best(evaluate, tmp_path):
    (tmp_path / "worse.json").write_text(json.dumps({"t2i": {str(c): [1 - c // 2] for c in range(4)}}))
    average, _, t2i = (block.splitlines() for block in evaluate(str(tmp_path / "worse.json")).split("\n\n")[:3])
    assert [line.split()[0] for line in t2i[2:]] == ["model_a", "worse"]
    assert t2i[2].split()[1] == "100.0*"
    # Four queries cannot tell, even if one model is right and the other wrong throughout: p = 1/8.
    assert average[3].split()[1:] == ["-"] * 5
    assert t2i[3].split()[1:] == ["0.0~"] * 5


def test_csv_can_be_read_again(evaluate):
    (row,) = csv.DictReader(StringIO(evaluate("--csv")))
    assert (row["model"], row["i2t mAP@R"]) == ("model_a", "75.0")


def test_latex_escapes_names(evaluate):
    assert r"model\_a & \textbf{87.5} & \textbf{87.5} & \textbf{100.0}" in evaluate("--latex")


def test_json_has_figures_in_full(evaluate):
    figures = json.loads(evaluate("--json"))["model_a"]
    assert {name: one["value"] for name, one in figures["i2t"].items()} == {
        "mAP@R": 0.75, "R-Precision": 0.75, "R@1": 1.0, "R@5": 1.0, "R@10": 1.0
    }  # fmt: skip
    assert figures["i2t"]["R@1"]["queries"] == 2
    assert figures["i2t"]["mAP@R"]["low"] <= 0.75 <= figures["i2t"]["mAP@R"]["high"]
    assert len(figures["notes"]) == 1


def test_an_unknown_version_is_refused_with_the_known_ones(db):
    with pytest.raises(CommandError, match="There is no version 'v9'; there is none yet"):
        call_command("evaluate", "--version", "v9")
