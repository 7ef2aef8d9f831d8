"""A search by parts: the bytes of a single run, on a grid of parts of both sides, resumed, cancelled and refused."""

import os
import shutil
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection

from coloured import SMALL, trained_arrays
from core.errors import CounterpartError
from core.models import Job
from core.work import jobs
from core.work.jobs import cancel
from corpus.models import Collection
from mitl.jobs import retrieve_by_parts as run_job
from mitl.models import Annotator, Retrieval
from mitl.search.by_parts import checked_opening, retrieve_by_parts
from mitl.search.plans import SearchPlan
from tests.factories import make_annotator, make_collection, make_sample
from tests.mitl.annotators.learned import annotator_of
from tests.mitl.galleries import drawn
from tests.mitl.pictured import make_coloured_collection
from tests.mitl.searches import add_embeddings, retrieve, search, single_run

IMAGES = 300


@pytest.fixture
def zoo(db) -> Collection:
    return make_collection(images=IMAGES)


@pytest.fixture
def annotator(zoo, tmp_path) -> Annotator:
    return add_embeddings(tmp_path, drawn(1, IMAGES, 6), drawn(2, 2 * IMAGES, 6))


def by_parts(zoo, annotator, sample=None, *, engine="local", shards=None, **how) -> Retrieval:
    return retrieve_by_parts(search(zoo, [annotator], sample, depth=9), annotator, engine=engine, shards=shards, **how)


def left_in_storage() -> list[str]:
    return [path.name for path in (Path(settings.MEDIA_ROOT) / "searches").rglob("*") if path.is_file()]


@pytest.mark.parametrize(("shards", "sampled"), [(None, False), (5, False), (4, True)])
def test_a_grid_of_parts_comes_to_the_bytes_of_a_single_run(zoo, annotator, shards, sampled):
    sample = make_sample(zoo) if sampled else None
    single = single_run(zoo, annotator, sample)
    made = by_parts(zoo, annotator, sample, shards=shards)
    assert made.sha256 == single
    assert by_parts(zoo, annotator, sample, shards=3) == made
    assert retrieve(zoo, annotators=[annotator], sample=sample, depth=9) == [made]
    assert left_in_storage() == []


class KilledError(Exception):
    """In place of the end of a process."""


@pytest.fixture
def ran(monkeypatch) -> list[tuple[str, int]]:
    """Every unit that is run, by step and number."""
    units: list[tuple[str, int]] = []
    run = SearchPlan.run

    def counted(plan, number, progress=lambda *_: None):
        units.append((plan.folder.rpartition("/")[2], number))
        run(plan, number, progress)

    monkeypatch.setattr(SearchPlan, "run", counted)
    return units


@pytest.fixture
def killed(ran, monkeypatch) -> list[tuple[str, int]]:
    """The same; the sixth kills its process, once."""
    run = SearchPlan.run

    def die(plan, number, progress=lambda *_: None):
        if len(ran) == 5:
            ran.append((plan.folder.rpartition("/")[2], number))
            raise KilledError
        run(plan, number, progress)

    monkeypatch.setattr(SearchPlan, "run", die)
    return ran


def test_a_search_after_a_killed_process_resumes_at_the_lost_unit(zoo, annotator, killed):
    single = single_run(zoo, annotator)
    with pytest.raises(KilledError):
        by_parts(zoo, annotator, shards=3)
    assert by_parts(zoo, annotator, shards=3).sha256 == single
    assert killed.count(killed[5]) == 2
    assert len(killed) == len(set(killed)) + 1


def test_a_process_that_is_overtaken_by_another_returns_what_that_one_stored(zoo, annotator, monkeypatch):
    run, made = SearchPlan.run, []

    def overtaken(plan, number, progress=lambda *_: None):
        if not made:
            monkeypatch.setattr(SearchPlan, "run", run)
            made.append(by_parts(zoo, annotator, shards=3))
        run(plan, number, progress)

    monkeypatch.setattr(SearchPlan, "run", overtaken)
    assert by_parts(zoo, annotator, shards=3) == made[0]
    assert left_in_storage() == []


@pytest.fixture
def job(zoo, annotator) -> Job:
    return checked_opening(search(zoo, [annotator], depth=9), annotator, engine="local", shards=3)()


def state_of(job: Job) -> str:
    job.refresh_from_db()
    return job.state


def test_a_job_makes_the_search_and_describes_it(zoo, annotator, job):
    assert checked_opening(search(zoo, [annotator], depth=9), annotator, engine="local", shards=3)() == job
    run_job(str(job.pk))
    made = Retrieval.objects.get()
    assert (state_of(job), job.message) == ("done", f"theirs over zoo, depth 9, SHA-256 {made.sha256}.")


def test_a_cancelled_search_leaves_nothing_behind(job, ran, monkeypatch):
    run = SearchPlan.run

    def cancelled(plan, number, progress=lambda *_: None):
        cancel(job, actor="robin")
        run(plan, number, progress)

    monkeypatch.setattr(SearchPlan, "run", cancelled)
    run_job(str(job.pk))
    assert state_of(job) == "cancelled"
    assert left_in_storage() == []


def test_a_search_that_is_handed_back_goes_on_where_it_was(job, ran, monkeypatch):
    monkeypatch.setattr(jobs, "send", lambda job: None)
    monkeypatch.setattr(jobs, "is_stopping", lambda: len(ran) == 4)
    run_job(str(job.pk))
    assert state_of(job) == "queued"
    ran.append(("stopped", 0))
    run_job(str(job.pk))
    assert state_of(job) == "done"
    assert len(ran) == len(set(ran)) + 1  # the one during which the worker was stopped


def test_a_search_that_waited_for_the_former_engine_runs_in_one_process(job):
    Job.objects.update(params=job.params | {"engine": "celery"})
    migration = import_module("mitl.migrations.0008_searches_without_leases")
    migration.search_in_one_process(apps, connection.schema_editor())
    run_job(str(job.pk))
    assert state_of(job) == "done"


def test_a_search_of_weights_that_changed_meanwhile_is_refused(annotator, job):
    Annotator.objects.update(checksum="other")
    run_job(str(job.pk))
    assert (state_of(job), job.message.split()[0]) == ("failed", "theirs")


def test_what_was_not_resumed_for_two_weeks_is_removed(zoo, annotator, killed):
    with pytest.raises(KilledError):
        by_parts(zoo, annotator, shards=3)
    assert left_in_storage() != []
    by_parts(zoo, annotator, shards=1)
    assert left_in_storage() != []
    for file in (Path(settings.MEDIA_ROOT) / "searches").rglob("*"):
        os.utime(file, (0, 0))
    Retrieval.objects.all().delete()
    by_parts(zoo, annotator, shards=1)
    assert left_in_storage() == []


def test_what_cannot_be_searched_by_parts_is_refused(zoo, annotator):
    with pytest.raises(CounterpartError, match="^words: "):
        by_parts(zoo, make_annotator("words"))
    with pytest.raises(CounterpartError, match="at least 1 part, not 0"):
        by_parts(zoo, annotator, shards=0)


@pytest.mark.slow
def test_a_network_encodes_the_same_bits_part_by_part(db):
    """Parts hold whole batches, so that each item is encoded in the batch that it is in otherwise."""
    annotator = annotator_of("vse", trained_arrays("vse", loss="max", **SMALL, epochs=0), **SMALL)
    annotator.save()
    colours = make_coloured_collection("many", train_each=0, test_each=25)
    single = single_run(colours, annotator)
    shutil.rmtree(settings.VAR_DIR / "embeddings")
    assert by_parts(colours, annotator, shards=3).sha256 == single
