"""Share one search among several workers: a job that encodes and joins, and a job a shard that searches some images.

Any worker may take any of these jobs, at the same time, twice, or die with it. They exchange stored files: the
embeddings, encoded once, and the lists that each shard found.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.files import StoredFile, local_copy, read_arrays, remove_file, write_arrays, write_file
from core.jobs import LIVE, Cancelled, JobProgress, cancel, finish, open_job, resend_stale_jobs, running, send
from core.models import Job
from core.progress import Progress, silent
from corpus.models import Collection
from mitl import annotators
from mitl.annotators.base import ComparingAnnotator, EmbeddingAnnotator
from mitl.models import Annotator, Direction, Retrieval
from mitl.search.embeddings import check_device
from mitl.search.gallery import BothFound, BothLists, Gallery, open_gallery, with_ids
from mitl.search.request import Search
from mitl.search.store import find_retrieval, store_retrieval

if TYPE_CHECKING:
    from mitl.topk import Strip

TASK = "mitl.tasks.share_retrieval"
SHARD_TASK = "mitl.tasks.search_shard"
PAUSE = 0.5  # seconds between two checks of other workers' progress


def open_shared_retrieval(search: Search, annotator: Annotator, *, shards: int, by: User | None = None) -> Job:
    """Open the job of one annotator's search of the whole gallery, in both directions, that several workers share.

    Its Retrieval is the one that ``retrieve`` would store, byte for byte, if all workers have the same kind of
    processor. A live job of the same search is returned as it is. There is at most one shard an image.

    Raises CounterpartError as ``retrieve`` does, for less than one shard, and for annotators without embeddings.
    """
    if shards < 1:
        raise CounterpartError(f"A search needs at least 1 shard, not {shards}.")
    device = search.device
    search = replace(search, device="cpu").checked()  # the workers' device, not that of this one
    _load(annotator, search.gallery)
    collection = search.gallery.collection
    params = {
        "collection": collection.name,
        "annotator": annotator.name,
        "depth": search.depth,
        "fingerprint": search.fingerprint(annotator),
    }
    live = Job.objects.filter(task=TASK, state__in=LIVE, **{f"params__{name}": value for name, value in params.items()})
    images = len(search.gallery.image_ids)
    how = {"images": images, "shards": min(shards, images), "device": device}
    return live.first() or open_job(f"Retrieve {annotator} over {collection}", TASK, params | how, by=by)


def shards_of(job: Job) -> QuerySet[Job]:
    """The jobs of a shared search's shards; none before its embeddings are stored."""
    return Job.objects.filter(task=SHARD_TASK, params__parent=str(job.pk))


def retrieval_of(job: Job) -> Retrieval | None:
    """Return the result of a shared search, if it is stored."""
    annotator = Annotator.objects.named(job.params["annotator"])
    same = {"depth": job.params["depth"], "fingerprint": job.params["fingerprint"], "engine": "blocked", "sample": None}
    return annotator.retrievals.filter(**same).first()


def advance(job_id: UUID | str) -> None:
    """Take a shared search as far as possible now: encode and open the shards, or join them, or clean up."""
    with running(job_id) as progress:
        if progress is not None:
            _encode_or_join(Job.objects.get(pk=job_id), progress)
    # Only now, when the job is queued again, may its shards send for it.
    _open_shards(job_id)
    job = Job.objects.get(pk=job_id)
    if shards_of(job).filter(state__in=LIVE).exists():
        return
    if job.state == Job.State.QUEUED and shards_of(job).exists():
        send(job)  # the last shard was done while the job ran, which does not hear that it is sent for
    elif not job.is_live:
        _remove_files(job)


def search_shard(job_id: UUID | str) -> None:
    """Search one shard, and send for its shared search when that has nothing more to wait for."""
    try:
        with running(job_id) as progress:
            if progress is not None:
                _search(Job.objects.get(pk=job_id), progress)
    finally:
        parent = Job.objects.get(pk=Job.objects.get(pk=job_id).params["parent"])
        _report_progress(parent)
        if not shards_of(parent).filter(state__in=LIVE).exists() or _failed_shard(parent):
            send(parent)


def take_part(job: Job, progress: Progress = silent) -> Retrieval:
    """Work on a shared search in this process, beside other workers if there are any, until it is joined.

    Work that other workers lost is sent again, so that it ends without any worker.
    Raises CounterpartError where the job fails or is cancelled.
    """
    while job.is_live:
        advance(job.pk)
        for shard in shards_of(job).filter(state=Job.State.QUEUED).order_by("created_at"):
            search_shard(shard.pk)
            _show(job, progress)
        _show(job, progress)
        if job.is_live and not shards_of(job).filter(state=Job.State.QUEUED).exists():
            resend_stale_jobs()
            sleep(PAUSE)
    retrieval = retrieval_of(job)
    if job.state != Job.State.DONE or retrieval is None:
        raise CounterpartError(f"{job.title}: {job.message}")
    return retrieval


def _show(job: Job, progress: Progress) -> None:
    job.refresh_from_db()
    progress("searching shards", job.done, job.params["shards"])


def _load(annotator: Annotator, gallery: Gallery) -> EmbeddingAnnotator:
    opened = annotators.load(annotator)
    if not isinstance(opened, EmbeddingAnnotator) or isinstance(opened, ComparingAnnotator):
        raise CounterpartError(
            f"{annotator}: only searches by inner products of embeddings can be shared; leave --shards out."
        )
    opened.check_pictures(gallery.images)
    return opened


def _encode_or_join(job: Job, progress: JobProgress) -> None:
    """Take the next step; none while shards are searched. Raises CounterpartError where one of them failed."""
    made = retrieval_of(job)
    if made is None and "embeddings" not in job.params:
        _encode(job, progress)
        return
    if made is None:
        if failed := _failed_shard(job):
            raise CounterpartError(f"{failed.title}: {failed.message}")
        if _done(job) < job.params["shards"]:
            return
        made = _join(job, progress)
    # A task that was replaced as lost stops here, before it removes files that its successor reads.
    progress("removing shards", 0, None)
    _remove_files(job)
    finish(job.pk, f"{made} in {job.params['shards']} shards, depth {made.depth}, SHA-256 {made.sha256}.")


def _search_of(job: Job) -> tuple[Annotator, Search]:
    """Return the annotator and its search. Raises CounterpartError where either changed since the job was opened."""
    annotator = Annotator.objects.named(job.params["annotator"])
    gallery = open_gallery(Collection.objects.named(job.params["collection"]))
    search = Search(gallery, [annotator], job.params["depth"])
    if search.fingerprint(annotator) != job.params["fingerprint"]:
        raise CounterpartError(f"{annotator} or the gallery changed during the search; start it again.")
    return annotator, search


def _encode(job: Job, progress: JobProgress) -> None:
    annotator, search = _search_of(job)
    gallery = search.gallery
    cache = annotators.open_cache(annotator)
    embeddings = _load(annotator, gallery).encode(gallery.images, gallery.captions, cache=cache, progress=progress)
    progress("storing embeddings", 0, None)
    try:
        stored = store_embeddings(f"shards/{job.pk}", *embeddings)
    except ValueError as error:
        raise CounterpartError(f"{annotator}: {error}") from error
    _note(job, embeddings=[[one.path, one.sha256] for one in stored])


@transaction.atomic
def _open_shards(job_id: UUID | str) -> None:
    """Open the jobs of all shards, once, if the embeddings are stored and the search has not ended."""
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
    """Passes progress on, and checks twice a second whether the shared search is still wanted."""

    def __init__(self, shard: Job, parent: Job, progress: JobProgress) -> None:
        self._shard, self._parent, self._progress = shard, parent, progress
        self._checked = -PAUSE

    def __call__(self, step: str, done: int, total: int | None) -> None:
        self._progress(step, done, total)
        if monotonic() - self._checked < PAUSE:
            return
        self._checked = monotonic()
        if not _report_progress(self._parent):
            cancel(self._shard, actor="shared retrieval")
            raise Cancelled


def _search(shard: Job, progress: JobProgress) -> None:
    """Search the shard's strip of images among all captions, unless a task that was lost later has done it."""
    parent = Job.objects.get(pk=shard.params["parent"])
    if "found" not in shard.params:
        _note(shard, found=_found(shard, parent, _ShardProgress(shard, parent, progress)))
    finish(shard.pk, f"Images {shard.params['strip'][0]} to {shard.params['strip'][1] - 1} are searched.")


def _found(shard: Job, parent: Job, progress: Progress) -> list[str]:
    """Return the path and the checksum of the stored strip."""
    from mitl.topk import topk_of_strip

    device, depth = parent.params["device"], parent.params["depth"]
    check_device(device)
    progress("reading embeddings", 0, None)
    images, captions = map_embeddings([StoredFile(*one) for one in parent.params["embeddings"]])
    strip = topk_of_strip(images, captions, depth, slice(*shard.params["strip"]), device=device, progress=progress)
    progress("storing lists", 0, None)
    stored = store_strip(f"shards/{parent.pk}/{shard.params['number']}", strip)
    return [stored.path, stored.sha256]


def _join(job: Job, progress: JobProgress) -> Retrieval:
    """Store the Retrieval; a second task that joins, even at the same time, gets the stored one."""
    annotator, search = _search_of(job)
    lists = _joined(job, search.gallery, progress)
    with transaction.atomic():
        Annotator.objects.select_for_update(no_key=True).get(pk=annotator.pk)
        seconds = (timezone.now() - job.created_at) / timedelta(seconds=1)
        return find_retrieval(search, annotator) or store_retrieval(search, annotator, lists, seconds, actor=job.actor)


def _joined(job: Job, gallery: Gallery, progress: JobProgress) -> BothLists:
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


def _report_progress(parent: Job) -> bool:
    """Write the number of finished shards into the shared search; False if it has ended or is to be cancelled."""
    parts = {"step": "searching shards", "done": _done(parent), "total": parent.params["shards"]}
    live = Job.objects.filter(pk=parent.pk, state__in=LIVE, cancel_requested=False)
    return bool(live.update(heartbeat_at=timezone.now(), **parts))


def _done(job: Job) -> int:
    return shards_of(job).filter(state=Job.State.DONE).count()


def _failed_shard(job: Job) -> Job | None:
    return shards_of(job).filter(state__in=(Job.State.FAILED, Job.State.CANCELLED)).first()


def _note(job: Job, **params: Any) -> None:
    """Keep in a job what its next task needs."""
    Job.objects.filter(pk=job.pk).update(params=job.params | params)


def _remove_files(job: Job) -> None:
    """Remove embeddings and strips from the storage, if they are there."""
    stored = [shard.params["found"] for shard in shards_of(job) if "found" in shard.params]
    for path, sha256 in [*job.params.get("embeddings", []), *stored]:
        remove_file(StoredFile(path, sha256))


def store_embeddings(prefix: str, images: NDArray, captions: NDArray) -> list[StoredFile]:
    """Store both sides so that their local copies can be memory-mapped.

    Raises ValueError for embeddings that cannot be searched: once here, instead of in every shard.
    """
    from mitl.topk.sides import fit_together, open_side

    fit_together(open_side(images, "images"), open_side(captions, "captions"))
    return [_store(f"{prefix}/images.npy", images), _store(f"{prefix}/captions.npy", captions)]


def _store(path: str, array: NDArray) -> StoredFile:
    buffer = BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return write_file(path, buffer.getvalue())


def map_embeddings(stored: Sequence[StoredFile]) -> list[NDArray]:
    """Return images and captions as memory maps, which all shards on one computer share."""
    return [np.load(local_copy(one), mmap_mode="r") for one in stored]


def store_strip(prefix: str, strip: "Strip") -> StoredFile:
    """Store what one shard found, without its precision, which differs between computers and changes no bit."""
    return write_arrays(
        prefix,
        images=np.array([strip.images.start, strip.images.stop]),
        image_places=strip.by_image.places,
        image_scores=strip.by_image.scores,
        caption_places=strip.by_caption.places,
        caption_scores=strip.by_caption.scores,
    )


def load_strip(stored: StoredFile) -> "Strip":
    """Read what ``store_strip`` stored. Raises CounterpartError if the file is missing or was changed."""
    from mitl.topk import Strip
    from mitl.topk.ranking import Ranking

    found = read_arrays(stored)
    by_image, by_caption = (Ranking(found[f"{side}_places"], found[f"{side}_scores"]) for side in ("image", "caption"))
    return Strip(slice(*found["images"].tolist()), by_image, by_caption, precision="")
