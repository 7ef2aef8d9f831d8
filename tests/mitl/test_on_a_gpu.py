"""What a GPU computes is what the processor computes: vectors, training, and searches, alone and on a Ray cluster.

Needs a GPU that torch finds; FAISS's searches need requirements-gpu.txt, too, and the last test Ray.
"""

import numpy as np
import pytest
import torch

from coloured import QUICK, SMALL, gallery, learned_once
from counterpart_annotators.base import CrossEncoder
from counterpart_topk import bidirectional_topk
from mitl.annotators import kind_of, load
from mitl.models import Annotator
from mitl.registration import add_annotator
from mitl.search import flat_index
from mitl.search.by_parts import retrieve_by_parts
from mitl.search.request import ENGINES
from mitl.training.trainer import train_annotator
from tests.factories import make_collection, make_sample
from tests.mitl.annotators.learned import annotator_of
from tests.mitl.galleries import drawn
from tests.mitl.searches import add_embeddings, retrieve, search
from tiny_transformers import TINY

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")]

RECURRENT = SMALL | QUICK | {"epochs": 2}
PROBABILISTIC = RECURRENT | {"rate": 3e-4, "log_sigma": -3.0, "shift": 5.0, "negative_scale": 5.0, "samples": 3}
SETTINGS = {"vse": RECURRENT, "pvse": RECURRENT | {"embeddings": 2}, "pcme": PROBABILISTIC} | {
    kind: settings | {"epochs": 8} for kind, settings in TINY.items()
}
CLOSE = 2e-3  # cuDNN rounds the terms of convolutions to ten bits


def vectors_and_scores(annotator) -> list[np.ndarray]:
    """The embeddings of both sides, or the scores of all pairs."""
    images, captions = gallery()
    if isinstance(annotator, CrossEncoder):
        pairs = np.indices((len(images), len(captions))).reshape(2, -1)
        ready = annotator.ready(images, captions)
        return [np.concatenate([ready.pairs(*part) for part in np.array_split(pairs, pairs.shape[1] // 2, axis=1)])]
    return [annotator.encode_images(images), annotator.encode_captions(captions)]


@pytest.mark.parametrize("kind", SETTINGS)
def test_an_annotator_computes_there_what_it_computes_on_the_processor(kind):
    settings = SETTINGS[kind]
    row = annotator_of(kind, learned_once(kind, loss=kind_of(kind).losses[0], **settings), **settings)
    here, there = (load(row, device) for device in ("cpu", "cuda"))
    for ours, theirs in zip(vectors_and_scores(here), vectors_and_scores(there), strict=True):
        np.testing.assert_allclose(theirs, ours, atol=CLOSE * np.abs(ours).max())


@pytest.mark.parametrize("kind", SETTINGS)
def test_an_annotator_learns_there(colours, kind):
    add_annotator("eyes", kind=kind, options=SETTINGS[kind])
    trained = train_annotator("eyes", collection=colours, device="cuda")
    assert trained.trained_on["loss_last"] < trained.trained_on["loss_first"]


def test_lists_and_scores_are_the_same_bytes():
    rng = np.random.default_rng(1)
    for sides in (
        [drawn(1, 300, 6), drawn(2, 700, 6)],
        [rng.standard_normal((n, 96), np.float32) for n in (3_000, 11_000)],
    ):
        here, there = (bidirectional_topk(*sides, 9, device=device) for device in ("cpu", "cuda"))
        for name in ("i2t_indices", "i2t_scores", "t2i_indices", "t2i_scores"):
            np.testing.assert_array_equal(getattr(there, name), getattr(here, name))


@pytest.fixture
def zoo(db):
    return make_collection(images=900)


@pytest.fixture
def brought(zoo, tmp_path) -> Annotator:
    return add_embeddings(tmp_path, drawn(1, 900, 6), drawn(2, 1_800, 6))


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_retrieval_is_the_same_file(zoo, brought, sampled, engine):
    if engine == "faiss" and [*flat_index.installed_packages()] != [flat_index.GPU_PACKAGE]:
        pytest.skip("needs requirements-gpu.txt")
    sample = make_sample(zoo) if sampled else None
    made = []
    for device in ("cpu", "cuda"):
        retrieval = retrieve(zoo, annotators=[brought], sample=sample, depth=9, engine=engine, device=device)[0]
        made.append(retrieval.sha256)
        retrieval.delete()
    assert made[0] == made[1]


def test_a_cluster_encodes_and_searches_there_with_the_bytes_of_one_process(colours, zoo, brought):
    pytest.importorskip("ray", reason="needs Ray: make cluster")
    add_annotator("eyes", kind="clip", options=TINY["clip"])
    for annotator, collection in ((train_annotator("eyes", collection=colours), colours), (brought, zoo)):
        wanted = search(collection, [annotator], depth=5, device="cuda")
        lists = []
        for engine in ("local", "ray"):
            made = retrieve_by_parts(wanted, annotator, engine=engine, shards=3)
            lists.append(made.sha256)
            made.delete()
        assert lists[0] == lists[1]
