"""The demo's annotators, from the weights in the source."""

import numpy as np
import pytest

from counterpart_annotators.base import CrossEncoder
from counterpart_statistics.rank_agreement import first_place_ranks
from demo import demo_annotators
from demo.collection import make_demo_collection
from demo.demo_annotators import ANNOTATORS, add_demo_annotators, train_demo_annotators
from mitl.annotators import kind_of, load
from mitl.registration import add_annotator, read_export
from mitl.search.gallery import open_gallery

FIVE = ("pvse", "clip", "pcme", "vsrn", "vilt")


def scores_of(annotator, gallery) -> np.ndarray:
    """All scores, an image a row."""
    opened, shape = load(annotator), (len(gallery.image_ids), len(gallery.caption_ids))
    if not isinstance(opened, CrossEncoder):
        return opened.scores(gallery.images, gallery.captions).block(slice(0, shape[0]), slice(0, shape[1]))
    images, captions = np.repeat(np.arange(shape[0]), shape[1]), np.tile(np.arange(shape[1]), shape[0])
    return opened.ready(gallery.images, gallery.captions).pairs(images, captions).reshape(shape)


@pytest.mark.parametrize("name", FIVE)
def test_the_weights_in_the_source_were_trained_with_the_settings_in_the_source(name):
    assert (sorted(ANNOTATORS), ANNOTATORS[name].kind) == (sorted(FIVE), name)
    found = read_export(demo_annotators.weights_of(name), name)
    assert {setting: found.settings[setting] for setting in ANNOTATORS[name].settings} == ANNOTATORS[name].settings
    assert ANNOTATORS[name].loss in kind_of(name).losses


@pytest.mark.slow
def test_each_finds_far_more_than_chance_and_no_two_find_the_same(db):
    gallery = open_gallery(make_demo_collection("unseen", images=50, seed=5), None)
    keys = [image.key for image in gallery.images]
    own = np.array([keys.index(caption.image) for caption in gallery.captions])
    first = {}
    for annotator in add_demo_annotators():
        scores = scores_of(annotator, gallery)
        first[annotator.name] = np.argsort(-scores, axis=0, kind="stable").T
        assert np.mean(first[annotator.name][:, 0] == own) > 2.5 / len(gallery.image_ids), annotator
    ranks = first_place_ranks(np.stack([lists[:, :25] for lists in first.values()]))
    assert (ranks[~np.eye(5, dtype=bool)] > 1.5).all()


@pytest.mark.slow
def test_training_writes_weights_that_can_be_added(db, monkeypatch, tmp_path):
    monkeypatch.setattr(demo_annotators, "WEIGHTS", tmp_path)
    demo = ANNOTATORS["pvse"]
    monkeypatch.setitem(
        ANNOTATORS, "pvse", demo_annotators.DemoAnnotator("pvse", {**demo.settings, "epochs": 1}, "sum", 1)
    )
    train_demo_annotators(["pvse"], images=10)
    assert add_annotator("pvse", kind="pvse", checkpoint=tmp_path / "pvse.npz").options["epochs"] == 1
    assert [path.name for path in tmp_path.glob("*.npz")] == ["pvse.npz"]
