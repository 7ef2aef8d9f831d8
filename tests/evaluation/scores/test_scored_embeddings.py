"""Embeddings are scored as their whole lists are, and only what decides the figures is ranked."""

from dataclasses import replace

import numpy as np
import pytest

import counterpart_topk as topk
from core.errors import CounterpartError
from corpus.models import Match
from counterpart_metrics import needed_lists
from counterpart_metrics.arrays import Qrels
from counterpart_metrics.needed_lists import needs_of
from counterpart_metrics.policies import MISSING, TIES, Policies
from counterpart_metrics.targets import Part, Reading
from counterpart_topk import topk_of_products
from evaluation.models import Run
from evaluation.ranking_files import ranked_embeddings, stream_rankings
from evaluation.scores.runs import ids_of, register_file
from evaluation.scores.scoring import evaluate_version, score_rankings, target_of
from tests.dataset.releasing import release_version
from tests.factories import make_collection, make_sample

IMAGES, CAPTIONS = 12, 24


@pytest.fixture
def zoo(db):
    """Image 0 is described by the first 14 captions, any other by its own two."""
    zoo = make_collection(images=IMAGES)
    first, captions = zoo.images.order_by("pk")[0], zoo.captions.order_by("pk")
    for caption in captions[2:14]:
        Match.objects.create(collection=zoo, image=first, caption=caption, source="more", score=1)
    return zoo


@pytest.fixture
def version(zoo):
    """A version that asks about 4 images and 5 captions."""
    sample = make_sample(zoo, "few")
    sample.images.set(zoo.images.order_by("pk")[:4])
    sample.captions.set(zoo.captions.order_by("pk")[:5])
    return release_version("v1", collection=zoo, sample=sample, merge="original,more")


@pytest.fixture
def embeddings(tmp_path):
    """Whole numbers, so that many scores are equal; ids are in no order."""
    rng = np.random.default_rng(0)
    arrays = {
        "image_ids": rng.permutation(IMAGES),
        "images": rng.integers(1, 3, (IMAGES, 3)),
        "caption_ids": rng.permutation(CAPTIONS),
        "captions": rng.integers(1, 3, (CAPTIONS, 3)),
    }
    np.savez(tmp_path / "mine.npz", **arrays)
    return arrays


@pytest.fixture
def searches(monkeypatch):
    """Queries and depth of every search that is made."""
    made = []

    def noted(queries, items, k):
        made.append((len(queries), k))
        return topk_of_products(queries, items, k)

    monkeypatch.setattr(topk, "topk_of_products", noted)
    return made


def whole_lists(path, arrays) -> None:
    """Write the whole ranking of every query, as a slow reference sorts it."""
    sides = {"i2t": ("image", "caption"), "t2i": ("caption", "image")}
    lists = {}
    for direction, (asking, listed) in sides.items():
        scores = arrays[f"{asking}s"].astype(float) @ arrays[f"{listed}s"].T.astype(float)
        order = np.argsort(-scores, 1, kind="stable")
        lists[f"{direction}_queries"] = arrays[f"{asking}_ids"]
        lists[f"{direction}_items"] = arrays[f"{listed}_ids"][order]
        lists[f"{direction}_scores"] = np.take_along_axis(scores, order, 1)
    np.savez(path, **lists)


POLICIES = [(ties, missing) for ties in TIES for missing in MISSING if (ties, missing) != ("interval", "interval")]


@pytest.mark.parametrize(("ties", "missing"), POLICIES)
def test_embeddings_have_the_figures_of_their_whole_lists(version, embeddings, tmp_path, ties, missing):
    whole_lists(tmp_path / "whole.npz", embeddings)
    found = []
    for name in ("mine.npz", "whole.npz"):
        reading = Reading("mine", target_of(version), Policies(ties, missing))
        blocks = stream_rankings(tmp_path / name, ids_of(version.collection), needs=needs_of([reading]))
        found.append([(one.model, one.figures) for (*scored,) in score_rankings(blocks, [reading]) for one in scored])
    assert found[0] == found[1]


def test_a_registered_run_is_ranked_for_its_queries_to_the_depth_that_decides(version, embeddings, tmp_path, searches):
    register_file(version.collection, tmp_path / "mine.npz")
    searches.clear()
    evaluate_version(version, rankings=[tmp_path / "mine.npz"])
    assert searches == [(4, 14), (5, 10)]  # image 0 has 14 matches; R@10 looks at ten places of every list


def test_a_new_file_is_read_once_and_looked_over_meanwhile(version, embeddings, tmp_path, searches, monkeypatch):
    read = []
    adopt = ranked_embeddings.adopt
    monkeypatch.setattr(ranked_embeddings, "adopt", lambda *given: read.append(given) or adopt(*given))
    evaluate_version(version, rankings=[tmp_path / "mine.npz"])
    assert (len(read), searches) == (1, [(IMAGES, 14), (CAPTIONS, 10)])
    assert len(Run.objects.get().digest) == 32


def test_unknown_ids_are_refused_before_anything_is_ranked(version, embeddings, tmp_path, searches):
    known = dict(np.load(tmp_path / "mine.npz"))
    np.savez(tmp_path / "more.npz", **known | {"caption_ids": known["caption_ids"] + 2})
    with pytest.raises(CounterpartError, match="2 ids of captions .*: 24, 25"):
        evaluate_version(version, rankings=[tmp_path / "more.npz"])
    assert (searches, Run.objects.count()) == ([], 0)


@pytest.mark.parametrize("part", ["fold", "not judged yet"])
def test_where_the_depth_is_not_known_every_place_is_ranked(version, part):
    target = target_of(version)
    qrels = Qrels.of({1: [2]})
    of = Part.of(qrels, np.array([2])) if part == "fold" else Part(np.array([1]), lambda some: qrels)
    needs = needs_of([Reading("mine", replace(target, parts={"i2t": [of]}))])
    assert {direction: one.depth for direction, one in needs.items()} == {"i2t": needed_lists.DEEPEST}
