"""How a round becomes a study on Prolific, and what is refused before anything is made."""

from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from crowd.calls.funds import ask_funds
from crowd.channels.prolific.client import Client
from crowd.models import Outbox, Posting
from tests.crowd.prolific_rehearsal import check_books, published, rest
from tests.factories import make_collection, make_round


def test_a_round_becomes_one_published_study(rehearsal, commit):
    made = published(hits=3, replication=2, commit=commit)
    study, posting = rehearsal.study(), Posting.objects.get()
    assert (posting.external_id, posting.max_assignments, posting.state) == (study.id, 6, "live")
    assert (study.status, study.terms["reward"], study.terms["estimated_completion_time"]) == ("ACTIVE", 200, 8)
    assert study.terms["maximum_allowed_time"] == 60
    assert study.terms["submissions_config"]["max_submissions_per_participant"] == 3
    codes = study.terms["completion_codes"]
    assert [code["code_type"] for code in codes] == ["COMPLETED", "OTHER", "NO_CONSENT"]
    assert {action["action"] for code in codes for action in code["actions"]} == {"MANUALLY_REVIEW", "REQUEST_RETURN"}
    assert len({code["code"] for code in codes}) == 3
    assert not any(code["code"].lower() in study.id for code in codes)
    check_books(made, rehearsal)


def test_studies_are_in_one_project_of_the_workspace_that_pays(rehearsal, commit):
    rehearsal.fault(kind="drop", operation="create_project", nth=1)
    first = published(commit=commit)
    rest(first, rehearsal, commit)
    published(commit=commit, name="round-2", collection=make_collection("second", images=10, pictures=True))
    projects = rehearsal.world.look(lambda state: {each["id"]: each["title"] for each in state.projects.values()})
    assert sorted(projects.values()) == ["Counterpart", "Project"]
    assert len(rehearsal.studies()) == 2
    assert {projects[study.project_id] for study in rehearsal.studies()} == {"Counterpart"}


def test_the_fees_are_those_of_prolifics_calculator(rehearsal, commit):
    made = published(hits=3, commit=commit)
    assert made.seat_cost == Decimal("2.80")  # 2.00, 33.3% of it, and 20% tax on that, rounded
    assert ask_funds("prolific", "emulator").amount == Decimal("10000") - 3 * made.seat_cost


def test_a_round_without_a_stated_time_is_not_published(rehearsal):
    made = make_round(hits=2, published=False, reward="2.00")
    with pytest.raises(CommandError, match="--expected-minutes"):
        call_command("publish", made.name, channel="prolific", environment="emulator")
    assert rehearsal.studies() == []


def test_a_reward_below_prolifics_floor_is_not_published(rehearsal):
    made = make_round(hits=2, published=False, reward="1.00")
    type(made).objects.update(wage_floor=0)
    with pytest.raises(CommandError, match=r"\$8.00 .*\$1.34"):
        call_command("publish", made.name, channel="prolific", environment="emulator", expected_minutes=Decimal(10))
    assert rehearsal.studies() == []


def test_a_round_is_held_to_the_cost_that_prolific_names_and_not_to_an_estimate(rehearsal, commit):
    made = make_round(hits=2, published=False, reward="2.00")
    type(made).objects.update(ceiling="5.60")  # the estimate says $6.06, the calculator $5.60
    with commit(execute=True):
        call_command("publish", made.name, channel="prolific", expected_minutes=Decimal(8))
    assert rehearsal.study().status == "ACTIVE"


def test_parts_of_a_cent_of_a_place_never_pass_the_ceiling(rehearsal, monkeypatch):
    ask = Client.post

    def named(self, path, body=None):
        """42.8% on top, and 20% tax on that."""
        if path != "study-cost-calculator/":
            return ask(self, path, body)
        return {"total_cost": int(body["reward"] * body["total_available_places"] * Decimal("1.5136"))}

    monkeypatch.setattr(Client, "post", named)
    made = make_round(hits=3, published=False, reward="1.35")
    type(made).objects.update(ceiling="6.12", wage_floor="9.00")  # Prolific names $6.13
    with pytest.raises(CommandError, match="above its ceiling"):
        call_command("publish", made.name, channel="prolific", expected_minutes=Decimal(8))
    assert rehearsal.studies() == []


def test_a_study_that_costs_more_than_the_calculator_named_is_never_published(rehearsal, commit, monkeypatch):
    ask = Client.post

    def of_the_account(self, path, body=None):
        """Fees of 20%; the workspace pays 40%."""
        return {"total_cost": 3 * 240} if path == "study-cost-calculator/" else ask(self, path, body)

    monkeypatch.setattr(Client, "post", of_the_account)
    published(hits=3, commit=commit)
    assert (rehearsal.study().status, rehearsal.spent()) == ("UNPUBLISHED", 0)
    call = Outbox.objects.get()
    assert (call.state, "$8.40" in call.error, "$7.20" in call.error) == ("failed", True, True)


@pytest.mark.parametrize(("asked", "given"), [(0, 3), (2, 2), (9, 3)])
def test_a_participant_may_take_the_study_as_often_as_was_asked_but_for_no_more_hits_than_there_are(
    rehearsal, commit, asked, given
):
    made = make_round(hits=3, published=False, reward="2.00")
    with commit(execute=True):
        call_command("publish", made.name, channel="prolific", expected_minutes=Decimal(8), max_sessions=asked)
    assert rehearsal.study().terms["submissions_config"]["max_submissions_per_participant"] == given


@pytest.mark.parametrize(
    ("channel", "sessions"), [("mturk", 2), ("browser", 2), ("prolific", -1), ("prolific", 10_001)]
)
def test_a_number_of_sessions_that_a_channel_cannot_ask_for_publishes_nothing(db, channel, sessions):
    made = make_round(hits=3, published=False, reward="2.00")
    with pytest.raises(CommandError, match="max.sessions"):
        call_command("publish", made.name, channel=channel, expected_minutes=Decimal(8), max_sessions=sessions)
    made.refresh_from_db()
    assert made.state == "draft"
