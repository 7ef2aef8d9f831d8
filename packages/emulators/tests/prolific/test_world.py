"""The clock, the journal, the controls, the command: what the emulator shares with others, on Prolific's data."""

import json
from datetime import timedelta

import httpx
import pytest

from counterpart_emulators.journal import JournalError
from counterpart_emulators.prolific.schemas import NewStudy, read_body
from counterpart_emulators.prolific.world import World
from counterpart_emulators.world_clock import Clock
from tests.prolific.conftest import NOON, STUDY


def played(world):
    """Play a small round: approved, rejected, returned, a bonus; returns the study's id."""
    body = read_body(NewStudy, json.dumps(STUDY | {"total_available_places": 4}).encode())
    study_id = world.act("create_study", **body)["id"]
    world.act("move_study", study_id=study_id, action="PUBLISH", publish_at=None)
    ids = []
    for code in ("DONE", "DONE", "NOPE"):
        by = world.register()
        submission_id = world.act("reserve", study_id=study_id, participant_id=by)["submission_id"]
        world.act("start", submission_id=submission_id, participant_id=by)
        world.act("complete", submission_id=submission_id, participant_id=by, code=code)
        ids.append((submission_id, by))
    rest = {"message": None, "rejection_category": None, "completion_code": None, "completion_code_data": None}
    world.act("move_submission", submission_id=ids[0][0], action="APPROVE", **rest)
    world.act("return", submission_id=ids[2][0], participant_id=ids[2][1])
    order = world.act("create_bonuses", study_id=study_id, csv_bonuses=f"{ids[0][0]},1.00")
    world.act("pay_bonuses", payment_id=order["id"])
    world.move_clock(by=timedelta(hours=1), running=False)
    return study_id


def visible(world):
    """Return everything that a requester or a participant could see of a world."""
    with world.looking() as state:
        ledger = [(entry.what, entry.available, entry.on_hold, entry.about) for entry in state.ledger.entries]
        submissions = [(each.id, each.status, each.paid, each.bonuses) for each in state.submissions.values()]
        return ledger, submissions, [*state.studies], [*state.participants], world.clock.now()


def test_a_restart_continues_from_the_journal(tmp_path):
    path = tmp_path / "journal.jsonl"
    world = World(seed=3, journal=path, clock=Clock(lambda: NOON))
    played(world)
    again = World(seed=3, journal=path, clock=Clock(lambda: NOON))
    assert visible(again) == visible(world)
    with pytest.raises(JournalError, match="other settings"):
        World(seed=3, currency="GBP", journal=path)


def test_the_ledger_adds_up_to_the_balance():
    world = World(clock=Clock(lambda: NOON))
    played(world)
    with world.looking() as state:
        account = state.ledger
        assert sum(entry.available for entry in account.entries) == account.available
        assert sum(entry.on_hold for entry in account.entries) == account.on_hold
        [study] = state.studies.values()
        # Three places are unpaid, at 2.80; the approved one and the bonus (1.00, 0.33, 0.07) are spent.
        assert (study.held, f"{account.on_hold:.2f}", f"{account.spent:.2f}") == (3, "8.40", "4.20")


@pytest.fixture
def controls(emulator):
    with httpx.Client(base_url=f"{emulator.url}/_emulator/") as client:
        yield client


def test_the_controls_show_and_change_the_market(controls, publish, finish):
    finish(publish())
    summary = controls.get("summary").json()
    assert (summary["studies"], summary["submissions"]) == ({"ACTIVE": 1}, {"AWAITING REVIEW": 1})
    assert controls.post("clock", json={"forward_seconds": 21 * 86_400, "running": False}).status_code == 200
    [row] = controls.get("submissions").json()
    assert (row["status"], row["paid"]) == ("APPROVED", "2.00")
    made = controls.post("participants", json={"device": "mobile"}).json()["participant_id"]
    assert made in [each["id"] for each in controls.get("participants").json()]
    assert controls.post("participants", json={"device": "watch"}).status_code == 400
