import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from scipy.stats import kendalltau, skew

from corpus.models import Match, Sample
from counterpart_statistics.rank_agreement import first_place_ranks, rank_correlations
from counterpart_topk.hubness.step_tables import RELAXED, compare_methods
from mitl.active_learning.active_steps import read_measured
from mitl.annotators import load
from mitl.models import Annotator, Direction
from mitl.search.gallery import load_lists
from tests.evaluation.analysing import analyse, table_of, written
from tests.factories import make_annotator, make_collection, make_retrieval, make_sample
from tests.mitl.plugged import plug_in

I2T, T2I = Direction


@pytest.fixture
def retrievals(db):
    """Two annotators' random lists, ten deep, over 12 images and 24 captions; the sample ``queries`` asks all."""
    sample = make_sample(make_collection(images=12, captions_each=2))
    return [make_retrieval(make_annotator(name), sample, depth=10, seed=seed) for seed, name in enumerate(("a", "b"))]


def about(subject: str, *more: str) -> list[str]:
    return [subject, "zoo", "--annotators", "a,b", "--queries", "queries", *more]


def counts_of(retrieval, direction: Direction, k: int, ids: list[int]) -> list[int]:
    items = load_lists(retrieval)[direction].items[:, :k]
    return [int((items == pk).sum()) for pk in ids]


def test_hubness_gives_skewness_hs_sum_and_the_largest_hub(retrievals):
    annotators = json.loads(analyse(*about("hubness", "--json")))["annotators"]
    zoo = retrievals[0].collection
    sides = {I2T: list(zoo.captions.values_list("pk", flat=True)), T2I: list(zoo.images.values_list("pk", flat=True))}
    total = 0
    for direction, ids in sides.items():
        found = annotators["a"][direction.value]
        for k in (1, 5, 10):
            counts = counts_of(retrievals[0], direction, k, ids)
            assert found["skewness"][str(k)] == pytest.approx(skew(counts) if len(set(counts)) > 1 else 0)
        total += sum(found["skewness"].values())
        assert found["largest_hub"]["n_10"] == max(counts)
        assert found["never_found"] == counts.count(0)
    assert annotators["a"]["hs_sum"] == pytest.approx(total)
    caption = zoo.captions.get(key=annotators["a"]["i2t"]["largest_hub"]["key"])
    assert counts_of(retrievals[0], I2T, 10, [caption.pk]) == [annotators["a"]["i2t"]["largest_hub"]["n_10"]]


def test_a_sample_that_asks_in_one_direction_has_no_hs_sum(retrievals):
    zoo = retrievals[0].collection
    only = Sample.objects.create(name="only-images", collection=zoo, seed=0)
    only.images.set(zoo.images.all())
    call_command("retrieve", "zoo", "--annotators", "a", "--queries", "only-images", "--depth", "10", stdout=StringIO())
    arguments = ["hubness", "zoo", "--annotators", "a", "--queries", "only-images"]
    found = json.loads(analyse(*arguments, "--json"))["annotators"]["a"]
    assert found["hs_sum"] is None
    assert "t2i" not in found
    assert analyse(*arguments).splitlines()[1].split()[-1] == "-"


@pytest.mark.parametrize("absent", ["last", "left-out"])
def test_diversity_gives_both_matrices_in_both_directions(retrievals, absent):
    found = json.loads(analyse(*about("diversity", "--depth", "8", "--absent", absent, "--json")))
    assert (found["annotators"], found["depth"], found["absent"]) == (["a", "b"], 8, absent)
    for direction in Direction:
        lists = np.stack([load_lists(retrieval)[direction].items[:, :8] for retrieval in retrievals])
        both = found[direction.value]
        np.testing.assert_allclose(both["tau"], rank_correlations(lists, absent=absent))
        np.testing.assert_allclose(both["rank"], first_place_ranks(lists, absent=absent))


def test_csv_writes_the_same_figures_as_json(retrievals, tmp_path):
    figures = json.loads(analyse(*about("hubness", "--json")))["annotators"]
    rows = written(tmp_path, *about("hubness"))
    assert [(row["annotator"], row["direction"]) for row in rows] == [(a, d.value) for a in "ab" for d in Direction]
    for row in rows:
        one = figures[row["annotator"]]
        assert float(row["skewness_5"]) == one[row["direction"]]["skewness"]["5"]
        assert row["largest_hub"] == one[row["direction"]]["largest_hub"]["key"]
        assert float(row["hs_sum"]) == one["hs_sum"]


def test_what_is_undefined_is_an_empty_cell(retrievals, tmp_path):
    rows = written(tmp_path, *about("diversity", "--depth", "1", "--absent", "left-out"))
    assert [row["tau_b"] for row in rows] == [""] * 4


def test_bad_input_is_refused(retrievals):
    missing = "no lists 10 deep for the whole gallery: a. Run: manage.py retrieve zoo"
    for arguments, message in (
        (["hubness", "zoo", "--annotators", "a"], missing),
        (about("diversity"), "Lists 25 deep are not possible over 12 images and 24 captions"),
        (about("diversity", "--depth", "11"), r"a \(10 deep\), b \(10 deep\). Run: manage.py retrieve zoo"),
    ):
        with pytest.raises(CommandError, match=message):
            analyse(*arguments)


@pytest.fixture
def unsure(retrievals, monkeypatch):
    """An annotator that is the less sure of an image the higher its key; the zoo's captions are all alike to it."""
    plug_in(monkeypatch, unsure="tests.mitl.unsure")
    return make_annotator("doubter", "unsure")


def test_uncertainty_is_given_by_the_number_of_matches(unsure, tmp_path):
    figures = json.loads(analyse("uncertainty", "zoo", "--annotator", "doubter", "--json"))
    assert figures["images"]["levels"] == [{"positives": 2, "items": 12, "uncertainty": pytest.approx(5.5)}]
    path = tmp_path / "levels.csv"
    analyse("uncertainty", "zoo", "--annotator", "doubter", "--csv", str(path))
    assert [(row["side"], row["positives"], row["items"]) for row in table_of(path)] == [
        ("images", "2", "12"),
        ("captions", "1", "24"),
    ]
    assert figures["captions"]["levels"] == [{"positives": 1, "items": 24, "uncertainty": 1}]


def test_uncertainty_that_grows_with_matches_has_a_tau_b_above_zero(unsure):
    zoo = Sample.objects.get().collection
    last, captions = zoo.images.get(key="11"), list(zoo.captions.all()[:3])
    for image, n in ((last, 3), (zoo.images.get(key="0"), 1)):
        for caption in captions[:n]:
            Match.objects.create(collection=zoo, image=image, caption=caption, source="v1", grade=1)
    found = json.loads(analyse("uncertainty", "zoo", "--annotator", "doubter", "--matches", "v1", "--json"))["images"]
    assert [(level["positives"], level["uncertainty"]) for level in found["levels"]] == [(0, 5.5), (1, 0), (3, 11)]
    counts = [1, *[0] * 10, 3]
    assert found["tau_b"] == pytest.approx(kendalltau(range(12), counts).statistic)


@pytest.fixture
def halves(db):
    """Twelve images are the split val, twelve the split test; captions name the image, and the second says less."""
    zoo = make_collection(images=24, captions_each=2, split="test")
    zoo.images.filter(pk__in=list(zoo.images.order_by("pk").values_list("pk", flat=True)[:12])).update(split="val")
    make_annotator("words")
    return zoo


def test_hubness_compares_the_re_rankings_by_recall(halves, tmp_path):
    rows = written(tmp_path, "hubness", "zoo", "--annotators", "words", "--steps")
    methods = [row for row in rows if row["table"] == "methods"]
    assert [row["method"] for row in methods] == ["NNS", "GM", "RGM", "IS", "CSLS", "IS+RGM", "CSLS+RGM"]
    assert len(rows) == 7 + 3 * 6  # those of RGM at each relaxation, which figure 4 has up to 10
    part = read_measured(halves, "test", "original")
    scores = load(Annotator.objects.get(name="words")).scores(part.images, part.captions)
    for row, one in zip(methods, compare_methods(scores, part.pairs), strict=True):
        if one.method not in RELAXED:  # relaxations are chosen on val
            assert [float(row[f"i2t R@{k}"]) for k in (1, 5, 10)] == pytest.approx(list(one.rows))
            assert float(row["rsum"]) == pytest.approx(one.rsum)


def test_re_rankings_need_a_split_to_compare_them_on(retrievals):
    retrievals[0].collection.images.update(split="train")
    with pytest.raises(CommandError, match="no images in the splits test and val"):
        analyse("hubness", "zoo", "--annotators", "a", "--steps")
