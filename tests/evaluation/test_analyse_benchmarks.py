import csv
import json
import re
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from scipy.stats import kendalltau, spearmanr

from dataset.release import release_version
from tests.factories import make_collection, make_sample

pytestmark = pytest.mark.django_db

# Columns of tables D.2 and D.3, and their order in table 5.
APPENDIX = ["mAP@R", "R-P", "R@1", "CxC R@1", "1K R@1", "1K R@5", "1K R@10", "5K R@1", "5K R@5", "5K R@10", "PMRP"]
TABLE_5 = ["1K R@1", "1K R@5", "1K R@10", "5K R@1", "5K R@5", "5K R@10", "CxC R@1", "R@1", "R-P", "mAP@R", "PMRP"]
MODELS = 25


def analyse(*arguments: str) -> str:
    out = StringIO()
    call_command("analyse", "benchmarks", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def paper(shared):
    return next((shared / "seeds").glob("002_*.txt")).read_text()


def numbers(text: str, count: int) -> list[list[float]]:
    """The lines that end in so many figures."""
    lines = re.findall(rf"^\S.*?((?: \d+\.\d+){{{count}}})$", text, re.MULTILINE)
    return [[float(one) for one in line.split()] for line in lines]


def write_scores(path, table: dict[str, list[float]]) -> str:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["model", *table])
        writer.writerows([f"model {row}", *scores] for row, scores in enumerate(zip(*table.values(), strict=True)))
    return str(path)


@pytest.mark.shared
def test_tau_b_of_tables_d2_and_d3_is_table_5(paper, tmp_path):
    image_to_text = numbers(paper[: paper.index("Table D.2: ")], 11)[-MODELS:]
    text_to_image = numbers(paper[: paper.index("Table D.3: ")], 11)[-MODELS:]
    table_4 = numbers(paper[paper.index("Table 4: ") : paper.index("Table 5: ")], 7)
    assert len(image_to_text) == len(text_to_image) == len(table_4) == MODELS
    means = (np.array(image_to_text) + np.array(text_to_image)) / 2
    scores = dict(zip(APPENDIX, means.T.tolist(), strict=True))
    # The appendix' PMRP does not give the printed figures; the column of table 4 does.
    scores["PMRP"] = [row[-1] for row in table_4]
    found = json.loads(analyse("--scores", write_scores(tmp_path / "scores.csv", scores), "--json"))
    ours = dict(zip(found["metrics"], found["tau_b"], strict=True))
    at = {metric: place for place, metric in enumerate(found["metrics"])}
    rest = paper[paper.index("Table 5: ") :]
    names = [f"COCO {size} R@{k}" for size in ("1K", "5K") for k in (1, 5, 10)]
    names += ["CxC R@1", "ECCV R@1", "ECCV R-P", "ECCV mAP@R", "PMRP"]
    different = {}
    for metric, name in zip(TABLE_5, names, strict=True):
        printed = re.search(rf"^{name} ([\d.\- ]+)$", rest, re.MULTILINE)[1].split()
        for other, value in list(zip(TABLE_5, printed, strict=True))[TABLE_5.index(metric) :]:
            if value != "-" and abs(ours[metric][at[other]] - float(value)) > 0.00501:
                different[metric, other] = round(ours[metric][at[other]], 3)
    # Tables have two decimals, so that two models tie which do not tie in the paper's own figures.
    assert different == {("1K R@1", "PMRP"): 0.444, ("1K R@10", "PMRP"): 0.424, ("R@1", "PMRP"): 0.284}


def test_correlations_are_those_of_scipy_over_the_models_with_both_scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("model,one,two,three\na,1,5,2\nb,2,4,\nc,3,4.5,1\nd,4,1,0\n\n")
    found = json.loads(analyse("--scores", str(path), "--json"))
    one, two = [1, 2, 3, 4], [5, 4, 4.5, 1]
    assert found["tau_b"][0][1] == pytest.approx(kendalltau(one, two).statistic)
    assert found["spearman"][0][1] == pytest.approx(spearmanr(one, two).statistic)
    assert found["tau_b"][0][2] == pytest.approx(-1)
    assert {model: ranks.get("three") for model, ranks in found["ranks"].items()} == {"a": 1, "b": None, "c": 2, "d": 3}


def test_it_prints_writes_and_draws(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("model,one,two\na,1,5\nb,2,4\nc,3,4.5\n")
    printed = analyse("--scores", str(path), "--csv", str(tmp_path / "taus.csv"), "--plot", str(tmp_path / "taus.svg"))
    assert "Kendall's tau-b over 3 models" in printed
    assert "-0.33" in printed
    with (tmp_path / "taus.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["row"], row["column"]) for row in rows] == [
        ("one", "one"),
        ("one", "two"),
        ("two", "one"),
        ("two", "two"),
    ]
    assert float(rows[1]["spearman"]) == pytest.approx(-0.5)
    assert (tmp_path / "taus.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("model,one,two\na,1,2\n", "1 model with 2 metrics; correlations need two of each"),
        ("model,one,two\na,1\nb,1,2\n", "has 1 row without 3 cells, for example row 2"),
        ("model,one,two\na,1,x\nb,1,2\n", "is not a number"),
        ("model,one,one\na,1,2\nb,1,2\n", "repeats 1 name: one"),
        ("", "Cannot read the scores"),
        (None, "Cannot read the scores"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path, content, problem):
    path = tmp_path / "scores.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(CommandError, match=problem):
        analyse("--scores", str(path))


def test_the_scores_of_a_leaderboard_are_means_over_directions(tmp_path):
    zoo = make_collection(images=2, captions_each=2)
    release_version("v1", collection=zoo, sample=make_sample(zoo), merge="original")
    lists = {
        "good": {"i2t": {"0": [0, 1], "1": [2, 3]}, "t2i": {str(c): [c // 2] for c in range(4)}},
        "half": {"i2t": {"0": [0, 2], "1": [2, 1]}, "t2i": {str(c): [0, 1] for c in range(4)}},
        "bad": {"i2t": {"0": [2, 1], "1": [0, 3]}, "t2i": {str(c): [1 - c // 2] for c in range(4)}},
    }
    for name, rankings in lists.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(rankings))
        call_command("evaluate", "--version", "v1", "--rankings", str(path), stdout=StringIO())
    found = json.loads(analyse("--versions", "v1", "--json"))
    assert sorted(found["models"]) == ["bad", "good", "half"]
    # R-Precision: half finds half of the captions and of the images, bad a quarter of the captions and no image first.
    for metric in ("R@1", "R-Precision", "mAP@R"):
        assert {model: ranks[metric] for model, ranks in found["ranks"].items()} == {"good": 1, "half": 2, "bad": 3}
    at = [found["metrics"].index(metric) for metric in ("R@1", "R-Precision", "mAP@R")]
    assert np.array(found["tau_b"], float)[np.ix_(at, at)] == pytest.approx(1)


def test_an_unknown_version_is_refused():
    with pytest.raises(CommandError, match="1 version does not exist: v9"):
        analyse("--versions", "v9")
