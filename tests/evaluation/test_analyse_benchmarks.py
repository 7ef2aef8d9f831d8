import json
from functools import partial
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from scipy.stats import kendalltau, spearmanr

from benchmarks.papers.eccv_printed import TABLE_5, averages, write_scores
from corpus.models import Match
from dataset.models import Version
from tests.commands import output_of
from tests.console.conftest import answer_rightly
from tests.dataset.releasing import release, release_version
from tests.evaluation.analysing import figures_of, written
from tests.factories import make_collection, make_round, make_sample

pytestmark = pytest.mark.django_db


analyse = partial(output_of, "analyse", "benchmarks")


def test_correlations_are_those_of_scipy_over_the_models_with_both_scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("model,one,two,three\na,1,5,2\nb,2,4,\nc,3,4.5,1\nd,4,1,0\n\n")
    found = json.loads(analyse("--scores", str(path), "--json"))
    one, two = [1, 2, 3, 4], [5, 4, 4.5, 1]
    assert found["tau_b"][0][1] == pytest.approx(kendalltau(one, two).statistic)
    assert found["spearman"][0][1] == pytest.approx(spearmanr(one, two).statistic)
    assert found["tau_b"][0][2] == pytest.approx(-1)
    rows = written(tmp_path, "benchmarks", "--scores", str(path))
    assert [float(row["spearman"]) for row in rows[1:2]] == [pytest.approx(spearmanr(one, two).statistic)]
    assert {model: ranks.get("three") for model, ranks in found["ranks"].items()} == {"a": 1, "b": None, "c": 2, "d": 3}


def test_tables_d2_and_d3_give_table_5_and_the_ranks_of_figure_5(tmp_path):
    found = json.loads(analyse("--scores", str(write_scores(averages(), tmp_path / "scores.csv")), "--json"))
    order = [found["metrics"].index(name) for name in TABLE_5]
    ours, printed = np.array(found["tau_b"], float)[np.ix_(order, order)], np.array(list(TABLE_5.values()))
    np.testing.assert_allclose(ours[:-1, :-1], printed[:-1, :-1], atol=0.005)
    # Two models share the printed PMRP of 57.65, and so have tied ranks here only.
    np.testing.assert_allclose(ours[-1], printed[-1], atol=0.0065)
    mined = [found["ranks"][f"PVSE K=1, {mining}"] for mining in ("SHM", "HNM")]
    assert [ranks["1K R@1"] for ranks in mined] == [20, 18]
    assert [ranks["mAP@R"] for ranks in mined] == [12, 15]


def test_a_chart_has_the_rank_of_each_model_by_each_metric(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("model,one,two\na,1,5\nb,2,4\nc,3,\n")
    assert "Rank of each model\n   one  two\na    3    1\nb    2    2\nc    1    -" in analyse("--scores", str(path))
    analyse("--scores", str(path), "--plot", str(tmp_path / "ranks.svg"))
    drawn = (tmp_path / "ranks.svg").read_text()
    assert [f"<title>{tip}</title>" in drawn for tip in ("a, one: rank 3", "a, two: rank 1", "c, two")] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("model,one,two\na,1,2\n", "1 model with 2 metrics; correlations need two of each"),
        ("model,one,two\na,1\nb,1,2\n", "scores.csv, line 2: 2 fields, but the header has 3"),
        ("model,one,two\na,1,x\nb,1,2\n", "the two 'x' is not a number"),
        ("model,one,two\na,1,nan\nb,1,2\n", "the two 'nan' is not a number"),
        ("model,one,one\na,1,2\nb,1,2\n", "has 2 columns one"),
        ("", "is empty"),
        (None, "Cannot read .*scores.csv"),
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


@pytest.fixture
def version(db) -> Version:
    made = make_round(make_collection(images=8, pictures=True))
    answer_rightly(made)
    return release(made)


def test_queries_are_counted_by_their_positives(version):
    collection = version.collection
    rows = figures_of("positives", "v1")["positives"]
    for source in ("original", "v1"):
        known = Match.objects.filter(collection=collection, source=source).exclude(grade__in=(3, 4))
        for direction, column, queries in (
            ("i2t", "image", version.sample.images.values_list("pk", flat=True)),
            ("t2i", "caption", version.sample.captions.values_list("pk", flat=True)),
        ):
            counts = [known.filter(**{column: query}).count() for query in queries]
            found = [row for row in rows if (row["source"], row["direction"]) == (source, direction)]
            assert [row["queries"] for row in found] == [counts.count(row["positives"]) for row in found]
            assert [row["at_least"] for row in found] == [
                sum(count >= row["positives"] for count in counts) for row in found
            ]
            assert sum(row["queries"] for row in found) == len(counts)


@pytest.fixture
def released_originals(db, tmp_path):
    """Three images with a caption each; the first two show one category, the third a second one too."""
    zoo = make_collection(images=3, captions_each=1)
    release_version("v1", collection=zoo, sample=make_sample(zoo), merge="original")
    path = tmp_path / "categories.json"
    path.write_text(json.dumps({"0": [1], "1": [1], "2": [1, 2]}))
    return path


def measured(*options: object) -> dict[tuple[str, str], tuple[int, float, float]]:
    rows = figures_of("positives", "v1", *map(str, options))["coverage"]
    return {(row["name"], row["direction"]): (row["positives"], row["precision"], row["recall"]) for row in rows}


def test_plausible_matches_are_a_source_for_each_zeta(released_originals):
    found = measured("--categories", released_originals, "--zeta=0,1")
    # ζ = 0: the first two images and their captions match each other, the third only its own. ζ = 1: all match.
    for direction in ("i2t", "t2i"):
        assert found["original", direction] == (3, 1, 1)
        assert found["PM ζ=0", direction] == (5, pytest.approx((1 / 2 + 1 / 2 + 1) / 3), 1)
        assert found["PM ζ=1", direction] == (9, pytest.approx(1 / 3), 1)
    assert not any("PM" in name for name, _ in measured())


def test_plausible_matches_of_drawn_categories_agree_with_a_count_pair_by_pair(tmp_path):
    zoo = make_collection(images=12, captions_each=2)
    release_version("v1", collection=zoo, sample=make_sample(zoo), merge="original")
    rng = np.random.default_rng(0)
    shown = {str(image): np.flatnonzero(rng.random(4) < 0.5).tolist() for image in range(12)}
    (tmp_path / "categories.json").write_text(json.dumps(shown))
    found = measured("--categories", tmp_path / "categories.json", "--zeta=1")
    near = [
        [len(set(shown[str(one)]) ^ set(shown[str(caption // 2)])) <= 1 for caption in range(24)] for one in range(12)
    ]
    of_images = [np.mean([caption // 2 == one for caption in np.flatnonzero(near[one])]) for one in range(12)]
    of_captions = [1 / sum(near[one][caption] for one in range(12)) for caption in range(24)]
    assert found["PM ζ=1", "i2t"] == (np.sum(near), pytest.approx(np.mean(of_images)), 1)
    assert found["PM ζ=1", "t2i"] == (np.sum(near), pytest.approx(np.mean(of_captions)), 1)


@pytest.mark.parametrize(
    ("content", "zeta", "problem"),
    [
        ('{"0": [1]}', "0", "2 images of zoo have no categories in categories.json: 1, 2"),
        ('{"0": [1], "1": "car", "2": [2]}', "0", "categories.json holds no categories of images"),
        ('{"0": [1], "1": [1], "2": [2]}', "0,-1", "Invalid zeta '0,-1': use whole numbers from 0 on"),
    ],
)
def test_categories_and_differences_that_cannot_be_are_refused(released_originals, content, zeta, problem):
    released_originals.write_text(content)
    with pytest.raises(CommandError, match=problem):
        measured("--categories", released_originals, f"--zeta={zeta}")
