"""Why a pair is not finished: what it wants, has and waits for, in figures and in sentences."""

import json

from django.core.management import call_command

from annotation.models import Assignment, Judgment
from annotation.people.admission import join_round
from annotation.work import standstill
from annotation.work.disputes import top_up
from annotation.work.leases import lease_seat
from annotation.work.pair_status import PairStatus, status_of, unfinished_pairs
from corpus.models import Caption, Image
from hits.models import HIT, Item, Round, Seat
from tests.annotation.cast import candidates
from tests.annotation.controlling import judge, make_topped_up, vote
from tests.annotation.task_types.rounds import open_round
from tests.factories import make_round, make_worker, put_on_platform

YES, NO = 1, 4


def status(made: Round, place: int = 0) -> PairStatus:
    return status_of(Round.objects.get(pk=made.pk), *candidates(made.hits.first())[place])


def test_a_pair_with_all_its_votes_is_finished(db):
    made = make_round()
    vote(made.hits.get(), YES)
    assert status(made) == PairStatus(1, 1, 0, 0, 0, 0, disputed=False, reasons=())
    assert status(made).is_finished


def test_votes_are_counted_by_what_they_wait_for(db):
    made = make_round(replication=5)
    vote(made.hits.get(), YES)
    judge(made, fails="positive")
    lease_seat(made, worker=make_worker())
    judge(made, graded=False)
    found = status(made)
    assert (found.wanted, found.done, found.leased, found.waiting, found.open) == (5, 1, 2, 1, 1)
    assert found.reasons == (
        "Being judged or graded: 2 of 5 votes.",
        "Waiting for review, as a control was wrong or something else has to be decided: 1.",
        "Waiting for a worker: 1 of 5 votes.",
        "No worker has joined yet: more workers are needed, by the join link.",
    )


def test_an_answer_set_without_a_vote_on_the_pair_is_counted(db):
    made = make_round()
    work = vote(made.hits.get(), YES)
    Judgment.objects.filter(item=work.hit.items.get(place=1)).delete()
    found = status(made)
    assert (found.done, found.lacking) == (0, 1)
    assert found.reasons[0].endswith(": 1.")


def test_what_keeps_workers_away_is_said(db):
    made = make_round()
    Round.objects.update(ceiling="0.64")
    assert status(made).reasons[1].endswith("(set_ceiling round-1 0.65)")


def test_workers_who_have_all_met_a_pair_of_its_hit_are_counted(db):
    made = make_round(hits=2)
    worker = make_worker()
    join_round(made, worker)
    assert len(status(made).reasons) == 1
    vote(made.hits.get(number=2), YES, worker=worker)
    met = Item.objects.get(hit__number=2, control__polarity="positive")
    Item.objects.filter(hit__number=1, control__polarity="positive").update(image=met.image, caption=met.caption)
    assert "(1 with a pair" in status(made).reasons[1]
    join_round(made, make_worker())
    assert len(status(made).reasons) == 1


def test_workers_are_not_counted_as_barred_when_the_last_seat_goes(db, monkeypatch):
    made = make_round()
    worker = make_worker()
    join_round(made, worker)
    monkeypatch.setattr(standstill, "queue_has_stopped", lambda: bool(lease_seat(made, worker=worker)))
    assert status(made).reasons == ("Waiting for a worker: 1 of 1 votes.",)


def test_visitors_of_a_platform_are_judging_it_and_what_is_posted_is_paid_for(db):
    made = put_on_platform(make_round(replication=3))
    Assignment.objects.create(hit=made.hits.get(), worker=make_worker(), outside_key="A", deadline="2026-11-22T00:00Z")
    found = status(made)
    assert (found.leased, found.open) == (1, 2)


def test_a_disputed_pair_waits_for_its_further_vote(db):
    made = make_topped_up()
    for level in (YES, NO):
        vote(made.hits.get(), level)
    assert status(made).reasons == (
        "Workers disagree: a further vote is asked for once such pairs fill a HIT or every other seat is filled.",
    )
    Round.objects.update(ceiling=2 * made.reward)
    assert "ceiling of $1.30" in status(made).reasons[0]
    Round.objects.update(closed_at="2026-11-01T00:00Z")
    assert status(made).reasons == ("Workers disagree, but the round is closed: no further vote can come.",)


def test_a_pair_on_which_workers_agree_waits_for_no_further_vote(db):
    made = make_topped_up()
    for _ in range(2):
        vote(made.hits.get(), YES)
    assert status(made).reasons == ()


def test_a_pair_counts_the_votes_of_all_its_hits_and_ends_with_the_last_one_allowed(db):
    made = make_topped_up()
    for level in (YES, NO):
        vote(made.hits.get(), level)
    top_up(made, actor="robin")
    assert (status(made).wanted, status(made).done, status(made).open) == (3, 2, 1)
    vote(HIT.objects.get(number=2), 2)
    found = status(made)
    assert (found.wanted, found.done, found.disputed, found.is_finished) == (3, 3, True, True)


def test_a_control_has_no_status(db):
    made = make_round()
    control = made.controls.first()
    assert status_of(made, control.image_id, control.caption_id) is None


def test_what_is_unfinished_of_a_round_that_is_not_about_pairs_are_its_questions(db):
    made = open_round("preference")
    assert unfinished_pairs(made) == Item.objects.filter(hit__round=made, control=None).count()


def test_unfinished_pairs_are_counted_once(db):
    made = make_topped_up(hits=2)
    assert unfinished_pairs(made) == 4
    for level in (YES, NO):
        vote(made.hits.get(number=1), level)
    assert unfinished_pairs(made) == 2
    top_up(made, actor="robin")
    assert unfinished_pairs(made) == 4
    Seat.objects.update(state=Seat.State.FILLED)
    assert unfinished_pairs(made) == 0


def test_the_command_prints_it(db, capsys):
    made = make_round()
    image, caption = candidates(made.hits.get())[0]
    keys = Image.objects.get(pk=image).key, Caption.objects.get(pk=caption).key
    call_command("pair_status", "round-1", *keys, json=True)
    figures = json.loads(capsys.readouterr().out)
    assert (figures["wanted"], figures["open"], figures["finished"]) == (1, 1, False)
    assert figures["reasons"][0] == {"reason": "Waiting for a worker: 1 of 1 votes."}
