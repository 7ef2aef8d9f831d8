"""The pages of a round on Prolific, and what a person decides there."""

import json
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from django.urls import reverse

from annotation.models import Assignment, Payment
from annotation.money.payments import owe_bonus
from crowd.models import Outbox
from crowd.posting.publication import close_round
from hits.models import Round
from tests.console.api.calls import caller_for
from tests.crowd.platform import sync
from tests.crowd.prolific_rehearsal import published, rehearsal
from tests.factories import make_round

__all__ = ["rehearsal"]


@pytest.fixture
def half_judged(rehearsal, commit):
    """A round with one paid and one flagged assignment."""
    made = published(hits=3, commit=commit)
    with commit(execute=True):
        rehearsal.work()
        rehearsal.work(wrong=True)
    sync(made, commit)
    return made


@pytest.fixture
def draft(db):
    return make_round(name="draft", hits=3, published=False, reward="2.00")


def test_the_offer_asks_only_for_what_prolific_knows(rehearsal, researcher, draft):
    on_prolific, on_mturk = (
        researcher.get(f"/rounds/draft/publish/?on={market}:emulator") for market in ("prolific", "mturk")
    )
    assert "Prolific, emulator" in on_prolific.text
    assert sorted(on_prolific.context["form"].fields) == [
        "description",
        "expected_minutes",
        "max_sessions",
        "min_approval_rate",
        "minutes",
        "pilot",
        "skip_missing",
        "title",
    ]
    assert "max_sessions" not in on_mturk.text


@pytest.mark.parametrize(("answer", "state", "paid"), [("yes", "paid", 0), ("no", "paid", 1)])
def test_an_unclear_bonus_is_settled_on_the_page_of_calls(
    half_judged, rehearsal, commit, researcher, answer, state, paid
):
    rehearsal.fault(kind="reset", operation="pay_bonuses", times=1)
    with commit(execute=True):
        owe_bonus(Assignment.objects.get(state="accepted"), amount=Decimal("0.50"), reason="Thanks.", actor="robin")
    while not Outbox.objects.filter(state="failed").exists():
        sync(half_judged, commit)
    row = Outbox.objects.get(state="failed")
    page = researcher.get(f"/rounds/{half_judged}/money/").text
    assert "It was not: pay it" in page
    assert "Choose whether it was paid." in researcher.post(f"/calls/{row.pk}/settle/", {}, follow=True).text
    row.refresh_from_db()
    assert row.state == "failed"
    with commit(execute=True):
        assert researcher.post(f"/calls/{row.pk}/settle/", {"was_paid": answer}).status_code == 302
    for _ in range(2):
        sync(half_judged, commit)
        rehearsal.later(minutes=2)
    sync(half_judged, commit)
    assert (Payment.objects.get(kind="bonus").state, len(rehearsal.bonuses())) == (state, paid)


def test_a_round_is_paused_and_resumed_on_its_page_while_it_is_open(half_judged, rehearsal, commit, researcher):
    for act, status, other in (("pause", "PAUSED", "resume"), ("resume", "ACTIVE", "pause")):
        with commit(execute=True):
            page = researcher.post(f"/rounds/{half_judged}/{act}/", follow=True).text
        assert rehearsal.study().status == status
        assert f"/rounds/{half_judged}/{other}/" in page
    with commit(execute=True):
        close_round(half_judged, actor="robin")
    assert "cannot be paused" in researcher.post(f"/rounds/{half_judged}/pause/").text
    assert Round.objects.get().paused_at is None


def test_a_pause_on_the_platform_is_shown_with_the_act_on_page_home_and_api(half_judged, rehearsal, commit, researcher):
    rehearsal.world.act("move_study", study_id=rehearsal.study().id, action="PAUSE", publish_at=None)
    sync(half_judged, commit)
    cache.clear()  # home keeps holds by the number of a round, which another test may have used
    said = "It was paused on the platform, not from here. No new worker comes until it is resumed."
    page = researcher.get(f"/rounds/{half_judged}/").text
    assert (said in page, f"/rounds/{half_judged}/resume/" in page) == (True, True)
    assert said in researcher.get("/").text
    answer = caller_for(User.objects.get(username="researcher"), "rounds:read").get(f"/rounds/{half_judged}").json()
    by = "on the platform, not from here"
    assert (answer["paused"], answer["paused_by"]) == (True, by)
    hold = {"kind": "platform", "text": said, "command": "pause round-1 --resume", "by": by, "goes_on": False}
    assert hold in answer["waits_for"]


def test_costs_agree_with_prolifics_calculator_and_wallet(half_judged, rehearsal, researcher, capsys):
    before = Outbox.objects.count()
    page = researcher.get(f"/rounds/{half_judged}/money/?costs").text
    assert "$8.40" in page  # three places of 2.00, with 33.3% and 20% tax on that
    capsys.readouterr()
    call_command("ledger", half_judged.name, platform=True, json=True)
    figures = json.loads(capsys.readouterr().out)
    assert (figures["places"], figures["all places"], figures["spent"]) == (3, "8.40", "2.80")
    assert (figures["reserved"], figures["owed"], figures["to come"]) == ("5.60", "0.00", "0.00")
    with rehearsal.world.looking() as state:
        assert Decimal(figures["balance"]) == state.ledger.available
    assert Outbox.objects.count() == before
    call_command("ledger", half_judged.name, json=True)
    (worker,) = json.loads(capsys.readouterr().out)["workers"]
    assert (worker["rewards"], worker["base"], worker["extra"]) == (1, "2.00", "0.00")
    rehearsal.fault(kind="status", status=503, body="json", probability=1)
    page = researcher.get(f"/rounds/{half_judged}/money/?costs")
    assert (page.status_code, page.text.count("unknown"), "503" in page.text) == (200, 2, True)


def test_paid_work_gets_one_bonus_on_its_page_and_cannot_be_asked_back(half_judged, rehearsal, commit, reviewer):
    work = Assignment.objects.get(state="accepted")
    address = reverse("assignment_bonus", args=[work.pk])
    page = reviewer.get(reverse("assignment", args=[work.pk])).text
    assert (address in page, "/return/" in page) == (True, False)
    for sent in (
        {"amount": "0", "reason": "x"},
        {"amount": "1.005", "reason": "x"},
        {"amount": "1"},
        {"amount": "NaN"},
    ):
        assert reviewer.post(address, sent).status_code in (409, 422), sent
    assert not Payment.objects.filter(kind="bonus").exists()
    for _ in range(2):
        with commit(execute=True):
            assert reviewer.post(address, {"amount": "0.50", "reason": "Thank you."}).status_code == 302
    assert "Thank you." in reviewer.get(address).text
    answer = reviewer.post(reverse("assignment_return", args=[work.pk]), {"reason": "x"})
    assert (answer.status_code, "cannot be returned" in answer.text) == (409, True)
    rehearsal.later(minutes=2)
    sync(half_judged, commit)
    assert rehearsal.bonuses() == [Decimal("0.50")]


def test_a_worker_is_asked_once_to_return_flagged_work_whose_rejection_would_be_final(half_judged, rehearsal, reviewer):
    work = Assignment.objects.get(state="flagged")
    address = reverse("assignment_return", args=[work.pk])
    page = reviewer.get(reverse("assignment", args=[work.pk])).text
    assert all(sentence in page for sentence in (address, "a rejection is final", "100 characters"))
    for _ in range(2):
        assert reviewer.post(address, {"reason": "The pictures did not load."}).status_code == 302
    with rehearsal.world.looking() as state:
        assert [message.body for message in state.messages] == ["Please return your work: The pictures did not load."]


def test_bonus_and_decision_are_given_by_command_too(half_judged, rehearsal, commit, django_user_model):
    django_user_model.objects.create_user("kim")
    flagged, accepted = Assignment.objects.get(state="flagged"), Assignment.objects.get(state="accepted")
    with commit(execute=True):
        said = call_command(
            "decide", str(flagged.pk), votes="exclude", pay="yes", reason="The controls failed.", by="kim"
        )
        given = call_command("pay", "bonus", str(accepted.pk), amount="0.50", reason="Thank you.", by="kim")
    assert (said, given[:5]) == (f"Assignment {flagged.pk}: votes excluded, paid.", "$0.50")
    sync(half_judged, commit)
    rehearsal.later(minutes=2)
    sync(half_judged, commit)
    assert set(Payment.objects.values_list("state", flat=True)) == {"paid"}
    assert rehearsal.bonuses() == [Decimal("0.50")]
