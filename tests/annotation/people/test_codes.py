"""Codes that workers show as proof, and what staff learn from them."""

import json
import re

import pytest
from django.core.management import call_command

from annotation.models import Assignment, Worker
from annotation.people.receipts import completion_code, verify_code
from annotation.work.grading import accept
from annotation.work.leases import lease_seat, return_assignment
from annotation.work.submissions import mark_submitted
from core.errors import CounterpartError
from hits.models import Round
from tests.factories import make_round, make_worker


@pytest.fixture
def worker(db) -> Worker:
    return make_worker()


@pytest.fixture
def worked(worker) -> Round:
    """A round in which the worker submitted two HITs, one of them accepted."""
    worked = make_round(hits=4)
    for _ in range(2):
        mark_submitted(lease_seat(worked, worker=worker), active_seconds=60)
    accept(Assignment.objects.first())
    return worked


def test_a_completion_code_proves_all_of_a_workers_hits_in_the_round(worked, worker):
    proof = verify_code(completion_code(worked, worker))
    assert (proof.worker, proof.round, proof.hits, str(proof.owed), str(proof.paid)) == (
        worker,
        worked,
        2,
        "0.65",
        "0.00",
    )


def test_a_receipt_proves_one_hit(worked, worker):
    proof = verify_code(Assignment.objects.get(hit__number=2).receipt)
    assert (proof.worker, proof.of, proof.hits, str(proof.owed)) == (worker, "HIT 2", 1, "0.00")


def test_the_code_is_the_same_whenever_it_is_asked_for(worked, worker):
    before = completion_code(worked, worker)
    mark_submitted(lease_seat(worked, worker=worker), active_seconds=60)
    assert completion_code(worked, worker) == before
    assert verify_code(before).hits == 3


def test_capitals_and_spaces_of_a_copied_code_do_not_matter(worked, worker):
    assert verify_code(f" {completion_code(worked, worker).upper().replace('-', ' - ')}\n").worker == worker


def test_no_part_of_a_code_serves_for_another(worked, worker):
    other = make_worker()
    mark_submitted(lease_seat(worked, worker=other), active_seconds=60)
    mine, theirs = completion_code(worked, worker), completion_code(worked, other)
    forged = theirs.rpartition("-")[0] + "-" + mine.rpartition("-")[2]
    with pytest.raises(CounterpartError, match="Invalid code"):
        verify_code(forged)


def test_a_made_up_code_is_refused_in_one_line(worked):
    far = "c" + "9" * 18 + "-1-000000000000"
    for code in ("", "c1-1-000000000000", "1-0000000000", "x", "c9-9-9", "9" * 500, far):
        with pytest.raises(CounterpartError, match="Invalid code") as refused:
            verify_code(code)
        assert len(str(refused.value)) < 200


def test_a_code_depends_on_the_sites_secret(worked, worker, settings):
    before = completion_code(worked, worker)
    settings.SECRET_KEY = "another"
    assert completion_code(worked, worker) != before
    with pytest.raises(CounterpartError):
        verify_code(before)


def test_a_changed_key_voids_no_code_that_a_worker_kept(worked, worker, settings):
    settings.SECRET_KEY = "an old key"
    kept = completion_code(worked, worker), Assignment.objects.first().receipt_code
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "the new key", ["an old key"]
    assert [verify_code(code).worker for code in kept] == [worker, worker]


def test_who_submitted_nothing_has_a_code_that_proves_nothing(db):
    made, worker = make_round(), make_worker()
    return_assignment(lease_seat(made, worker=worker), actor="x")
    with pytest.raises(CounterpartError, match="submitted nothing"):
        verify_code(completion_code(made, worker))


def test_a_receipt_of_work_that_was_never_submitted_proves_nothing(worked, worker):
    held = lease_seat(worked, worker=worker)
    Assignment.objects.filter(pk=held.pk).update(receipt=Assignment.objects.first().receipt)
    with pytest.raises(CounterpartError):
        verify_code(re.sub(r"^\d+", str(held.pk), Assignment.objects.first().receipt))


def test_the_command_prints_what_a_code_proves(worked, worker, capsys):
    call_command("verify_code", completion_code(worked, worker), "--json")
    printed = json.loads(capsys.readouterr().out)
    assert (printed["genuine"], printed["worker"], printed["HITs"], printed["owed"]) == (
        "yes",
        worker.pseudonym,
        2,
        "0.65",
    )


def test_the_test_command_makes_a_test_and_says_how_to_use_it(worked, capsys):
    arguments = ["--collection", "zoo", "--positives", "2", "--negatives", "1", "--pass-mark", "3"]
    call_command("make_test", "first", *arguments)
    assert "--test first" in capsys.readouterr().out
