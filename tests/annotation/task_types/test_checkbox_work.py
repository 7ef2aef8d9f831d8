"""Work on check boxes: the sheet and its fields, drafts, grading by a share of the controls, verdicts at 2 of 3."""

import random
import re

import numpy as np
import pytest

from annotation.models import Assignment, Decision, Draft, Judgment
from annotation.work.answers import places_of
from corpus.models import Match
from dataset.models import Verdict
from dataset.verdicts import aggregate_round
from hits.models import Item
from simulation.simulated_workers import Reviewer
from tests.annotation.answering import address, leased
from tests.annotation.task_types.rounds import vote_on_first
from tests.factories import make_assignment, make_worker
from tests.hits.pools import pack_boxes, pool_of_boxes


def screens(assignment: Assignment) -> list[list[Item]]:
    """The items of each screen, in the order of the page."""
    items = assignment.hit.items.select_related("control").in_bulk()
    shown = [items[pk] for _, pk in sorted(places_of(assignment).items())]
    return [shown[start : start + 10] for start in range(0, 60, 10)]


def ticked(assignment: Assignment, *, wrong: int = 0) -> dict[str, str]:
    """The form of a worker who answers all controls right but for ``wrong``, and finds no other sentence right."""
    form = {}
    for number, screen in enumerate(screens(assignment)):
        for place, item in enumerate(screen, 10 * number + 1):
            right = bool(item.control and item.control.polarity == "positive")
            if item.control and wrong:
                right, wrong = not right, wrong - 1
            form |= {f"level-{place}": "1"} if right else {}
        form |= (
            {} if any(f"level-{10 * number + i}" in form for i in range(1, 11)) else {f"rest-{10 * number + 1}": "4"}
        )
    return form


def send(client, assignment: Assignment, form: dict[str, str]):
    return client.post(address("task", assignment), form)


def test_the_captions_of_a_picture_stay_together_and_their_order_differs_between_workers(box_round):
    orders = set()
    for _ in range(3):
        assignment = leased(box_round, worker=make_worker())
        shown = screens(assignment)
        assert all(len({item.image_id for item in screen}) == 1 for screen in shown)
        orders.add(tuple(item.pk for screen in shown for item in screen))
        Assignment.objects.filter(pk=assignment.pk).update(state="returned")
        assignment.seat.state = "open"
        assignment.seat.save()
    assert len(orders) == 3


def test_what_is_not_ticked_is_a_no_once_something_was_said_of_the_picture(stranger, box_round):
    assignment = leased(box_round)
    answer = send(stranger, assignment, ticked(assignment))
    assert answer.status_code == 302
    true = Judgment.objects.filter(item__control__polarity="positive")
    assert set(true.values_list("level", flat=True)) == {1}
    assert set(Judgment.objects.exclude(pk__in=true).values_list("level", flat=True)) == {4}
    assert Judgment.objects.count() == 60


def test_a_picture_of_which_nothing_was_said_keeps_the_form_out_and_its_answers_are_kept(stranger, box_round):
    assignment = leased(box_round)
    form = ticked(assignment)
    said = {name: value for name, value in form.items() if not name.startswith(("level-2", "rest-21", "level-30"))}
    answer = send(stranger, assignment, said)
    assert answer.status_code == 422
    assert "1 picture has no answer" in answer.text
    assert Judgment.objects.count() == 0
    assert Draft.objects.count() == 50


def test_a_draft_holds_the_whole_picture_and_undoing_it_leaves_nothing(stranger, box_round):
    assignment = leased(box_round)
    answer = stranger.post(address("draft", assignment), {"place": 11, "level-13": "1"})
    assert answer.json() == {"errors": {}}
    places = places_of(assignment)
    levels = dict(Draft.objects.values_list("item", "level"))
    assert levels == {places[place]: 1 if place == 13 else 4 for place in range(11, 21)}
    page = stranger.get(address("task", assignment)).text
    assert re.findall(r'name="([^"]+)"[^>]* checked', page) == ["level-13"]
    stranger.post(address("draft", assignment), {"place": 11})
    assert not Draft.objects.exists()
    assert stranger.post(address("draft", assignment), {"place": 12}).status_code == 422


def test_a_picture_that_does_not_load_frees_the_worker_of_its_sentences(stranger, box_round):
    assignment = leased(box_round)
    first = next(number for number, screen in enumerate(screens(assignment)) if not screen[0].control)
    form = ticked(assignment) | {f"rest-{10 * first + 1}": "0"}
    send(stranger, assignment, form)
    assert Judgment.objects.count() == 50
    assert assignment.worker.reports.count() == 10


@pytest.mark.parametrize(("wrong", "state"), [(0, "accepted"), (3, "accepted"), (4, "flagged")])
def test_work_counts_where_seven_of_ten_controls_are_right(stranger, box_round, commit, wrong, state):
    assignment = leased(box_round)
    with commit(execute=True):
        send(stranger, assignment, ticked(assignment, wrong=wrong))
    assignment.refresh_from_db()
    assert (assignment.state, assignment.control_failures) == (state, wrong)
    reasons = [one.reason for one in Decision.objects.all()]
    assert (
        reasons == {0: ["All controls are right."], 3: ["3 controls wrong, as few as the task allows."], 4: []}[wrong]
    )


@pytest.fixture
def judged(stranger, commit):
    """Have one worker do HITs with these numbers of wrong answers to their ten controls; return the work."""

    def judge(*wrong: int) -> list[Assignment]:
        pool, worker = pool_of_boxes(asked=5 * len(wrong), images=30), make_worker()
        # A worker judges a pair once: controls are of other images than those that are asked about.
        Match.objects.filter(image__in=pool.proposals.values("image")).delete()
        made = pack_boxes("several", pool)
        for hit, failures in zip(made.hits.order_by("number"), wrong, strict=True):
            assignment = make_assignment(hit.seats.first(), worker)
            with commit(execute=True):
                assert send(stranger, assignment, ticked(assignment, wrong=failures)).status_code == 302
        return list(Assignment.objects.filter(worker=worker).order_by("pk"))

    return judge


def test_the_seventy_percent_are_of_all_controls_of_the_worker(judged):
    """By hand: 10 of 10; 16 of 20; 20 of 30, which is too few; 30 of 40."""
    work = judged(0, 4, 6, 0)
    assert [one.state for one in work] == ["accepted", "accepted", "flagged", "accepted"]
    assert work[2].problem == "Of 30 controls of the round, the worker has 20 right, fewer than 70%."


def test_a_hit_without_a_wrong_control_waits_where_the_worker_has_too_few_right(judged):
    work = judged(7, 0)
    assert [(one.state, one.control_failures) for one in work] == [("flagged", 7), ("flagged", 0)]


def test_each_hit_is_judged_by_the_share_up_to_it(judged):
    rng = random.Random(0)
    work = judged(*(rng.randrange(6) for _ in range(4)))
    assert len({one.hit_id for one in work}) == 4
    rows = list(Judgment.objects.filter(item__control__isnull=False).order_by("pk"))
    for number, one in enumerate(work):
        up_to = [row for row in rows if row.assignment_id in {done.pk for done in work[: number + 1]}]
        right = [(row.level == 1) == (row.item.control.polarity == "positive") for row in up_to]
        assert (one.state == "accepted") == (sum(right) / len(right) >= 0.7)


@pytest.mark.parametrize(
    ("votes", "level", "score"), [((1, 1, 4), 1, 2 / 3), ((1, 4, 4), 4, 1 / 3), ((1, 4), 4, 1 / 2)]
)
def test_a_pair_is_relevant_where_two_of_three_say_yes(box_round, commit, votes, level, score):
    with commit(execute=True):
        item = vote_on_first(box_round, *votes, rest=4)
    aggregate_round(box_round)
    verdict = Verdict.objects.get(image=item.image, caption=item.caption)
    assert verdict.level == level
    assert verdict.score == pytest.approx(score)


def test_a_simulated_review_decides_on_a_hit_of_a_worker_with_too_few_right(judged):
    _, waiting = judged(7, 0)
    Reviewer(excluded=1.0, seen={waiting.hit_id: []}).review(waiting, np.random.default_rng(0))
    waiting.refresh_from_db()
    assert waiting.state == "accepted"  # it has no slip
