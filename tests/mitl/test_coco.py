"""Overlap on real captions: COCO's test split, ECCV Caption's queries and positives."""

import json

import pytest

from corpus.imports import import_collection
from corpus.matches import import_matches, known_pairs
from corpus.models import Collection
from corpus.samples import sample_queries
from mitl.models import Direction, Proposal
from mitl.pooling import pool_proposals
from mitl.registration import add_annotator
from tests.mitl.searches import retrieve

pytestmark = [pytest.mark.shared, pytest.mark.slow]


def test_overlap_finds_positives_that_the_original_pairs_lack(db, shared, tmp_path):
    data = shared / "data"
    import_collection("coco", format="jsonl", path=data / "coco_test_captions.jsonl.gz")
    coco = Collection.objects.get(name="coco")
    for things, direction in (("images", "image_to_caption"), ("captions", "caption_to_image")):
        path = data / "eccv_caption" / f"eccv_{direction}.json"
        (tmp_path / things).write_text("\n".join(json.loads(path.read_text())))
        import_matches(coco, source=f"eccv_{things}", path=path, skip_unknown=True)
    sample = sample_queries("eccv", collection=coco, images=tmp_path / "images", captions=tmp_path / "captions")
    overlap = add_annotator("overlap", kind="overlap")
    retrieve(coco, annotators=[overlap], sample=sample)
    pool = pool_proposals("pool", collection=coco, annotators=[overlap], sample=sample)
    assert pool.n_proposals == (1_261 + 1_332) * 5
    for direction, source in zip(Direction, ("eccv_images", "eccv_captions"), strict=True):
        named = Proposal.objects.filter(pool=pool, direction=direction).values_list("image_id", "caption_id")
        positives = set(map(tuple, known_pairs(coco, source).tolist()))
        # A third of what it names is right, though an image never stands for the caption that is asked.
        assert len(positives & set(named)) / len(named) == pytest.approx(0.36, abs=0.02)
