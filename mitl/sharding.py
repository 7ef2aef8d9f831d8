"""Share one retrieval among machines: a job that encodes and joins, and a job a shard that searches a strip of images.

Any worker may take any of these jobs, at the same time, twice, or die with it. Between them they pass files:
the embeddings, encoded once, and what each shard found.
"""

from datetime import timedelta
from time import monotonic, sleep
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from core.errors import CounterpartError
from core.files import StoredFile, remove_file
from core.jobs import LIVE, Cancelled, JobProgress, cancel, finish, open_job, resend_stale_jobs, running, send
from core.models import Job
from core.progress import Progress, silent
from corpus.models import Collection
from mitl import annotators as machines
from mitl.annotators.base import ComparingAnnotator, EmbeddingAnnotator
from mitl.gallery import BothFound, Gallery, open_gallery
from mitl.lists import BothLists, with_ids
from mitl.models import Annotator, Direction, Retrieval
from mitl.naming import find_annotators
from mitl.retrieval import DEPTH, Order, check_order, found_already, store_retrieval
from mitl.search.quick import check_device

TASK = "mitl.tasks.share_retrieval"
SHARD_TASK = "mitl.tasks.search_shard"
PAUSE = 0.5  # seconds between two looks at what others do


def open_shared_retrieval(
    collection: Collection,
    *,
    annotator: Annotator,
    shards: int,
    depth: int = DEPTH,
    device: str = "cpu",
    by: User | None = None,
) -> Job:
    """Open the job of a search of the whole gallery, in both directions, that several workers share.

    Its Retrieval is the one that ``retrieve`` would store, bit by bit, where all workers have the same kind of
    processor. A job of just this that is still live is returned as it stands. More shards than images are cut to
    one an image.

    Raises CounterpartError as ``retrieve`` does, for less than one shard, and for a machine without embeddings.
    """
    if shards < 1:
        raise CounterpartError(f"A search needs at least 1 shard, not {shards}.")
    order = check_order(_order(collection, depth), [annotator])
    _machine(annotator, order.gallery)
    search = {
        "collection": collection.name,
        "annotator": annotator.name,
        "depth": order.depth,
        "fingerprint": order.fingerprint_of(annotator),
    }
    same = {f"params__{name}": value for name, value in search.items()}
    images = len(order.gallery.image_ids)
    how = {"images": images, "shards": min(shards, images), "device": device}
    live = Job.objects.filter(task=TASK, state__in=LIVE, **same).first()
    return live or open_job(f"Retrieve {annotator} over {collection}", TASK, search | how, by=by)


def shards_of(job: Job) -> QuerySet[Job]:
    """The jobs of a shared retrieval's shards; none before its embeddings are there."""
    return Job.objects.filter(task=SHARD_TASK, params__parent=str(job.pk))


def retrieval_of(job: Job) -> Retrieval | None:
    """Return what a shared retrieval came to, if it is there."""
    annotator = find_annotators([job.params["annotator"]])[0]
    same = {"depth": job.params["depth"], "fingerprint": job.params["fingerprint"], "engine": "blocked", "sample": None}
    return annotator.retrievals.filter(**same).first()


def advance(job_id: UUID | str) -> None:
    """Take a shared retrieval as far as it can be taken now: encode and open the shards, or join them, or tidy up."""
    with running(job_id) as progress:
        if progress is not None:
            _encode_or_join(Job.objects.get(pk=job_id), progress)
    # Only now, when the job waits again, may its shards call for it.
    _open_shards(job_id)
    job = Job.objects.get(pk=job_id)
    if not job.is_live and not shards_of(job).filter(state__in=LIVE).exists():
        _remove_files(job)


def search_shard(job_id: UUID | str) -> None:
    """Search one shard, and call for its shared retrieval where there is nothing more to wait for."""
    try:
        with running(job_id) as progress:
            if progress is not None:
                _search(Job.objects.get(pk=job_id), progress)
    finally:
        parent = Job.objects.get(pk=Job.objects.get(pk=job_id).params["parent"])
        _tell(parent)
        if not shards_of(parent).filter(state__in=LIVE).exists() or _broken(parent):
            send(parent)


def take_part(job: Job, progress: Progress = silent) -> Retrieval:
    """Work on a shared retrieval here, beside whatever workers there are, until it is joined.

    Heals on the way what was lost by others, so that it ends without workers and without a clock.
    Raises CounterpartError where the job fails or somebody cancels it.
    """
    while job.is_live:
        advance(job.pk)
        for shard in shards_of(job).filter(state=Job.State.QUEUED).order_by("created_at"):
            search_shard(shard.pk)
            _look(job, progress)
        _look(job, progress)
        if job.is_live and not shards_of(job).filter(state=Job.State.QUEUED).exists():
            resend_stale_jobs()
            sleep(PAUSE)
    retrieval = retrieval_of(job)
    if job.state != Job.State.DONE or retrieval is None:
        raise CounterpartError(f"{job.title}: {job.message}")
    return retrieval


def _look(job: Job, progress: Progress) -> None:
    job.refresh_from_db()
    progress("searching shards", job.done, job.params["shards"])


def _order(collection: Collection, depth: int) -> Order:
    return Order(collection, None, open_gallery(collection, None), depth, "blocked", "cpu")


def _machine(annotator: Annotator, gallery: Gallery) -> EmbeddingAnnotator:
    machine = machines.load(annotator)
    if not isinstance(machine, EmbeddingAnnotator) or isinstance(machine, ComparingAnnotator):
        raise CounterpartError(
            f"{annotator}: only searches by inner products of embeddings are shared; leave --shards out."
        )
    machine.check_pictures(gallery.images)
    return machine


def _encode_or_join(job: Job, progress: JobProgress) -> None:
    """Do what is next; nothing while shards are at work. Raises CounterpartError where one of them ended badly."""
    made = retrieval_of(job)
    if made is None and "embeddings" not in job.params:
        _encode(job, progress)
        return
    if made is None:
        if broken := _broken(job):
            raise CounterpartError(f"{broken.title}: {broken.message}")
        if _done(job) < job.params["shards"]:
            return
        made = _join(job, progress)
    # Whoever was given up for lost stops here, before it takes the strips from under its successor's hands.
    progress("removing shards", 0, None)
    _remove_files(job)
    finish(job.pk, f"{made} in {job.params['shards']} shards, depth {made.depth}, SHA-256 {made.sha256}.")


def _ordered(job: Job) -> tuple[Annotator, Order]:
    """Return who searches for what. Raises CounterpartError where either is not what it was."""
    annotator = find_annotators([job.params["annotator"]])[0]
    order = _order(Collection.objects.named(job.params["collection"]), job.params["depth"])
    if order.fingerprint_of(annotator) != job.params["fingerprint"]:
        raise CounterpartError(f"{annotator} or the gallery changed during the search; start it again.")
    return annotator, order


def _encode(job: Job, progress: JobProgress) -> None:
    from mitl.strips import store_embeddings

    annotator, order = _ordered(job)
    machine = _machine(annotator, order.gallery)
    cache = machines.open_cache(annotator)
    embeddings = machine.encode(order.gallery.images, order.gallery.captions, cache=cache, progress=progress)
    progress("storing embeddings", 0, None)
    try:
        stored = store_embeddings(f"shards/{job.pk}", *embeddings)
    except ValueError as error:
        raise CounterpartError(f"{annotator}: {error}") from error
    _note(job, embeddings=[[one.path, one.sha256] for one in stored])


@transaction.atomic
def _open_shards(job_id: UUID | str) -> None:
    """Open the jobs of all shards, once, if the embeddings are there and nobody has ended the search."""
    waiting = Job.objects.select_for_update(of=("self",)).filter(pk=job_id, state=Job.State.QUEUED)
    job = waiting.select_related("created_by").first()
    if job is None or "embeddings" not in job.params or shards_of(job).exists():
        return
    images, shards = job.params["images"], job.params["shards"]
    for number in range(shards):
        strip = [images * number // shards, images * (number + 1) // shards]
        params = {"parent": str(job.pk), "number": number, "strip": strip}
        open_job(f"{job.title}, shard {number + 1} of {shards}", SHARD_TASK, params, by=job.created_by)


class _ShardProgress:
    """Passes progress on, and looks twice a second whether the shared retrieval is still wanted."""

    def __init__(self, shard: Job, parent: Job, progress: JobProgress) -> None:
        self._shard, self._parent, self._progress = shard, parent, progress
        self._looked = -PAUSE

    def __call__(self, step: str, done: int, total: int | None) -> None:
        self._progress(step, done, total)
        if monotonic() - self._looked < PAUSE:
            return
        self._looked = monotonic()
        if not _tell(self._parent):
            cancel(self._shard, actor="shared retrieval")
            raise Cancelled


def _search(shard: Job, progress: JobProgress) -> None:
    """Search the shard's strip of images among all captions, unless a task that was lost later has done it."""
    parent = Job.objects.get(pk=shard.params["parent"])
    if "found" not in shard.params:
        _note(shard, found=_found(shard, parent, _ShardProgress(shard, parent, progress)))
    finish(shard.pk, f"Images {shard.params['strip'][0]} to {shard.params['strip'][1] - 1} are searched.")


def _found(shard: Job, parent: Job, progress: Progress) -> list[str]:
    """Return the path and the checksum of what was found."""
    from mitl.strips import map_embeddings, store_strip
    from mitl.topk import topk_of_strip

    device, depth = parent.params["device"], parent.params["depth"]
    check_device(device)
    progress("reading embeddings", 0, None)
    images, captions = map_embeddings([StoredFile(*one) for one in parent.params["embeddings"]])
    strip = topk_of_strip(images, captions, depth, slice(*shard.params["strip"]), device=device, progress=progress)
    progress("storing what was found", 0, None)
    stored = store_strip(f"shards/{parent.pk}/{shard.params['number']}", strip)
    return [stored.path, stored.sha256]


def _join(job: Job, progress: JobProgress) -> Retrieval:
    """Store the Retrieval; whoever does it again, even at the same time, is given the one that is there."""
    annotator, order = _ordered(job)
    lists = _joined(job, order.gallery, progress)
    with transaction.atomic():
        Annotator.objects.select_for_update(no_key=True).get(pk=annotator.pk)
        seconds = (timezone.now() - job.created_at) / timedelta(seconds=1)
        return found_already(annotator, order) or store_retrieval(annotator, order, lists, seconds)


def _joined(job: Job, gallery: Gallery, progress: JobProgress) -> BothLists:
    from mitl.strips import load_strip
    from mitl.topk import join_strips

    strips = []
    for done, shard in enumerate(shards_of(job), 1):
        strips.append(load_strip(StoredFile(*shard.params["found"])))
        progress("joining shards", done, job.params["shards"])
    both = join_strips(strips)
    found: BothFound = {
        Direction.IMAGE_TO_CAPTION: (both.i2t_indices, both.i2t_scores),
        Direction.CAPTION_TO_IMAGE: (both.t2i_indices, both.t2i_scores),
    }
    return with_ids(gallery, found)


def _tell(parent: Job) -> bool:
    """Write into the shared retrieval how many shards are done; False if it has ended or was asked to."""
    told = {"step": "searching shards", "done": _done(parent), "total": parent.params["shards"]}
    live = Job.objects.filter(pk=parent.pk, state__in=LIVE, cancel_requested=False)
    return bool(live.update(heartbeat_at=timezone.now(), **told))


def _done(job: Job) -> int:
    return shards_of(job).filter(state=Job.State.DONE).count()


def _broken(job: Job) -> Job | None:
    return shards_of(job).filter(state__in=(Job.State.FAILED, Job.State.CANCELLED)).first()


def _note(job: Job, **params: Any) -> None:
    """Keep in a job what its next task goes on from."""
    Job.objects.filter(pk=job.pk).update(params=job.params | params)


def _remove_files(job: Job) -> None:
    """Remove embeddings and strips from the storage. Does nothing where they are gone already."""
    stored = [shard.params["found"] for shard in shards_of(job) if "found" in shard.params]
    for path, sha256 in [*job.params.get("embeddings", []), *stored]:
        remove_file(StoredFile(path, sha256))
