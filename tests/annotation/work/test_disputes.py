"""Further votes for pairs on which workers disagree: in new HITs, never too many, never past the ceiling."""

import json
from collections import Counter
from itertools import chain, combinations_with_replacement

import pytest
from django.core.management import call_command

from annotation.models import Assignment, Judgment
from annotation.people.admission import join_round
from annotation.work import standstill
from annotation.work.disputes import disputed_pairs, is_disputed, top_up
from annotation.work.leases import lease_seat
from annotation.work.pair_status import PairStatus, status_of, unfinished_pairs
from annotation.work.repair import repair
from annotation.work.retirement import retire
from core.models import Event
from corpus.models import Caption, Image
from hits.models import HIT, Item, Round, Seat, TopUp
from hits.rounds.top_ups import pack_top_up, plan_again
from tests.annotation.cast import candidates
from tests.annotation.controlling import judge, make_topped_up, vote
from tests.annotation.task_types.rounds import open_round
from tests.at_once import at_once
from tests.crowd.platform import published, rehearsal, sync
from tests.factories import make_collection, make_round, make_worker, put_on_platform

__all__ = ["rehearsal"]

YES, PARTIALLY, MOSTLY_NO, NO = 1, 2, 3, 4


def test_a_pair_is_disputed_where_no_level_has_more_than_half_of_its_votes_so_as_many_yes_as_no_always_is():
    """The slow witness counts by hand, all votes of up to seven workers."""
    assert not is_disputed([0] * 4)
    for levels in chain.from_iterable(combinations_with_replacement((1, 2, 3, 4), votes) for votes in range(1, 8)):
        leading = Counter(levels).most_common(1)[0][1]
        disputed = is_disputed([levels.count(level) for level in (1, 2, 3, 4)])
        assert disputed == (leading <= len(levels) / 2)
        assert disputed or sum(level <= 2 for level in levels) * 2 != len(levels)


@pytest.fixture
def disputed(db) -> Round:
    """Two workers agree on the first of a HIT's two pairs and not on the second; one further vote may be asked for."""
    made = make_topped_up()
    vote(made.hits.get(), YES, YES)
    vote(made.hits.get(), YES, NO)
    return made


def test_a_disputed_pair_gets_one_more_seat_in_a_new_hit_that_controls_not_shown_before_fill(disputed):
    first = disputed.hits.get()
    assert disputed_pairs(disputed) == candidates(first)[1:]
    assert top_up(disputed, actor="robin") == 1
    added = disputed.hits.get(number=2)
    assert candidates(added) == candidates(first)[1:]
    assert (added.items.count(), added.seats.count(), added.top_up.number) == (first.items.count(), 1, 1)
    assert (first.top_up, first.items.count()) == (None, 4)
    assert Event.objects.get(verb="topped up").data["hits"] == 1
    controls = {number: set() for number in (1, 2)}
    for item in Item.objects.filter(control__isnull=False).select_related("hit"):
        controls[item.hit.number].add((item.image_id, item.caption_id))
    assert (len(controls[1]), len(controls[2])) == (2, 3)
    assert not controls[2] & {(item.image_id, item.caption_id) for item in disputed.hits.get(number=1).items.all()}


def test_a_top_up_is_packed_again_from_what_it_asks(disputed):
    top_up(disputed, actor="robin")
    retire(disputed.controls.first(), reason="The caption is about another picture.", actor="robin")
    made = TopUp.objects.get()
    assert plan_again(made).hash == made.plan_hash
    assert Round.objects.get().plan_hash == disputed.plan_hash


def test_retired_controls_are_not_shown_again(db):
    made = make_topped_up(hits=3)
    for control in made.controls.filter(polarity="positive"):
        retire(control, reason="The caption is about another picture.", actor="robin")
    for hit in made.hits.all():
        vote(hit, YES), vote(hit, NO)
    assert top_up(made, actor="robin") == 3
    shown = Item.objects.filter(hit__number__gt=3, control__isnull=False)
    assert shown.count() == 6
    assert not shown.filter(control__state="retired").exists()
    assert len(TopUp.objects.get().avoided) == 3
    assert plan_again(TopUp.objects.get()).hash == TopUp.objects.get().plan_hash


def test_controls_come_again_where_the_collection_has_too_few(db):
    made = make_round(make_collection(images=4, captions_each=1), replication=2)
    Round.objects.update(top_up=1)
    made.refresh_from_db()
    vote(made.hits.get(), YES), vote(made.hits.get(), NO)
    assert top_up(made, actor="robin") == 1
    assert made.hits.get(number=2).items.filter(control__isnull=False).count() == 2
    assert (
        made.controls.count()
        == Item.objects.filter(control__isnull=False).values("image", "caption").distinct().count()
    )


def test_a_pair_never_gets_more_votes_than_the_round_wants_and_its_top_up(db):
    made = make_topped_up(replication=2, top_up=2)
    for level in (YES, NO):
        vote(made.hits.get(), level)
    for level in (PARTIALLY, MOSTLY_NO):
        assert top_up(made, actor="robin") == 1
        vote(made.hits.order_by("number").last(), level)
    assert top_up(made, actor="robin") == 0
    votes = Judgment.objects.counted().of_candidates().values_list("image", "caption")
    assert set(Counter(votes).values()) == {4}
    assert [one.number for one in TopUp.objects.all()] == [1, 2]


def test_a_pair_that_the_further_vote_settles_gets_no_other(disputed):
    Round.objects.update(top_up=9)
    disputed.refresh_from_db()
    top_up(disputed, actor="robin")
    vote(disputed.hits.get(number=2), NO)
    assert disputed_pairs(disputed) == []


def test_pairs_wait_until_they_fill_a_hit_while_other_seats_are_open(db):
    made = make_topped_up(hits=3)
    first, second, third = made.hits.all()
    vote(first, YES, YES), vote(first, YES, NO)
    vote(second, YES, YES)
    assert (len(disputed_pairs(made)), top_up(made, actor="robin")) == (1, 0)
    vote(second, YES, NO)
    assert top_up(made, actor="robin") == 1
    vote(third, NO, NO), vote(third, NO, NO)
    assert top_up(made, actor="robin") == 0


def test_a_pair_whose_work_waits_for_review_is_not_asked_about_yet(disputed):
    Seat.objects.filter(number=2).update(state=Seat.State.TAKEN)
    Assignment.objects.filter(seat__number=2).update(state=Assignment.State.FLAGGED)
    assert disputed_pairs(disputed) == []


@pytest.mark.parametrize("change", [{"top_up": 0}, {"closed_at": "2026-11-01T00:00Z"}, {"published_at": None}])
def test_only_an_open_round_that_says_so_is_topped_up(disputed, change):
    Round.objects.update(**change)
    disputed.refresh_from_db()
    assert top_up(disputed, actor="robin") == 0
    assert repair()["added HITs"] == 0


def test_the_ceiling_limits_how_many_hits_are_added(db):
    made = make_topped_up(hits=3)
    for hit in made.hits.all():
        vote(hit, YES), vote(hit, NO)
    Round.objects.update(ceiling=8 * made.reward)
    made.refresh_from_db()
    assert [top_up(made, actor="robin"), top_up(made, actor="robin")] == [2, 0]
    Round.objects.update(ceiling=9 * made.reward)
    assert repair()["added HITs"] == 1


def test_a_round_that_cannot_be_topped_up_keeps_the_others_from_nothing(disputed, monkeypatch):
    other = make_round(disputed.pool.collection, "other", replication=2)
    Round.objects.filter(pk=other.pk).update(top_up=1)
    for level in (YES, NO):
        vote(other.hits.get(), level)

    def fail_for_the_first(added, *args, **options):
        return 1 / 0 if added.round == disputed else pack_top_up(added, *args, **options)

    monkeypatch.setattr("annotation.work.disputes.pack_top_up", fail_for_the_first)
    assert repair()["added HITs"] == 1
    assert TopUp.objects.get().round == other


def test_topping_up_at_once_adds_one_seat_for_each_pair(transactional_db):
    made = make_topped_up(hits=3)
    for hit in made.hits.all():
        vote(hit, YES), vote(hit, NO)
    added = at_once(*[lambda: top_up(Round.objects.get(), actor="robin")] * 4)
    assert sorted(added) == [0, 0, 0, 3]
    assert TopUp.objects.count() == 1
    seats = Counter(Item.objects.filter(control=None).values_list("image", "caption", "hit__seats"))
    assert set(Counter((image, caption) for image, caption, _ in seats).values()) == {3}


def test_voting_and_topping_up_at_once_never_exceed_what_a_pair_may_get(transactional_db):
    made = make_topped_up(hits=2, top_up=2)
    for hit in made.hits.all():
        vote(hit, YES)
    for level in (NO, PARTIALLY, MOSTLY_NO):
        hits = HIT.objects.filter(seats__state=Seat.State.OPEN)
        voting = [lambda hit=hit, level=level: vote(hit, level) for hit in hits]
        at_once(*voting, *[lambda: top_up(Round.objects.get(), actor="robin")] * 3)
        top_up(Round.objects.get(), actor="robin")
    votes = Judgment.objects.counted().of_candidates().values_list("image", "caption")
    assert set(Counter(votes).values()) == {4}
    seats = Item.objects.filter(control=None).values_list("image", "caption", "hit__seats")
    assert set(Counter((image, caption) for image, caption, _ in set(seats)).values()) == {4}


def test_on_a_platform_the_added_hits_are_posted(rehearsal, commit):
    made = published(hits=1, replication=2, commit=commit)
    Round.objects.update(top_up=1)
    for level in (YES, NO):
        rehearsal.work(rehearsal.hits()[0], rehearsal.worker(), level=level)
    sync(made, commit)
    assert len(rehearsal.hits()) == 2
    rehearsal.work(rehearsal.hits()[1], rehearsal.worker(), level=YES)
    sync(made, commit)
    assert Seat.objects.exclude(state=Seat.State.FILLED).count() == 0
    assert Judgment.objects.counted().of_candidates().count() == 3 * 2


# Why a pair is not finished: what it wants, has and waits for, in figures and in sentences


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
    call_command("analyse", "pair", "round-1", *keys, json=True)
    figures = json.loads(capsys.readouterr().out)
    assert (figures["wanted"], figures["open"], figures["finished"]) == (1, 1, False)
    assert figures["reasons"][0] == {"reason": "Waiting for a worker: 1 of 1 votes."}
