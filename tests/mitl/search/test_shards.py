"""One retrieval sharded over several tasks: the same bytes as of a single run, also if tasks die."""

from datetime import timedelta

import numpy as np
import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from core import jobs
from core.errors import CounterpartError
from core.jobs import cancel, resend_stale_jobs
from core.models import Job
from corpus.models import Collection
from mitl.annotators.base import EmbeddingAnnotator
from mitl.models import Annotator, Retrieval
from mitl.search import shards as sharding
from mitl.search.shards import advance, retrieval_of, search_shard, shards_of, take_part
from tests.factories import make_annotator, make_collection
from tests.mitl.searches import add_embeddings, open_shared_retrieval, retrieve
from tests.transactions import locked_by

IMAGES = 23


@pytest.fixture
def zoo(db) -> Collection:
    return make_collection(images=IMAGES)


@pytest.fixture
def annotator(zoo, tmp_path) -> Annotator:
    """Whole numbers, so that many scores are equal and ties decide."""
    rng = np.random.default_rng(2)
    return add_embeddings(tmp_path, *(rng.integers(-2, 3, (n, 6)) + np.float32(0.5) for n in (IMAGES, 2 * IMAGES)))


@pytest.fixture
def sent(monkeypatch) -> list:
    """The ids of the jobs sent, instead of sending them."""
    ids: list = []
    for module in (jobs, sharding):
        monkeypatch.setattr(module, "send", lambda job: ids.append(job.pk))
    return ids


@pytest.fixture
def opened(zoo, annotator, sent) -> Job:
    """A shared search whose three shards wait for workers."""
    job = open_shared_retrieval(zoo, annotator=annotator, shards=3, depth=5)
    advance(job.pk)
    return job


def state_of(job: Job) -> str:
    job.refresh_from_db()
    return job.state


def search_all(job: Job) -> None:
    for shard in shards_of(job):
        search_shard(shard.pk)


def lose(job: Job) -> None:
    """Leave a job as a killed worker does, some minutes ago."""
    Job.objects.filter(pk=job.pk).update(
        state=Job.State.RUNNING, finished_at=None, heartbeat_at=timezone.now() - timedelta(minutes=10)
    )


def left_in_storage() -> list[str]:
    if not default_storage.exists("shards"):
        return []
    return [
        name for job in default_storage.listdir("shards")[0] for name in default_storage.listdir(f"shards/{job}")[1]
    ]


@pytest.mark.slow
@pytest.mark.parametrize("shards", [1, 3, 7, IMAGES + 100])
def test_any_number_of_shards_comes_to_the_bytes_of_a_single_run(
    zoo, annotator, shards, django_capture_on_commit_callbacks
):
    single = retrieve(zoo, annotators=[annotator], depth=9)[0]
    Retrieval.objects.all().delete()
    with django_capture_on_commit_callbacks(execute=True):
        job = open_shared_retrieval(zoo, annotator=annotator, shards=shards, depth=9)
    assert state_of(job) == Job.State.DONE
    assert shards_of(job).count() == min(shards, IMAGES)
    shared = Retrieval.objects.get()
    assert (shared.sha256, shared.fingerprint, shared.depth) == (single.sha256, single.fingerprint, 9)
    assert retrieve(zoo, annotators=[annotator], depth=9) == [shared]


def test_whoever_waits_does_the_work_where_there_is_no_worker(zoo, annotator, sent):
    steps = []
    job = open_shared_retrieval(zoo, annotator=annotator, shards=3, depth=5)
    retrieval = take_part(job, progress=lambda step, done, total: steps.append((done, total)))
    assert retrieval == Retrieval.objects.get()
    assert steps[:3] == [(1, 3), (2, 3), (3, 3)]


def test_shards_may_be_searched_in_any_order_and_twice(opened, sent):
    for shard in [*shards_of(opened), *reversed(shards_of(opened))]:
        search_shard(shard.pk)
    advance(opened.pk)
    assert retrieval_of(opened).sha256 == single_sha256(opened)


def single_sha256(job: Job) -> str:
    """What a single run comes to, once the shared one is out of its way."""
    Retrieval.objects.all().delete()
    collection = Collection.objects.get(name=job.params["collection"])
    annotator = Annotator.objects.get(name=job.params["annotator"])
    return retrieve(collection, annotators=[annotator], depth=job.params["depth"])[0].sha256


def test_the_search_is_called_for_when_its_last_shard_is_done(opened, sent):
    first, *others = shards_of(opened)
    sent.clear()
    search_shard(first.pk)
    assert sent == []
    for shard in others:
        search_shard(shard.pk)
    assert sent == [opened.pk]


def test_a_search_whose_last_shard_ends_just_after_it_looked_is_called_for_again(opened, sent, monkeypatch):
    looking = sharding._encode_or_join

    def look_too_early(job, progress):
        looking(job, progress)
        search_all(opened)
        sent.clear()  # nobody hears them: the search runs

    with monkeypatch.context() as patched:
        patched.setattr(sharding, "_encode_or_join", look_too_early)
        advance(opened.pk)
    assert (state_of(opened), sent) == (Job.State.QUEUED, [opened.pk])
    advance(opened.pk)
    assert state_of(opened) == Job.State.DONE


def test_the_search_counts_its_shards(opened):
    search_shard(shards_of(opened)[0].pk)
    opened.refresh_from_db()
    assert (opened.state, opened.step, opened.done, opened.total) == ("queued", "searching shards", 1, 3)


def test_embeddings_are_encoded_once(opened, annotator, monkeypatch):
    monkeypatch.setattr(EmbeddingAnnotator, "encode", lambda *_, **__: pytest.fail("encoded again"))
    search_all(opened)
    advance(opened.pk)
    assert state_of(opened) == Job.State.DONE


def test_joining_twice_makes_one_retrieval(opened):
    search_all(opened)
    advance(opened.pk)
    lose(opened)
    resend_stale_jobs()
    advance(opened.pk)
    assert state_of(opened) == Job.State.DONE
    assert Retrieval.objects.count() == 1


def test_one_who_joins_at_the_same_time_is_given_the_retrieval_that_is_there(opened, monkeypatch):
    search_all(opened)
    really_joined, joined_by_another = sharding._joined, []

    def joined(*arguments):
        lists = really_joined(*arguments)
        if not joined_by_another:  # while we held our lists, we were given up for lost, and another came to the end
            joined_by_another.append(True)
            Job.objects.filter(pk=opened.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=10))
            resend_stale_jobs()
            advance(opened.pk)
        return lists

    monkeypatch.setattr(sharding, "_joined", joined)
    advance(opened.pk)
    assert (state_of(opened), opened.attempts) == (Job.State.DONE, 1)
    assert Retrieval.objects.count() == 1


def test_a_lost_shard_is_searched_again(opened, sent):
    lost, *others = shards_of(opened)
    for shard in others:
        search_shard(shard.pk)
    lose(lost)
    sent.clear()
    assert resend_stale_jobs() == 1
    search_shard(lost.pk)
    advance(opened.pk)
    assert retrieval_of(opened).sha256 == single_sha256(opened)


def test_a_shard_lost_after_its_result_was_kept_is_not_searched_again(opened, monkeypatch):
    search_all(opened)
    lost = shards_of(opened)[0]
    lose(lost)
    resend_stale_jobs()
    monkeypatch.setattr(sharding, "_found", lambda *_: pytest.fail("searched again"))
    search_shard(lost.pk)
    advance(opened.pk)
    assert state_of(opened) == Job.State.DONE


@pytest.mark.slow
def test_a_search_lost_before_its_shards_were_opened_goes_on(zoo, annotator, sent, monkeypatch):
    job = open_shared_retrieval(zoo, annotator=annotator, shards=3, depth=5)
    with monkeypatch.context() as patch:
        patch.setattr(sharding, "_open_shards", lambda job_id: None)
        advance(job.pk)
    assert not shards_of(job).exists()
    lose(job)
    take_part(job)
    assert Retrieval.objects.count() == 1


def test_a_lost_join_is_healed(opened, django_capture_on_commit_callbacks):
    search_all(opened)
    lose(opened)
    assert resend_stale_jobs() == 1
    advance(opened.pk)
    assert Retrieval.objects.count() == 1


def test_nothing_is_left_in_the_storage_after_the_join(opened):
    search_all(opened)
    assert len(left_in_storage()) == 5
    advance(opened.pk)
    assert left_in_storage() == []


def test_cancelling_the_search_stops_its_shards(opened):
    first, second, third = shards_of(opened).order_by("created_at")
    search_shard(first.pk)
    cancel(opened, actor="bo")
    for shard in (second, third):
        search_shard(shard.pk)
    assert [state_of(shard) for shard in (first, second, third)] == ["done", "cancelled", "cancelled"]
    advance(opened.pk)  # as the last shard asked for
    assert state_of(opened) == Job.State.CANCELLED
    assert left_in_storage() == []
    assert not Retrieval.objects.exists()


def test_a_search_that_is_cancelled_before_its_shards_are_opened_opens_none(zoo, annotator, sent):
    job = open_shared_retrieval(zoo, annotator=annotator, shards=3, depth=5)
    sharding._note(job, embeddings=[])
    assert cancel(job, actor="bo")
    sharding._open_shards(job.pk)
    assert not shards_of(job).exists()


def test_opening_the_shards_and_storing_the_lists_wait_for_one_another(zoo, annotator, sent):
    job = open_shared_retrieval(zoo, annotator=annotator, shards=2, depth=5)
    assert Job in locked_by(lambda: advance(job.pk))
    search_all(job)
    assert Annotator in locked_by(lambda: advance(job.pk))


def test_a_shard_at_work_stops_when_the_search_is_cancelled(opened, monkeypatch):
    def asked_to_stop(*_, progress, **__):
        cancel(opened, actor="bo")
        progress("searching", 1, 2)
        pytest.fail("went on")

    monkeypatch.setattr(sharding, "PAUSE", 0)
    monkeypatch.setattr("mitl.topk.topk_of_strip", asked_to_stop)
    shard = shards_of(opened)[0]
    search_shard(shard.pk)
    assert state_of(shard) == Job.State.CANCELLED


def test_a_failed_shard_fails_the_search_with_its_reason(opened, sent, monkeypatch):
    def broken(*_):
        raise CounterpartError("no such device")

    monkeypatch.setattr(sharding, "check_device", broken)
    sent.clear()
    search_shard(shards_of(opened).order_by("created_at")[1].pk)
    assert sent == [opened.pk]
    advance(opened.pk)
    assert state_of(opened) == Job.State.FAILED
    assert opened.message == "Retrieve theirs over zoo, shard 2 of 3: no such device"
    with pytest.raises(CounterpartError, match="no such device"):
        take_part(opened)


def test_a_gallery_that_changed_during_the_search_is_refused(opened, zoo):
    search_all(opened)
    zoo.captions.create(key="new", image=zoo.images.first(), text="new")
    advance(opened.pk)
    assert (state_of(opened), opened.message) == (
        Job.State.FAILED,
        "theirs or the gallery changed during the search; start it again.",
    )
    assert left_in_storage() == []


def test_vectors_that_cannot_be_searched_are_named_before_any_shard_is_opened(zoo, annotator, sent, monkeypatch):
    job = open_shared_retrieval(zoo, annotator=annotator, shards=3)
    zeros = np.zeros((IMAGES, 6), np.float32), np.zeros((2 * IMAGES, 6), np.float32)
    monkeypatch.setattr(EmbeddingAnnotator, "encode", lambda *_, **__: zeros)
    advance(job.pk)
    assert state_of(job) == Job.State.FAILED
    assert job.message == "theirs: 23 rows of images are zero vectors, which have no direction; the first is row 0."
    assert not shards_of(job).exists()


def test_the_same_search_is_not_opened_beside_a_live_one(opened, zoo, annotator):
    assert open_shared_retrieval(zoo, annotator=annotator, shards=7, depth=5) == opened
    assert open_shared_retrieval(zoo, annotator=annotator, shards=7, depth=4) != opened


def test_what_was_searched_already_is_not_shared_again(zoo, annotator, sent):
    there = retrieve(zoo, annotators=[annotator], depth=5)[0]
    job = open_shared_retrieval(zoo, annotator=annotator, shards=3, depth=5)
    assert take_part(job) == there
    assert not shards_of(job).exists()


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"shards": 0}, "at least 1 shard, not 0"),
        ({"shards": 2, "depth": 0}, "depth of at least 1, not 0"),
    ],
)
def test_impossible_searches_open_no_job(zoo, annotator, wish, message):
    with pytest.raises(CounterpartError, match=message):
        open_shared_retrieval(zoo, annotator=annotator, **wish)
    assert not Job.objects.exists()


def test_annotators_without_embeddings_cannot_share(zoo):
    with pytest.raises(CounterpartError, match="overlap: only searches by inner products of embeddings can be shared"):
        open_shared_retrieval(zoo, annotator=make_annotator(), shards=2)
