"""The controls: JSON for programs, a page for people, and no access from elsewhere."""

import httpx
import pytest
from werkzeug import Request
from werkzeug.test import EnvironBuilder

from counterpart_emulators.control_panel import is_local


@pytest.fixture
def controls(emulator):
    with httpx.Client(base_url=f"{emulator.url}/_emulator/") as client:
        yield client


def test_the_clock_is_moved_stopped_and_shown(controls):
    moved = controls.post("clock", json={"forward_seconds": 3600, "running": False}).json()
    assert moved == {"now": "2026-03-02T13:00:00+00:00", "running": False} == controls.get("clock").json()


def test_workers_are_registered_and_listed(controls):
    made = controls.post("workers", json={"approved": 50, "approval_rate": 98, "locale": "GB"}).json()
    [worker] = controls.get("workers").json()
    assert (worker["id"], worker["approved"], worker["country"]) == (made["WorkerId"], 50, "GB")


def test_a_fault_is_set_seen_and_cleared(controls, mturk, refused):
    id = controls.post("faults", json={"kind": "throttle", "operation": "GetAccountBalance"}).json()["id"]
    assert refused(mturk.get_account_balance)[0] == "ThrottlingException"
    [fault] = controls.get("faults").json()
    assert (fault["id"], fault["met"], fault["happened"]) == (id, 1, 1)
    assert controls.delete(f"faults/{id}").json() == {"cleared": 1}
    mturk.get_account_balance()


def test_the_ledger_and_the_summary_agree(controls, mturk, post, do):
    mturk.approve_assignment(AssignmentId=do(post()["HITId"]))
    movements = controls.get("ledger").json()
    balance = controls.get("summary").json()["balance"]
    assert balance == {"available": "9999.22", "on_hold": "0.00", "spent": "0.78"}
    assert sum(round(float(each["available"]) * 100) for each in movements) == 999_922


def test_the_journal_lists_calls_acts_and_controls(controls, post, worker):
    post()
    controls.post("faults", json={"kind": "drop", "operation": "SendBonus"})
    listed = controls.get("journal").json()
    acts = [entry["act"] for entry in listed["entries"]]
    assert acts == ["set_balance", "CreateHITType", "register_worker", "CreateHITWithHITType", "note"]
    assert controls.get(f"journal?after={listed['after'] - 1}").json()["entries"] == listed["entries"][-1:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "sent", "error"),
    [
        ("clock", {"to": "2020-01-01T00:00:00+00:00"}, "only moves forward"),
        ("clock", {"to": "tomorrow"}, "to is 'tomorrow'; it must be an instant (ISO 8601)."),
        ("clock", {"forward_seconds": "60"}, "forward_seconds is '60'; it must be a number of seconds"),
        ("clock", {"forward_seconds": 1e18}, "up to ten years"),
        ("clock", {"running": 1}, "running is 1; it must be true or false."),
        ("clock", {"back": 60}, "/_emulator/clock has no setting 'back'; it has: to, forward_seconds, running."),
        ("balance", {"available": 4.2}, "available is 4.2; it must be an amount such as"),
        ("balance", {}, "/_emulator/balance needs available: an amount"),
        ("workers", {"worker_id": "lower"}, "'lower' is not a worker id"),
        ("workers", {"approved": "many"}, "approved is 'many'; it must be a whole number, 0 or more."),
        ("premium-fees", {"fee": "0.05"}, "needs qualification_type_id"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line_and_changes_nothing(controls, path, sent, error, world):
    before = len(world.journal.entries)
    answer = controls.post(path, json=sent)
    assert answer.status_code == 400
    assert error in answer.json()["error"]
    assert "\n" not in answer.json()["error"]
    assert len(world.journal.entries) == before


@pytest.mark.parametrize(
    ("content", "headers", "error"),
    [
        (b"{", {"Content-Type": "application/json"}, "not JSON"),
        (b"[]", {"Content-Type": "application/json"}, "a JSON object"),
        (b"available=5", {"Content-Type": "application/x-www-form-urlencoded"}, "Content-Type: application/json"),
    ],
)
def test_a_body_that_is_not_a_json_object_is_refused(controls, content, headers, error):
    answer = controls.post("balance", content=content, headers=headers)
    assert (answer.status_code, error in answer.json()["error"]) == (400, True)


@pytest.mark.parametrize(
    ("address", "host", "origin", "is_let_in"),
    [
        ("127.0.0.1", "127.0.0.1:8900", None, True),
        ("::1", "localhost:8900", None, True),
        ("::1", "[::1]:8900", None, True),
        ("127.0.0.1", "127.0.0.1:8900", "http://127.0.0.1:8900", True),
        ("192.168.1.7", "127.0.0.1:8900", None, False),
        ("127.0.0.1", "rebound.example:8900", None, False),
        ("127.0.0.1", "127.0.0.1:8900", "https://elsewhere.example", False),
        ("", "127.0.0.1:8900", None, False),
    ],
)
def test_only_this_machine_and_its_own_pages_are_let_in(address, host, origin, is_let_in):
    headers = {"Origin": origin} if origin else {}
    environ = EnvironBuilder(base_url=f"http://{host}", headers=headers).get_environ() | {"REMOTE_ADDR": address}
    assert is_local(Request(environ)) is is_let_in


def test_a_page_from_elsewhere_is_turned_away(controls):
    answer = controls.post("balance", json={"available": "1.00"}, headers={"Origin": "https://elsewhere.example"})
    assert answer.status_code == 403


def test_the_pages_buttons_do_what_they_say(controls, world):
    controls.post("page/clock", data={"forward_seconds": "60"})
    controls.post("page/clock", data={"running": "false"})
    controls.post("page/balance", data={"available": "12.00"})
    controls.post("page/faults", data={"declaration": '{"kind": "drop"}'})
    figures = controls.get("summary").json()
    assert figures["clock"] == {"now": "2026-03-02T12:01:00+00:00", "running": False}
    assert figures["balance"]["available"] == "12.00"
    assert "Clear" in controls.get("").text
    controls.post("page/clear", data={"id": "F1"})
    assert controls.get("faults").json() == []


def test_a_refused_declaration_stays_in_the_form(controls):
    answer = controls.post("page/faults", data={"declaration": '{"kind": "drip"}'})
    assert answer.status_code == 400
    assert "&#39;drip&#39;" in answer.text
    assert "&#34;drip&#34;" in answer.text
