import pytest

from annotation.models import Admission, Assignment, Decision, Judgment, Worker, WorkerIdentity
from core.errors import CounterpartError
from crowd.posting.publication import close_round
from hits.models import Control, Round
from simulation.simulated_rounds import simulate_round
from tests.annotation.cast import answer
from tests.factories import make_collection, make_round


@pytest.fixture
def round(transactional_db):
    return make_round(hits=6, candidates=3)


def test_every_seat_is_filled_directly(round, profile):
    figures = simulate_round(round, workers=4, profile=profile())
    assert figures["submitted"] == figures["accepted"] == 6
    assert figures["seats still open"] == 0
    assert Judgment.objects.count() == 6 * 5
    assert not Assignment.objects.filter(receipt="").exists()


def test_workers_are_of_the_simulation_channel_and_come_back(round, profile):
    simulate_round(round, workers=2, profile=profile(), seed=3)
    assert set(WorkerIdentity.objects.values_list("channel", "external_id")) == {
        ("simulation", "round-1-3-0"), ("simulation", "round-1-3-1"),
    }  # fmt: skip
    simulate_round(round, workers=2, profile=profile(), seed=3)
    assert WorkerIdentity.objects.count() == 2


def test_workers_join_the_round_first_and_a_full_one_takes_no_other(round, profile):
    Admission.objects.create(round=round, capacity=2)
    figures = simulate_round(round, workers=4, profile=profile())
    assert (figures["submitted"], round.participants.count()) == (6, 2)
    assert Worker.objects.filter(assignments__isnull=False).distinct().count() == 2


def test_no_worker_answers_one_hit_twice(transactional_db, profile):
    round = make_round(hits=3, candidates=2, replication=2)
    figures = simulate_round(round, workers=1, profile=profile())
    assert (figures["submitted"], figures["seats still open"]) == (3, 3)


def test_excluded_work_is_done_again_by_another_worker_and_has_a_reason_and_a_person(round, profile):
    figures = simulate_round(round, workers=8, profile=profile(careless_workers=0.5), seed=1)
    assert figures["excluded"] > 0
    assert figures["seats still open"] == 0
    excluded = Assignment.objects.filter(state="excluded").select_related("seat")
    holders = [a.seat.assignments.get(state="accepted").worker_id for a in excluded]
    assert all(a.worker_id != holder for a, holder in zip(excluded, holders, strict=True))
    decision = Decision.objects.filter(votes_count=False).first()
    assert (decision.by.username, decision.paid) == ("simulated-reviewer", True)
    assert decision.reason.startswith("Simulated review, wrong controls: ")


def test_the_same_seed_gives_the_same_answers_and_another_seed_others(transactional_db, profile):
    said = []
    for name, seed in (("first", 9), ("second", 9), ("third", 8)):
        round = make_round(make_collection(name, images=20), name=name, hits=4)
        simulate_round(round, workers=3, profile="paper", seed=seed)
        answers = Judgment.objects.filter(item__hit__round=round).order_by("item_id", "id")
        said.append(list(answers.values_list("level", flat=True)))
    assert said[0] == said[1] != said[2]


def test_work_that_only_a_wrong_control_flags_counts(round, profile):
    Control.objects.filter(polarity="positive").update(polarity="negative")
    figures = simulate_round(round, workers=4, profile=profile())
    assert (figures["submitted"], figures["accepted"]) == (6, 6)
    assert Decision.objects.filter(reason__contains="The control is wrong.").count() == 6


def test_flagged_work_can_count_or_be_left_to_people(round, profile):
    other = make_round(make_collection("other", images=26), name="other", hits=6)
    figures = simulate_round(other, workers=4, profile=profile(careless_workers=1.0, excluded=0.0))
    assert (figures["excluded"], figures["accepted"]) == (0, 6)
    figures = simulate_round(round, workers=4, profile=profile(careless_workers=1.0, excluded=None))
    assert figures["waiting for review"] == Assignment.objects.filter(state="flagged").count() > 0


def test_a_crowd_that_only_fails_ends(round, profile):
    wrong = [[0, 0, 0, 1], [0, 0, 0, 1], [1, 0, 0, 0], [1, 0, 0, 0]]
    figures = simulate_round(round, workers=2, profile=profile(confusion=wrong))
    assert (figures["submitted"], figures["excluded"], figures["seats still open"]) == (12, 12, 6)


def test_bad_wishes_change_nothing(round):
    for options, message in (
        ({"workers": 0}, "Invalid number of workers 0: use 1 to 10,000"),
        ({"workers": 10_001}, "Invalid number of workers 10,001"),
        ({"seed": -1}, "Invalid seed -1: use a whole number from 0 to"),
        ({"profile": "sleepy"}, "'sleepy': use careful, paper"),
        ({"truth": "eccv"}, "not in zoo: eccv"),
        ({"through_http": "localhost:8000"}, "Invalid address localhost:8000"),
        ({"through_http": "http://127.0.0.1:9"}, "Nothing answers at http://127.0.0.1:9/"),
    ):
        with pytest.raises(CounterpartError, match=message):
            simulate_round(round, **options)
    assert not Assignment.objects.exists()
    assert not WorkerIdentity.objects.exists()


def test_a_closed_round_and_a_draft_cannot_be_worked_on(round):
    close_round(round, actor="robin")
    with pytest.raises(CounterpartError, match="is closed"):
        simulate_round(round)
    with pytest.raises(CounterpartError, match="draft is a draft"):
        simulate_round(make_round(round.pool.collection, "draft", published=False))


@pytest.mark.slow
def test_workers_can_go_through_the_pages(round, profile, live_server):
    figures = simulate_round(round, workers=3, profile=profile(careless_workers=0.34), through_http=live_server.url)
    assert figures["accepted"] == 6
    assert set(WorkerIdentity.objects.values_list("channel", flat=True)) == {"browser"}
    assert Judgment.objects.filter(assignment__state="accepted").count() == 6 * 5
    assert Judgment.objects.simulated().count() == Judgment.objects.count()


def test_the_pages_take_reasons_too(transactional_db, profile, live_server):
    round = make_round(hits=2, candidates=2, reasons=True)
    partly = [[0, 1, 0, 0]] * 2 + [[0, 0, 1, 0]] * 2
    simulate_round(round, workers=1, profile=profile(confusion=partly), through_http=live_server.url)
    assert Judgment.objects.exclude(shortcoming="").count() == 8


def test_a_round_in_which_people_took_hits_is_simulated_only_on_request_and_exactly_those_votes_marked(round, profile):
    answer(round.hits.get(number=1), 1, 1, 1)
    with pytest.raises(CounterpartError, match="1 person .* --among-people"):
        simulate_round(round, profile=profile())
    assert Assignment.objects.count() == 1
    figures = simulate_round(round, workers=2, profile=profile(), among_people=True)
    assert (Judgment.objects.simulated().count(), Judgment.objects.count()) == (5 * 5, 6 * 5)
    assert (figures["simulated votes"], figures["people's votes"]) == (25, 5)
    assert "--among-people" in figures["note"]


def test_votes_of_a_rehearsal_are_simulated_whoever_gave_them(round):
    answer(round.hits.get(number=1), 1, 1, 1)
    assert not Judgment.objects.simulated().exists()
    Round.objects.update(rehearsal=True)
    assert Judgment.objects.simulated().count() == 5
