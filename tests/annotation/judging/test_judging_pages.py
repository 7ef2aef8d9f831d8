"""The judging page without a browser: its pairs, submission, late and lost work, drafts."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.judging.links import MAX_BODY
from annotation.models import Assignment, Draft, Judgment, Payment, Worker
from annotation.people.consent import has_agreed
from annotation.people.workers import exclude
from annotation.work.answers import Answer, places_of, save_drafts
from annotation.work.leases import expire_leases, lease_seat
from annotation.work.submissions import submit_answers
from crowd.posting.publication import close_round
from crowd.visits.intake import take_in
from hits.models import Round
from hits.task_types.levels import LEVELS
from tests.annotation.answering import address, as_form, home_of, leased, lost, right_answers, shown, submit
from tests.crowd.framing import claimed, confirm
from tests.factories import make_round, make_worker


def test_every_pair_is_on_the_page_in_its_place(stranger, assignment):
    page = stranger.get(address("task", assignment)).text
    assert re.findall(r"<legend[^>]*>(Pair \d of 4)</legend>", page) == [f"Pair {n} of 4" for n in range(1, 5)]
    sentences = re.findall(r'<blockquote[^>]*id="sentence-\d"[^>]*>(.*?)</blockquote>', page)
    assert sentences == [item.caption.text for item in shown(assignment)]


def test_another_assignment_shows_the_pairs_in_another_order(made):
    hit = made.hits.get()
    orders = {tuple(places_of(Assignment(pk=pk, hit=hit)).values()) for pk in range(1, 6)}
    assert len(orders) > 1
    assert {frozenset(order) for order in orders} == {frozenset(hit.items.values_list("pk", flat=True))}


def test_alternative_texts_give_nothing_away(stranger, assignment):
    page = stranger.get(address("task", assignment)).text
    assert set(re.findall(r'alt="([^"]*)"', page)) == {"", "Picture 1", "Picture 2", "Picture 3", "Picture 4"}


def test_a_round_keeps_the_wording_that_it_was_packed_with(stranger, made):
    assignment = leased(made)
    latest, first = (LEVELS.choices(wording)[1]["text"] for wording in (LEVELS.latest_wording, 1))
    page = stranger.get(address("task", assignment)).text
    assert (latest in page, first in page) == (True, False)
    Round.objects.update(wording=1)
    for shown_at in (address("task", assignment), reverse("judging:join", args=[made.join_key])):
        page = stranger.get(shown_at).text
        assert (latest in page, first in page) == (False, True)


def test_a_reload_shows_the_drafts(stranger, assignment):
    save_drafts(assignment, [Answer(shown(assignment)[1].pk, 3)])
    page = stranger.get(address("task", assignment)).text
    assert re.findall(r'name="(level-\d)" value="(\d)"[^>]* checked', page) == [("level-2", "3")]


def test_an_incomplete_submission_keeps_what_was_chosen_and_names_what_is_missing(stranger, assignment):
    response = submit(stranger, assignment, **{"level-3": ""})
    assert response.status_code == 422
    assert "1 pair has no answer yet: 3" in response.text
    assert 'href="#pair-3"' in response.text
    assert response.text.count(" checked") == 3
    assert Judgment.objects.count() == 0


def test_a_forged_submission_changes_nothing(stranger, assignment):
    for changes in (
        {"level-1": "5"},
        {"level-1": "1; DROP TABLE"},
        {"level-1": "١"},
        {"level-99": "1"},
        {"level-1": ["1", "4"]},
        {"level-1": "2", "shortcoming-1": "grammar"},
        {"level-2": "9" * 5000},
    ):
        response = submit(stranger, assignment, **changes)
        assert response.status_code == 422
        assert "Not submitted yet" in response.text
        assert (Judgment.objects.count(), Assignment.objects.get().state) == (0, "leased")


def test_a_reason_left_from_a_changed_level_is_dropped(stranger, made):
    asking = leased(make_round(made.pool.collection, "asking", reasons=True))
    submit(stranger, asking, **{"level-1": "1", "shortcoming-1": "grammar", "wrong_way-1": "age"})
    first = Judgment.objects.get(item=shown(asking)[0])
    assert (first.level, first.shortcoming, first.wrong_way) == (1, "", "")


def test_too_large_a_body_is_refused(stranger, assignment):
    response = submit(stranger, assignment, padding="x" * MAX_BODY)
    assert (response.status_code, Judgment.objects.count()) == (413, 0)


@pytest.mark.parametrize(("sent", "stored"), [("30", 30), ("999999", 120), ("many", 120)])
def test_active_seconds_never_exceed_the_time_since_the_lease(stranger, assignment, sent, stored):
    Assignment.objects.update(leased_at=timezone.now() - timezone.timedelta(seconds=120))
    submit(stranger, assignment, active_seconds=sent)
    assert Assignment.objects.get().active_seconds == pytest.approx(stored, abs=2)


def test_work_that_is_sent_long_after_its_lease_counts_no_longer_than_the_lease(stranger, assignment):
    now, minutes = timezone.now(), timezone.timedelta(minutes=1)
    Assignment.objects.update(leased_at=now - 4320 * minutes, deadline=now - 4275 * minutes)
    submit(stranger, assignment, active_seconds=4320 * 60)
    assert Assignment.objects.get().active_seconds == 45 * 60


def test_giving_back_what_another_tab_has_submitted_shows_its_receipt(stranger, assignment):
    submit(stranger, assignment)
    answer = stranger.post(address("give_back", assignment), follow=True)
    assert Assignment.objects.get().receipt in answer.text


def test_a_lost_lease_says_so_and_keeps_the_answers(stranger, made):
    late = lost(made)
    response = submit(stranger, late)
    assert response.status_code == 409
    assert "another worker took" in response.text
    assert (Judgment.objects.count(), Draft.objects.count()) == (0, 4)


def late_with_answers(made: Round) -> Assignment:
    """A HIT with an answer whose time ran out and whose seat is open."""
    late = leased(made, minutes=-1)
    save_drafts(late, [right_answers(late)[0]])
    assert expire_leases() == 1
    return late


def close(made: Round, worker: Worker) -> None:
    close_round(made, actor="robin")


def shut_out(made: Round, worker: Worker) -> None:
    exclude(worker, reason="Every answer is the same.", by="robin")


@pytest.mark.parametrize("end", [close, shut_out])
def test_who_is_given_no_hit_any_more_can_still_submit_a_late_one(stranger, made, end):
    late = late_with_answers(made)
    end(made, late.worker)
    page = stranger.get(home_of(late.worker, made)).text
    assert "Continue your HIT" in page
    assert re.search(r"/judge/task/[^\"]+", page)[0] == address("task", late)
    assert 'id="judging"' in stranger.get(address("task", late)).text
    assert submit(stranger, late).status_code == 302
    assert "Continue your HIT" not in stranger.get(home_of(late.worker, made)).text


def test_a_hit_that_its_worker_has_again_is_not_shown_at_its_old_address(stranger, made):
    late = late_with_answers(made)
    assert lease_seat(made, worker=late.worker).hit == late.hit
    page = stranger.get(address("task", late))
    assert (page.status_code, "you get this one again" in page.text) == (409, True)


def test_a_draft_of_a_hit_that_another_worker_was_given_says_so(stranger, made):
    response = stranger.post(address("draft", lost(made)), {"place": "2", "level-2": "4"})
    assert response.status_code == 409
    assert "another worker took" in response.json()["error"]


def test_a_draft_of_a_lease_that_ran_out_is_saved_while_its_seat_is_open(stranger, made):
    late = leased(made, minutes=-1)
    expire_leases()
    assert stranger.post(address("draft", late), {"place": "2", "level-2": "4"}).json() == {"errors": {}}


def test_a_hit_and_its_receipt_lead_to_each_other(stranger, assignment):
    link = address("task", assignment)
    assert stranger.get(link + "receipt/").url.split(":")[0] == link.split(":")[0]
    submit(stranger, assignment)
    assert stranger.get(link).url == link + "receipt/"


def test_a_draft_is_saved_by_place_and_undone_without_a_level(stranger, assignment):
    response = stranger.post(address("draft", assignment), {"place": "2", "level-2": "4"})
    assert response.json() == {"errors": {}}
    assert [(d.item, d.level) for d in Draft.objects.all()] == [(shown(assignment)[1], 4)]
    stranger.post(address("draft", assignment), {"place": "2", "level-2": ""})
    assert not Draft.objects.exists()


def test_a_malformed_draft_is_refused_in_one_line(stranger, assignment):
    for form in ({}, {"place": "9"}, {"place": "x"}, {"place": "1", "level-1": "8"}):
        response = stranger.post(address("draft", assignment), form)
        assert response.status_code == 422
        assert "\n" not in response.json()["errors"]["0"]


def test_each_hit_has_a_copy_of_its_own_on_the_device_which_goes_with_it(stranger, made):
    def named(page: str, attribute: str) -> str:
        return re.search(f'{attribute}="([^"]+)"', page)[1]

    first = leased(made)
    second = leased(make_round(made.pool.collection, "round-2"), worker=first.worker)
    copies = [named(stranger.get(address("task", one)).text, "data-copy") for one in (first, second, first)]
    assert copies[0] == copies[2] != copies[1]
    receipt = stranger.get(submit(stranger, first).url).text
    assert named(receipt, 'name="over" content') == copies[0]


# Active seconds of each pair: believed only as far as time has passed


@pytest.fixture
def begun(assignment) -> Assignment:
    """A HIT of 4 pairs, leased two minutes ago."""
    Assignment.objects.update(leased_at=timezone.now() - timedelta(seconds=120))
    return assignment


def seconds_by_place(rows) -> dict[int, int | None]:
    place_of = {item: place for place, item in places_of(Assignment.objects.get()).items()}
    return {place_of[row.item_id]: row.seconds for row in rows}


def draft(assignment, place, **fields):
    return Client().post(address("draft", assignment), {"place": place, f"level-{place}": "1", **fields})


@pytest.mark.parametrize(
    ("sent", "total", "stored", "whole"),
    [
        (("7", "0"), "20", (7, 0), 20),
        *((((bad, "5"), "20", (None, 5), 20)) for bad in ("-1", "9" * 30, "", "²")),
        (("100", "100"), "30", (None, None), 30),  # more than have passed are not believed
        (("30", "40"), "50", (30, 40), 70),  # as where another device counted the first pairs
    ],
)
def test_the_seconds_of_each_pair_are_stored_as_far_as_they_are_believed(client, begun, sent, total, stored, whole):
    fields = {"seconds-1": sent[0], "seconds-2": sent[1], "active_seconds": total}
    assert submit(client, begun, **fields).status_code == 302
    assert seconds_by_place(Judgment.objects.all()) == {1: stored[0], 2: stored[1], 3: None, 4: None}
    assert Assignment.objects.get().active_seconds == whole


def test_a_draft_keeps_the_seconds_and_the_page_shows_them(client, begun):
    assert draft(begun, 2, **{"seconds-2": "9"}).status_code == 200
    assert Draft.objects.get().seconds == 9
    page = client.get(address("task", begun)).text
    assert 'name="seconds-2" value="9"' in page
    assert 'name="seconds-1" value=""' in page


def test_on_a_platform_the_drafts_carry_them_to_the_judgments(db, platform):
    claim = claimed()
    answers = [replace(answer, seconds=3) for answer in right_answers(claim)]
    submit_answers(claim, answers=answers, active_seconds=20)
    confirm(claim)
    take_in(claim.pk)
    assert set(Judgment.objects.values_list("seconds", flat=True)) == {3}


def test_a_whole_hit_takes_few_queries(
    stranger, full, settings, django_assert_max_num_queries, django_capture_on_commit_callbacks
):
    settings.LEAST_SECONDS_A_PAIR = 0
    worker = make_worker()
    assert has_agreed(worker, full)  # SQLite is asked once whether it knows JSON
    home = home_of(worker, full)
    with django_assert_max_num_queries(16):
        assert stranger.post(f"{home}take/").status_code == 200
    taken = Assignment.objects.get()
    fields = as_form(taken, right_answers(taken)) | {"active_seconds": "60"}
    with django_assert_max_num_queries(21), django_capture_on_commit_callbacks(execute=True):
        receipt = stranger.post(address("task", taken), fields).url
    with django_assert_max_num_queries(4):
        assert stranger.get(receipt).status_code == 200
    assert Payment.objects.count() == 1
