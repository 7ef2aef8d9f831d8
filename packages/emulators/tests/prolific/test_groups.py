"""Participant groups, and who may see a study."""

import pytest

from counterpart_emulators.prolific.participants import open_studies
from tests.prolific.conftest import STUDY


@pytest.fixture
def group(api, world):
    """Create a group of these participants; returns its id."""

    def made(*participant_ids):
        workspace_id = world.look(lambda state: state.workspace_id)
        sent = {"name": "Excluded", "workspace_id": workspace_id}
        group_id = api.post("participant-groups/", json=sent).json()["id"]
        add(api, group_id, *participant_ids)
        return group_id

    return made


def add(api, group_id, *participant_ids):
    return api.post(f"participant-groups/{group_id}/participants/", json={"participant_ids": [*participant_ids]})


def sees(world, participant_id):
    return bool(world.look(open_studies, participant_id))


def test_members_are_added_and_removed_and_repeats_are_ignored(api, world, group):
    first, second = world.register(), world.register()
    group_id = group(first)
    for _ in range(2):
        add(api, group_id, first, second)
    members = api.get(f"participant-groups/{group_id}/participants/").json()["results"]
    assert [each["participant_id"] for each in members] == [first, second]
    for _ in range(2):
        sent = {"participant_ids": [first]}
        answer = api.request("DELETE", f"participant-groups/{group_id}/participants/", json=sent)
    assert [each["participant_id"] for each in answer.json()["results"]] == [second]
    assert api.get("participant-groups/").json()["results"][0]["participant_count"] == 1


@pytest.mark.parametrize(
    ("filter_id", "member", "other"),
    [("participant_group_allowlist", True, False), ("participant_group_blocklist", False, True)],
)
def test_a_study_is_for_members_or_for_others(world, group, publish, filter_id, member, other):
    inside, outside = world.register(), world.register()
    publish(filters=[{"filter_id": filter_id, "selected_values": [group(inside)]}])
    assert (sees(world, inside), sees(world, outside)) == (member, other)


def test_a_live_study_follows_the_group(api, world, group, publish):
    participant_id, group_id = world.register(), group()
    publish(filters=[{"filter_id": "participant_group_blocklist", "selected_values": [group_id]}])
    assert sees(world, participant_id)
    add(api, group_id, participant_id)
    assert not sees(world, participant_id)


@pytest.mark.parametrize(("kind", "seen"), [("allowlist", True), ("blocklist", False)])
def test_a_study_can_ask_for_earlier_studies_or_named_people(world, publish, finish, kind, seen):
    study_id = publish(total_available_places=1)
    _, participant_id = finish(study_id)
    publish(filters=[{"filter_id": f"previous_studies_{kind}", "selected_values": [study_id]}])
    publish(filters=[{"filter_id": f"custom_{kind}", "selected_values": [participant_id]}])
    assert len(world.look(open_studies, participant_id)) == (2 if seen else 0)
    assert len(world.look(open_studies, world.register())) == (0 if seen else 2)


@pytest.mark.parametrize(("rate", "seen"), [(89, False), (90, True)])
def test_a_study_can_ask_for_an_approval_rate(world, publish, rate, seen):
    publish(filters=[{"filter_id": "approval_rate", "selected_range": {"lower": 90}}])
    assert sees(world, world.register(approval_rate=rate)) == seen


@pytest.mark.parametrize(("device", "seen"), [("desktop", True), ("mobile", False)])
def test_a_study_is_for_its_devices(world, publish, device, seen):
    publish(device_compatibility=["desktop", "tablet"])
    assert sees(world, world.register(device=device)) == seen


def test_a_code_can_add_to_a_group_and_take_out_of_one(api, world, group, publish, finish):
    participant_id, added = world.register(), group()
    removed = group(participant_id)
    actions = [
        {"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": added},
        {"action": "REMOVE_FROM_PARTICIPANT_GROUP", "participant_group": removed},
    ]
    finish(publish(completion_codes=[STUDY["completion_codes"][0] | {"actions": actions}]), participant_id)
    counts = {each["id"]: each["participant_count"] for each in api.get("participant-groups/").json()["results"]}
    assert counts == {added: 1, removed: 0}
