"""Argilla's records of a dataset whose fields are an image and a caption."""

import pytest

from core.errors import CounterpartError

ADA, BEN = "3f8a7d7e-6a0e-4f53-9d5c-0a2b8a1d9c11", "b1c2d3e4-0000-4f53-9d5c-0a2b8a1d9c22"


def nested(number, image, caption, *responses, status="completed"):
    given = [{"value": value, "user_id": user} | more for user, value, more in responses]
    return {
        "id": number,
        "fields": {"image": "data:image/png;base64,iVBORw0KGgo=", "caption": caption},
        "metadata": {"image_id": image},
        "suggestions": {"match": {"value": "100% NO", "score": None, "agent": "model"}},
        "responses": {"match": given},
        "vectors": {},
        "status": status,
        "_server_id": number,
    }


def flat(number, image, caption, *responses):
    users, values, statuses = zip(*responses, strict=True) if responses else ((), (), ())
    return {
        "id": number,
        "status": "completed",
        "image": image,
        "caption": caption,
        "match.responses": list(values) or None,
        "match.responses.users": list(users) or None,
        "match.responses.status": list(statuses) or None,
        "match.suggestion": "100% NO",
    }


def test_nested_records_become_judgments(take, levels, write):
    records = [
        nested("a", "0", "caption 0 of image 1", (ADA, "100% YES", {}), (BEN, "Mostly NO", {})),
        nested("b", "1", "caption 0 of image 2", (ADA, 4, {})),
    ]
    added = take(write("records.json", records))
    assert (added.judgments, added.workers, added.skipped) == (3, 2, 0)
    assert levels() == {("worker 1", "0", "2"): 1, ("worker 2", "0", "2"): 3, ("worker 1", "1", "4"): 4}


def test_responses_of_nested_records_that_are_not_completed_are_none(take, write):
    records = [
        nested("a", "0", "2", (ADA, "100% YES", {})),
        nested("b", "1", "4", (ADA, "100% NO", {}), status="pending"),
        nested("c", "2", "6", (ADA, "100% NO", {"status": "discarded"})),
    ]
    added = take(write("records.json", records))
    assert (added.judgments, added.skipped) == (1, 2)


@pytest.mark.parametrize("name", ["records.json", "records.jsonl"])
def test_of_flat_records_only_submitted_responses_count(take, levels, write, name):
    records = [
        flat("a", "0", "2", (ADA, "1", "submitted"), (BEN, "4", "draft")),
        flat("b", "1", "4", (ADA, "2", "discarded"), (BEN, "3", "submitted")),
        flat("c", "2", "6"),
    ]
    added = take(write(name, records))
    assert (added.judgments, added.skipped) == (2, 2)
    assert levels() == {("worker 1", "0", "2"): 1, ("worker 2", "1", "4"): 3}


def test_the_items_of_the_api_become_judgments(take, levels, write):
    responses = [
        {
            "user_id": ADA,
            "status": "submitted",
            "values": {"match": {"value": "1"}},
            "updated_at": "2026-05-02T08:00:00",
        },
        {"user_id": BEN, "status": "discarded", "values": None},
    ]
    items = [{"id": "a", "fields": {"image": "0", "caption": "2"}, "metadata": None, "responses": responses}]
    added = take(write("page.json", {"items": items, "total": 1}))
    assert (added.judgments, added.skipped) == (1, 1)
    assert levels() == {("worker 1", "0", "2"): 1}


def test_one_of_several_questions_is_chosen(take, levels, write):
    record = nested("a", "0", "2", (ADA, "1", {}))
    record["responses"]["fluency"] = [{"value": "4", "user_id": ADA}]
    record["responses"]["quality"] = record["responses"].pop("match")
    path = write("records.json", [record])
    with pytest.raises(CounterpartError, match="fluency, quality.* --answer"):
        take(path)
    with pytest.raises(CounterpartError, match="match but fluency, quality"):
        take(path, answer="match")
    take(path, answer="quality")
    assert list(levels().values()) == [1]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"match.responses.users": [ADA]}, "record 1: match.responses has 2 values, 1 users and 2 statuses"),
        ({"match.responses.users": [ADA, [BEN]]}, "record 1: its annotator is missing"),
        ({"match.responses": "1"}, "record 1: '1' is not a list"),
        ({"match.responses": [["1", "2"], "1"]}, "several answers to one question (record a)"),
    ],
)
def test_what_is_wrong_in_a_record_is_named(take, write, wrong, message):
    record = flat("a", "0", "2", (ADA, "1", "submitted"), (BEN, "1", "submitted")) | wrong
    with pytest.raises(CounterpartError) as refused:
        take(write("records.json", [record]))
    assert message in str(refused.value)


def test_records_that_have_no_answer_are_refused(take, write):
    with pytest.raises(CounterpartError, match="records.json has no answers"):
        take(write("records.json", [flat("a", "0", "2")]))
