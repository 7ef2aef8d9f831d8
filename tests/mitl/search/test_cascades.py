"""Searches by annotators that score every pair: of the whole gallery, and of another annotator's lists."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from core.errors import CounterpartError
from corpus.models import Caption, Collection, Image, Sample
from counterpart_annotators.base import JointScores
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_topk.scored_pairs import SampledPairs
from mitl.models import Annotator, Direction, Retrieval
from mitl.search.gallery import load_lists, open_gallery
from mitl.search.pair_scores import GROUP, Scoring
from mitl.search.request import Cascade
from mitl.search.retrieval import measure_pace
from mitl.search.store import newest_retrieval
from tests.factories import make_annotator, make_collection
from tests.mitl import joint
from tests.mitl.plugged import plug_in
from tests.mitl.searches import add_lists, estimate_retrieval, few_queries, kept_files, retrieve

I2T, T2I = Direction
IMAGES, CAPTIONS = [3, 7, 11], [0, 5, 21, 30]


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """Make ``joint`` a kind of annotator, and forget what it was asked before."""
    plug_in(monkeypatch, joint="tests.mitl.joint")
    joint.forget()
    yield
    joint.forget()


@pytest.fixture
def zoo(db) -> Collection:
    return make_collection(images=16)


@pytest.fixture
def sample(zoo) -> Sample:
    return few_queries(zoo, IMAGES, CAPTIONS)


@pytest.fixture
def vilt(db) -> Annotator:
    return make_annotator("vilt", "joint")


@pytest.fixture
def words(db) -> Annotator:
    return make_annotator("words")


def places_of(retrieval: Retrieval) -> dict[Direction, list[list[int]]]:
    """A retrieval's lists as places in the gallery."""
    lists = load_lists(retrieval)
    ids = {
        I2T: np.array(Caption.objects.order_by("pk").values_list("pk", flat=True)),
        T2I: np.array(Image.objects.order_by("pk").values_list("pk", flat=True)),
    }
    return {direction: np.searchsorted(ids[direction], lists[direction].items).tolist() for direction in lists}


def slow_best(scores: np.ndarray, items: list[int], k: int) -> list[int]:
    return sorted(items, key=lambda item: (-scores[item], item))[:k]


@pytest.mark.parametrize("whole", [True, False], ids=["all", "sampled"])
@pytest.mark.parametrize("coarse", [True, False], ids=["ties", "unlike"])
def test_without_a_cascade_every_query_gets_its_best_of_the_whole_gallery(zoo, sample, coarse, whole):
    vilt = make_annotator("vilt", "joint", coarse=coarse)
    found = retrieve(zoo, annotators=[vilt], sample=None if whole else sample, depth=6)[0]
    scores = joint.brute_force(zoo, coarse=coarse)
    images, captions = (range(16), range(32)) if whole else (IMAGES, CAPTIONS)
    assert places_of(found) == {
        I2T: [slow_best(scores[i], range(32), 6) for i in images],
        T2I: [slow_best(scores[:, c], range(16), 6) for c in captions],
    }
    np.testing.assert_array_equal(load_lists(found)[I2T].scores, -np.sort(-scores[images])[:, :6])


@pytest.mark.parametrize("coarse", [True, False], ids=["ties", "unlike"])
def test_a_cascade_ranks_only_what_the_other_annotator_listed(zoo, sample, words, coarse):
    vilt = make_annotator("vilt", "joint", coarse=coarse)
    found = retrieve(zoo, annotators=[vilt], sample=sample, depth=3, cascade=Cascade(words, 7))[0]
    first = places_of(Retrieval.objects.get(annotator=words))
    scores = joint.brute_force(zoo, coarse=coarse)
    assert places_of(found) == {
        I2T: [slow_best(scores[i], items, 3) for i, items in zip(IMAGES, first[I2T], strict=True)],
        T2I: [slow_best(scores[:, c], items, 3) for c, items in zip(CAPTIONS, first[T2I], strict=True)],
    }
    assert (found.cascade, found.cascade_depth) == (words, 7)


@pytest.mark.parametrize("cascaded", [True, False])
def test_a_pair_asked_in_both_directions_is_scored_once(zoo, sample, vilt, words, cascaded):
    retrieve(zoo, annotators=[vilt], sample=sample, cascade=Cascade(words, 16) if cascaded else None)
    assert max(Counter(joint.asked()).values()) == 1
    assert all(i in IMAGES or c in CAPTIONS for i, c in joint.asked())
    assert cascaded or len(joint.asked()) == 3 * 32 + 13 * 4


def test_places_that_fill_up_short_lists_are_not_scored(zoo, sample, vilt, tmp_path):
    i2t = {str(i): ["9", "1"] if i == 3 else ["4", "2", "30", "8"] for i in IMAGES}
    theirs = add_lists(tmp_path, i2t, {str(c): [5, 0, 15, 2] for c in CAPTIONS})
    found = retrieve(zoo, annotators=[vilt], sample=sample, depth=3, cascade=Cascade(theirs, 4))[0]
    ranked = load_lists(found)[I2T]
    assert ranked.items[0, 2] == 0
    assert ranked.scores[0, 2] == -np.inf
    assert sorted(places_of(found)[I2T][0][:2]) == [1, 9]
    assert (
        len(joint.asked())
        == len(set(joint.asked()))
        == 2 + 4 + 4 + 4 * 4 - len({(i, c) for i, c in joint.asked() if i in {5, 0, 15, 2} & set(IMAGES)})
    )


def test_unlike_cascades_are_unlike_searches(zoo, sample, vilt, words):
    other = make_annotator("other", weight=2)
    wishes = [None, Cascade(words, 5), Cascade(words, 6), Cascade(other, 5)]
    found = [retrieve(zoo, annotators=[vilt], sample=sample, depth=4, cascade=wish)[0] for wish in wishes]
    assert len({retrieval.pk for retrieval in found}) == len({retrieval.fingerprint for retrieval in found}) == 4
    again = [retrieve(zoo, annotators=[vilt], sample=sample, depth=4, cascade=wish)[0] for wish in wishes]
    assert again == found


def test_a_cascade_of_an_annotator_that_changed_is_not_the_newest(zoo, sample, vilt, words):
    retrieve(zoo, annotators=[vilt], sample=sample, depth=4, cascade=Cascade(words, 5))
    Annotator.objects.filter(pk=words.pk).update(checksum="other")
    assert newest_retrieval(vilt, open_gallery(zoo, sample), 4) is None


def broken_off(scores):
    raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize("batch", [16, 33])
@pytest.mark.parametrize("cascaded", [True, False])
def test_an_interrupted_search_scores_only_what_is_missing_and_ends_in_the_same_bytes(
    zoo, sample, vilt, words, settings, batch, cascaded
):
    Annotator.objects.filter(pk=vilt.pk).update(options={"batch": 3 if cascaded else 4})
    vilt.refresh_from_db()
    wish = {"annotators": [vilt], "sample": sample, "depth": 4, "cascade": Cascade(words, 16) if cascaded else None}
    whole = retrieve(zoo, **wish)[0]
    wanted, needed = whole.sha256, len(joint.batches)
    whole.delete()
    joint.forget()
    joint.at_batch[batch] = broken_off
    with pytest.raises(KeyboardInterrupt):
        retrieve(zoo, **wish)
    assert not Retrieval.objects.filter(annotator=vilt).exists()
    joint.forget()
    assert retrieve(zoo, **wish)[0].sha256 == wanted
    assert len(joint.batches) == needed - (batch - 1) // GROUP * GROUP
    assert kept_files(settings) == []


def test_two_who_search_the_same_at_once_both_end_well(zoo, sample, vilt, settings):
    """The second begins when the first is half-way, takes what is there, and clears the folder under its hands."""
    seconds = []

    def meanwhile(scores):
        joint.at_batch.clear()
        seconds.extend(retrieve(zoo, annotators=[vilt], sample=sample))
        return scores

    joint.at_batch[20] = meanwhile
    first = retrieve(zoo, annotators=[vilt], sample=sample)[0]
    assert (first.sha256, first.pk) != (None, seconds[0].pk)
    assert first.sha256 == seconds[0].sha256
    assert kept_files(settings) == []


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_nan_score_is_named_by_its_pair_and_nothing_is_stored(zoo, sample, vilt, settings, wrong):
    def spoilt(scores):
        scores[2] = wrong
        return scores

    joint.at_batch[3] = spoilt
    message = "vilt: 1 of 4 scores .* image 2 with caption 21"
    sample.images.clear()
    with pytest.raises(CounterpartError, match=message):
        retrieve(zoo, annotators=[vilt], sample=sample)
    assert not Retrieval.objects.exists()
    assert kept_files(settings) == []


@pytest.mark.parametrize(
    ("annotator", "first", "depth", "message"),
    [
        ("vilt", "words", 3, "Lists 4 deep .* first 3 places"),
        ("words", "words", 5, "unlike words"),
        ("vilt", "vilt", 5, "vilt scores pair by pair"),
    ],
)
def test_impossible_cascades_are_refused(zoo, vilt, words, annotator, first, depth, message):
    rows = {"vilt": vilt, "words": words}
    with pytest.raises(CounterpartError, match=message):
        retrieve(zoo, annotators=[rows[annotator]], depth=4, cascade=Cascade(rows[first], depth))
    assert not Retrieval.objects.exists()


def test_the_pairs_of_an_estimate_are_exactly_those_scored(zoo, sample, vilt, words):
    wishes = [{"sample": sample}, {}, {"sample": sample, "depth": 4, "cascade": Cascade(words, 5)}]
    retrieve(zoo, annotators=[words], sample=sample, depth=5)
    for wish in wishes:
        estimates = estimate_retrieval(zoo, annotators=[vilt, words], **wish)
        joint.forget()
        retrieve(zoo, annotators=[vilt], **wish)
        assert [(one.annotator, one.pairs, one.at_most) for one in estimates] == [("vilt", len(joint.asked()), False)]


def test_an_estimate_searches_nothing_and_bounds_a_cascade_without_lists(zoo, sample, vilt, words, settings):
    estimates = estimate_retrieval(zoo, annotators=[vilt], sample=sample, depth=4, cascade=Cascade(words, 5))
    assert [(one.pairs, one.at_most) for one in estimates] == [(7 * 5, True)]
    assert not Retrieval.objects.exists()
    assert kept_files(settings) == []


def test_an_estimate_counts_what_an_interruption_left(zoo, sample, vilt):
    joint.at_batch[20] = broken_off
    with pytest.raises(KeyboardInterrupt):
        retrieve(zoo, annotators=[vilt], sample=sample)
    estimate = estimate_retrieval(zoo, annotators=[vilt], sample=sample)[0]
    assert (estimate.pairs, estimate.kept) == (3 * 32 + 13 * 4, 4 * GROUP)


def test_a_pace_is_measured_on_real_batches_from_all_over_after_one_to_warm_up(tmp_path, monkeypatch):
    asked = []

    class Slow(JointScores):
        def pairs(self, images, captions):
            asked.append((int(images[0]), len(images)))
            now[0] += 0.125 if len(asked) > 1 else 100
            return np.zeros(len(images), np.float32)

    now = [0.0]
    monkeypatch.setattr("mitl.search.retrieval.perf_counter", lambda: now[0])
    pairs = SampledPairs((40, 60), np.arange(0, 40, 3), np.arange(0, 60, 7))
    gallery = SimpleNamespace(images=[], captions=[])
    pace = measure_pace(Scoring(gallery, Slow(), pairs, batch_size=5, kept=Checkpoints(tmp_path)))
    assert (round(pace.pairs_a_second), pace.batches) == (40, 8)
    assert {length for _, length in asked} == {5}
    assert min(image for image, _ in asked) < 5
    assert max(image for image, _ in asked) > 35
    assert not any(tmp_path.iterdir())
