"""The fault matrix on the workers' side: what they submit, when, and under which id."""

import pytest

from counterpart_emulators.mturk.faults.worker_acts import SHAPES, Work
from counterpart_emulators.mturk.xml_documents import XMLError, answers_document, parse


@pytest.fixture
def work(emulator) -> Work:
    return emulator.work


def answer_of(mturk, hit_id: str) -> str:
    [assignment] = mturk.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    assert mturk.get_assignment(AssignmentId=assignment["AssignmentId"])["Assignment"]["Answer"] == assignment["Answer"]
    return assignment["Answer"]


def submitted(mturk, post, work, worker) -> str:
    hit_id = post()["HITId"]
    work.submit(work.accept(hit_id, worker)["AssignmentId"], worker, {"labels": "1,2", "receipt": "r"})
    return answer_of(mturk, hit_id)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_misshapen_answer_is_what_every_reading_shows(mturk, post, work, worker, upset, shape):
    upset("answer", "submit", shape=shape)
    assert submitted(mturk, post, work, worker) != answers_document({"labels": "1,2", "receipt": "r"})


@pytest.mark.parametrize("shape", ["doctype", "entities", "cut off", "empty"])
def test_hostile_and_broken_answers_do_not_parse_safely(mturk, post, work, worker, upset, shape):
    upset("answer", "submit", shape=shape)
    with pytest.raises(XMLError):
        parse(submitted(mturk, post, work, worker))


@pytest.mark.parametrize(
    ("shape", "names"),
    [
        ("no answers", []),
        ("unknown fields", ["labels", "receipt", "browser_extension", ""]),
        ("repeated field", ["labels", "receipt", "labels"]),
        ("markup", ["labels", "receipt"]),
    ],
)
def test_odd_answers_are_well_formed(mturk, post, work, worker, upset, shape, names):
    upset("answer", "submit", shape=shape)
    found = parse(submitted(mturk, post, work, worker)).iter()
    assert [each.text or "" for each in found if each.tag.endswith("QuestionIdentifier")] == names


@pytest.mark.parametrize(("to", "by"), [("same", "AWORKERONE"), ("another", "AWORKERTWO")])
def test_a_returned_id_goes_to_whom_the_fault_says(post, work, world, upset, to, by):
    hit_id = post()["HITId"]
    for worker_id in ("AWORKERONE", "AWORKERTWO"):
        world.register_worker(worker_id)
    first = work.accept(hit_id, "AWORKERONE")["AssignmentId"]
    work.return_assignment(first, "AWORKERONE")
    upset("reissue", "accept", to=to)
    assert work.accept(hit_id, by)["AssignmentId"] == first


def test_a_forced_reissue_leaves_the_world_as_it_was(post, work, worker, upset, world):
    upset("reissue", "accept", to="never")
    work.accept(post()["HITId"], worker)
    with world.looking() as state:
        assert state.reissue == "seeded"


@pytest.mark.parametrize(
    ("form", "given"),
    [
        ("slash", [("turkSubmitTo", "http://site/"), ("workerId", "A1")]),
        ("repeated", [("turkSubmitTo", "http://site"), ("workerId", "A1")] * 2),
        ("no worker", [("turkSubmitTo", "http://site")]),
    ],
)
def test_an_address_comes_in_the_forms_that_were_seen_live(work, upset, form, given):
    upset("address", "work", form=form)
    assert work.address("work", [("turkSubmitTo", "http://site"), ("workerId", "A1")]) == given


def test_a_contradicting_address_names_two_assignments(work, upset):
    upset("address", form="contradicting")
    names = [name for name, _ in work.address("work", [("assignmentId", "3A")])]
    assert names == ["assignmentId", "assignmentId"]
