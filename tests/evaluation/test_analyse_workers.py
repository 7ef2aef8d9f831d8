import pytest

from annotation.models import Assignment, Judgment, Rejection, Worker, WorkerIdentity
from hits.models import Control, Round
from tests.annotation.cast import answer
from tests.dataset.releasing import release
from tests.dataset.reviewing import another_person
from tests.evaluation.analysing import analyse, figures_of, table_of
from tests.factories import make_round, make_worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> list[Worker]:
    return [make_worker() for _ in range(3)]


@pytest.fixture
def judged(people) -> Round:
    """Seven HITs of two pairs, of which all three workers do the first; the first worker does all others."""
    made = make_round(hits=7, candidates=2, replication=3)
    first, *others = made.hits.all()
    for seat, (worker, levels) in enumerate(zip(people, [(1, 4), (1, 4), (2, 4)], strict=True), 1):
        answer(first, *levels, seat=seat, worker=worker)
    for hit in others:
        answer(hit, 1, 4, worker=people[0])
    return made


def by_name(*arguments: str) -> dict[str, dict]:
    return {row["worker"]: row for row in figures_of("workers", *arguments)["workers"]}


def by_hits(*arguments: str) -> dict[str, dict]:
    return {row["hits_per_worker"]: row for row in figures_of("workers", *arguments)["by_hits"]}


def test_workers_are_counted_by_the_hits_they_did(judged):
    found = by_hits("round-1")
    assert list(found) == ["1", "2-5", "6-10", "11-15", "16-25", ">25", "all"]
    assert {name: (row["workers"], row["submitted"]) for name, row in found.items() if row["workers"]} == {
        "1": (2, 2),
        "6-10": (1, 7),
        "all": (3, 9),
    }
    assert found["11-15"]["accepted_share"] is None


def test_accepted_excluded_and_rejected_work_is_distinguished(judged, people):
    work = list(Assignment.objects.filter(worker=people[0]).order_by("pk"))
    Assignment.objects.filter(pk__in=[work[1].pk, work[2].pk]).update(state="excluded")
    Assignment.objects.filter(pk=work[3].pk).update(state="flagged")
    reject(work[1])
    found = by_name("round-1")[people[0].pseudonym]
    assert (found["hits"], found["accepted"], found["excluded"], found["rejected"]) == (7, 4, 2, 1)
    assert (found["accepted_share"], found["rejected_share"]) == (pytest.approx(4 / 7), pytest.approx(1 / 7))
    assert found["judgments"] == 8
    assert by_hits("round-1")["6-10"]["rejected_share"] == pytest.approx(1 / 7)


def test_a_rejection_that_was_dropped_or_waits_for_a_second_person_is_none(judged, people):
    dropped, waits = Assignment.objects.filter(worker=people[0]).order_by("pk")[:2]
    Assignment.objects.filter(pk__in=[dropped.pk, waits.pk]).update(state="excluded")
    reject(dropped, dropped_at="2026-01-01T00:00Z")
    reject(waits, needs_second=True)
    assert by_name("round-1")[people[0].pseudonym]["rejected"] == 0


def reject(work: Assignment, **more) -> None:
    by = another_person(f"who rejects {work.pk}")
    Rejection.objects.create(assignment=work, grounds="empty", reason="-", evidence="-", by=by, **more)


def test_control_accuracy_counts_all_submitted_work_but_no_retired_control(judged, people):
    controls = Judgment.objects.filter(worker=people[0], item__control__isnull=False).order_by("pk")
    negatives = controls.filter(item__control__polarity=Control.Polarity.NEGATIVE)
    Judgment.objects.filter(pk__in=[negatives[0].pk, negatives[1].pk]).update(level=1)
    Assignment.objects.filter(pk=negatives[1].assignment_id).update(state="excluded")
    found = by_name("round-1")[people[0].pseudonym]
    assert (found["controls"], found["controls_right"]) == (14, pytest.approx(12 / 14))
    Control.objects.filter(pk=negatives[0].item.control_id).update(state=Control.State.RETIRED)
    found = by_name("round-1")[people[0].pseudonym]
    assert (found["controls"], found["controls_right"]) == (13, pytest.approx(12 / 13))


def test_agreement_is_with_the_majority_of_pairs_that_others_judged_too(judged, people):
    found = by_name("round-1")
    assert next(iter(found)) == people[0].pseudonym
    assert [found[worker.pseudonym]["agreement"] for worker in people] == [1, 1, 0.5]
    least = [row["agreement"] for row in figures_of("workers", "round-1", "--sort", "agreement")["workers"]]
    assert least == sorted(least)
    lone = make_round(judged.pool.collection, "round-2", hits=1, candidates=2)
    answer(lone.hits.get(), 1, 2)
    (row,) = figures_of("workers", "round-2")["workers"]
    assert row["agreement"] is None


def test_reliability_is_that_of_the_aggregation(judged, people):
    majority = by_name("round-1", "--method", "majority")
    # Of the third worker: shares 1/3 and 1 of the pairs' votes, and two controls right.
    assert majority[people[2].pseudonym]["reliability"] == pytest.approx((1 / 3 + 1 + 2) / 4)
    skilled = by_name("round-1")
    assert skilled[people[0].pseudonym]["reliability"] > skilled[people[2].pseudonym]["reliability"]


def test_seconds_a_pair_are_of_the_accepted_sets_with_a_known_time(judged, people):
    work = Assignment.objects.filter(worker=people[0]).order_by("pk")
    Assignment.objects.filter(pk=work[0].pk).update(active_seconds=40)
    Assignment.objects.filter(pk=work[1].pk).update(active_seconds=80)
    Assignment.objects.filter(pk=work[2].pk).update(active_seconds=259_200, state="excluded")
    found = by_name("round-1")
    assert found[people[0].pseudonym]["seconds_per_pair"] == 15  # 120 seconds, two sets of four pairs
    assert found[people[1].pseudonym]["seconds_per_pair"] is None
    assert by_hits("round-1")["all"]["seconds_per_pair"] == 15


def test_a_version_names_its_own_pseudonyms_and_knows_no_rejection(judged, people):
    release(judged, partial=True)
    released, live = figures_of("workers", "--version", "v1"), figures_of("workers", "round-1")
    assert not {row["worker"] for row in released["workers"]} & {worker.pseudonym for worker in people}
    assert {row["rejected"] for row in released["workers"]} == {None}
    for name in ("submitted", "accepted", "controls_right", "workers"):
        assert [row[name] for row in released["by_hits"]] == [row[name] for row in live["by_hits"]]


def test_workers_are_named_by_pseudonym_and_never_by_platform_id(judged, people, tmp_path):
    WorkerIdentity.objects.create(worker=people[0], channel="mturk", external_id="A1PLATFORMID")
    shown = analyse("workers", "round-1", "--csv", str(tmp_path / "w.csv"), "--plot", str(tmp_path / "w.svg"))
    assert people[0].pseudonym in shown
    written = shown + (tmp_path / "w.csv").read_text() + (tmp_path / "w.svg").read_text()
    assert "A1PLATFORMID" not in written
    assert {row["worker"] for row in table_of(tmp_path / "w.csv")} == {worker.pseudonym for worker in people}


def test_what_signals_found_is_listed_in_a_line_each(judged, people):
    assert "Signals" not in analyse("workers", "round-1")
    work = Assignment.objects.filter(worker=people[0]).latest("pk")
    sentence = "0.5 s a pair; a pair cannot be read in less than 1 s."
    Assignment.objects.filter(pk=work.pk).update(state="flagged", signals=[{"signal": "fast", "sentence": sentence}])
    assert figures_of("workers", "round-1")["signals"] == [
        {
            "worker": people[0].pseudonym,
            "assignment": work.pk,
            "state": "flagged",
            "signal": "fast",
            "sentence": sentence,
        }
    ]
    assert f"flagged  {sentence}" in analyse("workers", "round-1")
