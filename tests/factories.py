"""Rows for tests: every argument has a default, so that a test names only what it is about."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from decimal import Decimal
from functools import cache
from io import BytesIO
from itertools import cycle, islice

import numpy as np
from django.conf import settings
from django.db import connection
from django.utils import timezone
from PIL import Image as Picture

from annotation.models import Assignment, Consent, Worker
from annotation.people.consent import current_sheet
from corpus.models import Caption, Collection, Image, Match, Sample
from crowd.channels.mturk.payments import fee_schedule
from hits.models import HIT, Control, Item, Round, Seat
from hits.question import WORDINGS
from mitl.models import Annotator, Direction, Pool, Proposal, Retrieval
from mitl.search.gallery import RankedLists, open_gallery, store_lists
from mitl.search.request import fingerprint


@cache
def picture(colour: str = "seagreen", size: tuple[int, int] = (64, 48)) -> bytes:
    """The bytes of a small real JPEG."""
    buffer = BytesIO()
    Picture.new("RGB", size, colour).save(buffer, "JPEG")
    return buffer.getvalue()


def make_collection(
    name: str = "zoo", images: int = 6, captions_each: int = 2, *, pictures: bool = False, split: str = ""
) -> Collection:
    """A collection whose image i has key str(i), and captions "caption c of image i" with keys counted through;
    its ``original`` matches included."""
    collection = Collection.objects.create(name=name)
    folder = settings.MEDIA_ROOT / "images" / name
    if pictures:
        folder.mkdir(parents=True, exist_ok=True)
    for i in range(images if pictures else 0):
        (folder / f"{i}.jpg").write_bytes(picture())
    rows = Image.objects.bulk_create(
        Image(
            collection=collection,
            key=str(i),
            file_name=f"{i}.jpg",
            file=f"images/{name}/{i}.jpg" if pictures else "",
            split=split,
        )
        for i in range(images)
    )
    captions = Caption.objects.bulk_create(
        Caption(
            collection=collection,
            image=image,
            key=str(i * captions_each + c),
            text=f"caption {c} of image {i}",
        )
        for i, image in enumerate(rows)
        for c in range(captions_each)
    )
    Match.objects.bulk_create(
        Match(collection=collection, image=caption.image, caption=caption, source=Match.ORIGINAL)
        for caption in captions
    )
    return collection


def make_sample(collection: Collection, name: str = "queries") -> Sample:
    """All images and captions of the collection as queries."""
    sample = Sample.objects.create(name=name, collection=collection, seed=0)
    # Not by set(), which compares with what is there: nearly every test begins here, and it took half of that time.
    with connection.cursor() as cursor:
        for kind in ("image", "caption"):
            keys = f"SELECT %s, id FROM corpus_{kind} WHERE collection_id = %s ORDER BY id"
            cursor.execute(
                f"INSERT INTO corpus_sample_{kind}s (sample_id, {kind}_id) {keys}", [sample.pk, collection.pk]
            )
    return sample


def make_annotator(
    name: str = "overlap", kind: str = "overlap", *, checkpoint: str = "", **options: object
) -> Annotator:
    return Annotator.objects.create(name=name, kind=kind, checkpoint=checkpoint, options=options)


def make_retrieval(annotator: Annotator, sample: Sample, *, depth: int = 5, seed: int = 0) -> Retrieval:
    """Random but valid lists over the sample's queries, stored as a file."""
    rng = np.random.default_rng(seed)
    images = np.array(sample.collection.images.values_list("pk", flat=True))
    captions = np.array(sample.collection.captions.values_list("pk", flat=True))

    def ranked(queries: np.ndarray, items: np.ndarray) -> RankedLists:
        places = np.stack([rng.permutation(len(items))[:depth] for _ in queries])
        scores = -np.sort(-rng.random(places.shape).astype(np.float32), axis=1)
        return RankedLists(queries, items[places], scores)

    lists = {
        Direction.IMAGE_TO_CAPTION: ranked(np.array(sample.images.values_list("pk", flat=True)), captions),
        Direction.CAPTION_TO_IMAGE: ranked(np.array(sample.captions.values_list("pk", flat=True)), images),
    }
    stored = store_lists(f"retrievals/{annotator.name}", lists)
    return Retrieval.objects.create(
        annotator=annotator,
        collection=sample.collection,
        sample=sample,
        depth=depth,
        engine="blocked",
        fingerprint=fingerprint(annotator, open_gallery(sample.collection, sample)),
        file=stored.path,
        sha256=stored.sha256,
        seconds=0.0,
    )


def make_pool(
    sample: Sample,
    retrievals: Sequence[Retrieval] = (),
    name: str = "pool",
    pairs: Sequence[tuple[Image, Caption]] = (),
) -> Pool:
    """A pool row; ``pairs`` become proposals of the first retrieval's annotator (or a new one), image → captions."""
    pool = Pool.objects.create(
        name=name,
        collection=sample.collection,
        sample=sample,
        top_k=5,
        control_depth=5,
        directions=[d.value for d in Direction],
        seed=0,
        n_proposals=len(pairs),
        n_pairs=len(pairs),
    )
    if retrievals:
        pool.retrievals.set(retrievals)
    if pairs:
        annotator = retrievals[0].annotator if retrievals else make_annotator(f"annotator-of-{name}")
        Proposal.objects.bulk_create(
            Proposal(pool=pool, annotator=annotator, image=image, caption=caption, direction="i2t", rank=1, score=0.5)
            for image, caption in pairs
        )
    return pool


def make_round(
    collection: Collection | None = None,
    name: str = "round-1",
    *,
    hits: int = 1,
    candidates: int = 2,
    replication: int = 1,
    published: bool = True,
    reasons: bool = False,
    reward: str = "0.65",
) -> Round:
    """A round of small HITs, each of ``candidates`` pairs (image i with a caption of image i + 1) and then one
    positive and one negative control; no two HITs share a pair. Needs no pool behind it but has one."""
    collection = collection or make_collection(images=max(6, hits * (candidates + 2) + 2), pictures=True)
    sample = Sample.objects.filter(collection=collection).first() or make_sample(
        collection, f"queries-{collection.name}"
    )
    images = list(collection.images.prefetch_related("captions"))
    made = Round.objects.create(
        name=name,
        pool=make_pool(sample, name=f"pool-{name}"),
        reward=Decimal(reward),
        ceiling=Decimal("500"),
        design={"name": "test", "candidates": candidates, "positives": 1, "negatives": 1},
        reasons=reasons,
        wording=max(WORDINGS),
        replication=replication,
        seed=0,
        plan_hash="0" * 64,
        join_key=f"join-{name}",
        channel="browser" if published else "",
        published_at=timezone.now() if published else None,
    )
    turning = cycle(zip(images, images[1:] + images[:1], strict=True))
    rows = HIT.objects.bulk_create(HIT(round=made, number=number) for number in range(1, hits + 1))
    for hit in rows:
        fill_hit(hit, islice(turning, candidates + 2))
    Seat.objects.bulk_create(
        Seat(round=made, hit=hit, number=number) for hit in rows for number in range(1, replication + 1)
    )
    return made


def put_on_platform(made: Round, environment: str = "emulator") -> Round:
    """Let a round be one that was published on MTurk, without a posting."""
    terms = {"fees": fee_schedule().as_json(), "settles": True, "rehearsal": environment == "emulator"}
    Round.objects.filter(pk=made.pk).update(channel="mturk", environment=environment, **terms)
    made.refresh_from_db()
    return made


def fill_hit(hit: HIT, images: Iterable[tuple[Image, Image]]) -> None:
    """Place each image with a caption of its follower; the last pair is a negative control, the one before it,
    the image with its own caption, a positive one."""
    *candidates, positive, negative = images
    pairs = [(image, following.captions.all()[0]) for image, following in (*candidates, negative)]
    pairs.insert(-1, (positive[0], positive[0].captions.all()[0]))
    controls = Control.objects.bulk_create(
        Control(round=hit.round, polarity=polarity, image=image, caption=caption)
        for polarity, (image, caption) in zip(
            (Control.Polarity.POSITIVE, Control.Polarity.NEGATIVE), pairs[-2:], strict=True
        )
    )
    Item.objects.bulk_create(
        Item(hit=hit, place=place, image=image, caption=caption, control=control)
        for place, ((image, caption), control) in enumerate(
            zip(pairs, [None] * len(candidates) + controls, strict=True), 1
        )
    )


def make_assignment(seat: Seat, worker: Worker | None = None, *, minutes: int = 45) -> Assignment:
    """A lease on ``seat``, which it takes."""
    worker = worker or make_worker()
    Seat.objects.filter(pk=seat.pk).update(state=Seat.State.TAKEN)
    return Assignment.objects.create(
        seat=seat, hit=seat.hit, worker=worker, deadline=timezone.now() + timedelta(minutes=minutes)
    )


def make_worker(*, consented: bool = True) -> Worker:
    worker = Worker.objects.create(consented_at=timezone.now() if consented else None)
    if consented:
        Consent.objects.create(worker=worker, sheet=current_sheet())
    return worker
