"""A round over a gallery beyond rows: from items in files to a released version, like any other."""

import json
from itertools import product

import pytest

from corpus.galleries import gallery_imports
from corpus.models import Gallery
from dataset.models import Version
from hits.models import HIT, Item
from mitl.models import Pool
from mitl.search.gallery import load_lists
from mitl.search.gallery_embeddings import import_embeddings
from tests.annotation.cast import answer
from tests.commands import output_of
from tests.factories import make_collection, make_sample
from tests.hits.gold import listed, negatives
from tests.mitl.galleries import drawn, make_gallery, npy_folder, query_annotator

pytestmark = pytest.mark.django_db

N = 300


@pytest.fixture
def sea(tmp_path, monkeypatch) -> Gallery:
    """Three hundred images and captions in parts of 128; embeddings of two annotators."""
    monkeypatch.setattr(gallery_imports, "ROWS", 128)
    collection = make_collection(images=8)
    make_sample(collection)
    gallery = make_gallery(collection, tmp_path, N)
    for seed, name in ((3, "one"), (5, "two")):
        annotator = query_annotator(collection, tmp_path, 6 + seed, name)
        arrays = (drawn(seed + side, N, 6 + seed) for side in range(2))
        import_embeddings(gallery, annotator, npy_folder(tmp_path / f"npy-{name}", *arrays))
    return gallery


def make_pool(sea: Gallery, *pooled: str) -> Pool:
    over = ("--annotators", "one,two", "--queries", "queries", "--gallery", "sea")
    output_of("retrieve", "zoo", *over, "--depth", "10")
    output_of("pool", "pool", "--collection", "zoo", *over, "--top-k", "3", "--control-depth", "10", *pooled)
    return Pool.objects.get()


def found(pool: Pool, direction: str) -> set[int]:
    return {
        item for retrieval in pool.retrievals.all() for item in load_lists(retrieval)[direction].items.ravel().tolist()
    }


def test_negatives_are_all_and_only_the_query_images_with_found_captions_outside_the_lists(sea):
    pool = make_pool(sea)
    images = pool.sample.images.values_list("pk", flat=True)
    assert negatives(pool) == set(product(images, found(pool, "i2t"))) - listed(pool)


def test_negatives_of_caption_queries_alone_are_found_images(sea):
    pool = make_pool(sea, "--direction", "t2i")
    captions = pool.sample.captions.values_list("pk", flat=True)
    assert negatives(pool) == set(product(found(pool, "t2i"), captions)) - listed(pool)


@pytest.mark.slow
def test_a_round_is_packed_answered_estimated_and_released(sea, tmp_path):
    make_pool(sea)
    design = tmp_path / "small.json"
    design.write_text(json.dumps({"name": "small", "candidates": 4, "positives": 1, "negatives": 1}))
    output_of("pack", "round", "--pool", "pool", "--design", design, "--ceiling", "1000")
    asked = Item.objects.filter(hit__round__name="round", control=None)
    assert asked.filter(image__key__startswith="i").exists()
    assert asked.filter(caption__key__startswith="c").exists()
    for hit in HIT.objects.all():
        answer(hit, 1, 2, 3, 4)
    output_of("aggregate", "round")
    output_of("estimate", "round")
    output_of(
        "release", "v1", "--collection", "zoo", "--queries", "queries", "--rounds", "round", "--merge", "original"
    )
    output_of("verify", "v1")
    gallery = Version.objects.get().manifest["rounds"][0]["pool"]["gallery"]
    assert gallery == {"name": "sea", "images": N, "captions": N, "digest": sea.digest}
