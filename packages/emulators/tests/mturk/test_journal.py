import json
from datetime import timedelta

import pytest

from counterpart_emulators.journal import Journal, JournalError, seed_of
from counterpart_emulators.mturk.world import World
from counterpart_emulators.world_clock import Clock
from tests.mturk.conftest import NOON, QUESTION, TYPE


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.jsonl"


def opened(path, **different) -> World:
    return World(**{"seed": 5, "journal": path, "clock": Clock(lambda: NOON)} | different)


def lived(path) -> World:
    """A world in which a little of everything happened."""
    world = opened(path)
    type_id = world.call("CreateHITType", TYPE)["HITTypeId"]
    wanted = {"HITTypeId": type_id, "LifetimeInSeconds": 3600, "Question": QUESTION, "MaxAssignments": 4}
    hit_id = world.call("CreateHITWithHITType", wanted)["HIT"]["HITId"]
    people = [world.register_worker() for _ in range(3)]
    for worker_id in people:
        assignment_id = world.accept(hit_id, worker_id)["AssignmentId"]
        world.return_assignment(assignment_id, worker_id)
        world.submit(world.accept(hit_id, worker_id)["AssignmentId"], worker_id, {"who": "\u2028" + worker_id})
    world.call("UpdateExpirationForHIT", {"HITId": hit_id, "ExpireAt": NOON + timedelta(hours=9)})
    world.move_clock(by=timedelta(days=8), running=False)
    return world


def everything(world) -> str:
    with world.looking() as state:
        seen = vars(state) | {"due": None, "counters": None}
        return repr([seen[name] for name in sorted(seen)])


def test_a_restart_does_everything_again_and_gives_the_same_world(path):
    before = lived(path)
    assert everything(opened(path)) == everything(before)


def test_what_comes_after_a_restart_is_what_would_have_come_without_it(path):
    before = lived(path)
    after = opened(path, clock=Clock(lambda: NOON))
    ids = [world.register_worker() for world in (before, after)]
    assert ids[0] == ids[1]


def test_a_stopped_clock_is_still_stopped_after_a_restart(path):
    before = lived(path)
    assert opened(path, clock=Clock(lambda: NOON + timedelta(hours=3))).clock.now() == before.clock.now()


def test_a_running_clock_keeps_its_distance_from_the_real_one(path):
    opened(path).move_clock(by=timedelta(days=8))
    later = opened(path, clock=Clock(lambda: NOON + timedelta(hours=3)))
    assert later.clock.now() == NOON + timedelta(days=8, hours=3)


def test_what_only_looks_is_not_written_down(path):
    world = lived(path)
    before = path.read_text()
    world.call("ListHITs", {})
    world.call("GetAccountBalance", {})
    assert path.read_text() == before


def test_what_fails_is_not_written_down(path):
    world, before = lived(path), path.read_text()
    with pytest.raises(Exception, match="does not exist"):
        world.call("DeleteHIT", {"HITId": "3NOTHING"})
    assert path.read_text() == before


@pytest.mark.parametrize("content", [b"My only notes", b"[1]\nnotes", b"notes\nmore", b"\x93\xff", b"{}\nnotes"])
def test_a_file_that_is_not_a_journal_is_refused_and_left_as_it_is(path, content):
    path.write_bytes(content)
    with pytest.raises(JournalError, match=r"Use another file\.$"):
        seed_of(path)
    assert path.read_bytes() == content


def test_a_line_torn_by_a_crash_is_cut_off(path):
    before = everything(lived(path))
    with path.open("a") as file:
        file.write('{"at": "2026-03-')
    world = opened(path)
    assert everything(world) == before
    world.register_worker()
    assert all(json.loads(line) for line in path.read_text().split("\n")[:-1])


def test_a_line_that_is_not_json_is_named(path):
    lived(path)
    path.write_text(path.read_text().replace('"act"', "act", 1))
    with pytest.raises(JournalError, match="Line 2 of"):
        opened(path)


def test_a_journal_with_other_settings_is_refused(path):
    lived(path)
    with pytest.raises(JournalError, match="with other settings"):
        opened(path, seed=6)


def test_without_a_file_the_acts_are_kept_in_memory():
    journal = Journal()
    for number in range(3):
        journal.write("act", NOON, {"number": number})
    assert [entry["arguments"]["number"] for entry in journal.entries] == [0, 1, 2]
