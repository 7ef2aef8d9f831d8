"""Pools and rounds for the tests of packing: of pairs, of check boxes, of captions that are written."""

import numpy as np
from django.utils import timezone

from core.progress import Progress, silent
from corpus.models import Collection
from corpus.samples import sample_queries
from hits.models import Round
from hits.packing.designs import Design
from hits.rounds.packed_rounds import pack_round
from hits.rounds.round_parameters import PackParameters
from mitl.models import Pool
from mitl.pooling import pool_sample
from mitl.search.gallery import RankedLists, load_lists, store_lists
from tests.factories import make_annotator, make_collection, make_pool, make_retrieval, make_sample

SMALL = Design("small", candidates=4, positives=1, negatives=1)


def pool_of(n_pairs: int = 40, *, images: int = 30, name: str = "pool", collection: Collection | None = None) -> Pool:
    """At most images² pairs of image i with a caption of an image after it, over two annotators' random top-5 lists."""
    collection = collection or make_collection(f"zoo-{name}", images=images)
    sample = make_sample(collection, f"queries-{name}")
    retrievals = [make_retrieval(make_annotator(f"{name}-{seed}"), sample, seed=seed) for seed in (1, 2)]
    pictures = list(collection.images.order_by("pk"))
    captions = list(collection.captions.order_by("pk"))
    pairs = [
        (pictures[number % images], captions[2 * (number % images + 1 + number // images) % len(captions)])
        for number in range(n_pairs)
    ]
    return make_pool(sample, retrievals, name=name, pairs=pairs)


def pack(name: str, pool: Pool, *, actor: str = "command", progress: Progress = silent, **parameters: object) -> Round:
    return pack_round(name, pool, PackParameters(**{"seed": 0, **parameters}), actor=actor, progress=progress)


def opened(made: Round) -> Round:
    """The same round, published in the browser pool."""
    Round.objects.filter(pk=made.pk).update(channel="browser", published_at=timezone.now())
    made.refresh_from_db()
    return made


def pool_of_boxes(*, asked: int = 5, each: int = 10, images: int = 12, name: str = "boxes") -> Pool:
    """The first ``asked`` images with ``each`` captions, their own two among them; one annotator's top-2 lists."""
    collection = make_collection(f"zoo-{name}", images=images, pictures=True)
    sample = make_sample(collection, f"queries-{name}")
    retrieval = make_retrieval(make_annotator(f"machine-of-{name}"), sample, depth=2)
    captions = list(collection.captions.order_by("pk"))
    pairs = [
        (image, captions[(2 * number + place) % len(captions)])
        for number, image in enumerate(collection.images.order_by("pk")[:asked])
        for place in range(each)
    ]
    pool = make_pool(sample, [retrieval], name=f"pool-{name}", pairs=pairs)
    pool.control_depth = 2
    pool.save()
    return pool


def pack_boxes(name: str = "boxes", pool: Pool | None = None, **parameters: object) -> Round:
    """A published round of the browser pool."""
    return opened(pack(name, pool or pool_of_boxes(name=name), task="checkbox", **parameters))


def pack_captions(name: str = "written", *, images: int = 3, **parameters: object) -> Round:
    """A published round of the browser pool: one picture each of a new collection."""
    collection = make_collection(f"zoo-{name}", images=images + 2, pictures=True)
    sample = sample_queries(f"queries-{name}", collection=collection, images=images, captions=0)
    return opened(pack(name, pool_sample(sample, actor="test"), task="caption", **parameters))


def mirror_of(pool: Pool) -> Pool:
    """The same pool over a collection of the same keys whose rows were inserted in the opposite order."""
    mirror = Collection.objects.create(name=f"mirror-of-{pool.collection}")
    images = {old.pk: _copy(old, collection=mirror) for old in pool.collection.images.order_by("-pk")}
    captions = {
        old.pk: _copy(old, collection=mirror, image=images[old.image_id])
        for old in pool.collection.captions.order_by("-pk")
    }
    for match in pool.collection.matches.all():
        _copy(match, collection=mirror, image=images[match.image_id], caption=captions[match.caption_id])
    pairs = [(images[proposal.image_id], captions[proposal.caption_id]) for proposal in pool.proposals.all()]
    copied = make_pool(make_sample(mirror, "mirror"), name="mirror", pairs=pairs)
    ids = {"i2t": (images, captions), "t2i": (captions, images)}
    for retrieval in pool.retrievals.all():
        lists = {direction: _mirrored(ranked, *ids[direction]) for direction, ranked in load_lists(retrieval).items()}
        stored = store_lists("mirror", lists)
        copied.retrievals.add(
            _copy(retrieval, collection=mirror, sample=copied.sample, file=stored.path, sha256=stored.sha256)
        )
    return copied


def _copy(row, **changes):
    """A new row like ``row`` but for ``changes``."""
    fields = {field.name: getattr(row, field.name) for field in row._meta.concrete_fields if not field.primary_key}
    return type(row).objects.create(**{**fields, **changes})


def _mirrored(ranked: RankedLists, asked: dict, found: dict) -> RankedLists:
    queries = np.array([asked[query].pk for query in ranked.queries.tolist()])
    items = np.array([[found[item].pk for item in row] for row in ranked.items.tolist()])
    return RankedLists(queries, items, ranked.scores)
