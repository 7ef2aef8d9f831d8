"""Label Studio's exports of a project whose tasks show an image and a caption."""

import csv
from io import StringIO

import pytest

from annotation.models import Judgment
from core.errors import CounterpartError
from dataset.outside_judgments.outside_answer import opening_of

HEADER = "annotation_id,annotator,caption,created_at,id,image,lead_time,match,updated_at\n"


def choice(answer, name="match"):
    value = {"choices": [answer]}
    return {"id": "Xk3", "type": "choices", "from_name": name, "to_name": "img", "origin": "manual", "value": value}


def annotation(number, by, *results, **more):
    given = {"id": number, "completed_by": by, "result": list(results), "was_cancelled": False, "ground_truth": False}
    return given | {"created_at": "2026-03-09T21:52:49.513742Z", "lead_time": 4.288, "task": 1} | more


def task(number, image, caption, *annotations):
    data = {"image": image, "caption": caption}
    return {"id": number, "inner_id": number, "project": 7, "data": data, "annotations": list(annotations)}


@pytest.fixture
def tasks():
    """Three tasks: judged by two people, by one of them with their address, and skipped by one."""
    guess = {"model_version": "m", "result": [choice("100% NO")]}
    asked = task(11, "/data/upload/7/1a2b3c4d-0.jpg", "caption 0 of image 1", annotation(1, 5, choice("100% YES")))
    asked["annotations"].append(annotation(2, 6, choice("Mostly NO, because"), lead_time=61.5))
    asked["predictions"] = [guess]
    other = task(12, "http://host/pics/1.jpg?size=2", "caption 0 of image 2", annotation(3, 5, choice("100% no")))
    skipped = task(13, "s3://bucket/2.jpg", "6", annotation(4, 6, was_cancelled=True))
    return [asked, other, skipped]


def test_choices_become_judgments_with_their_times_and_cancelled_annotations_none(take, levels, write, tasks):
    added = take(write("project-7.json", tasks))
    assert (added.judgments, added.answer_sets, added.workers, added.known, added.skipped) == (3, 2, 2, 0, 1)
    assert levels() == {("worker 1", "0", "2"): 1, ("worker 2", "0", "2"): 3, ("worker 1", "1", "4"): 4}
    stored = Judgment.objects.order_by("pk").values_list("seconds", "at")
    assert [(seconds, f"{at:%Y-%m-%d %H:%M}") for seconds, at in stored] == [
        (4, "2026-03-09 21:52"),
        (62, "2026-03-09 21:52"),
        (4, "2026-03-09 21:52"),
    ]


def test_the_addresses_of_annotators_are_not_stored(take, levels, write, tasks):
    tasks[0]["annotations"][0]["completed_by"] = {"id": 5, "email": "zoe@example.org", "first_name": "Zoe"}
    added = take(write("project.json", tasks))
    assert added.workers == 3
    stored = set(Judgment.objects.values_list("worker__identities__external_id", flat=True))
    assert all(name.startswith("label-studio-") and "zoe" not in name for name in stored)


def test_json_min_and_csv_give_what_json_gives(take, levels, write, tasks):
    take(write("project.json", tasks))
    rows = [
        {**one["data"], "id": one["id"], "match": given["result"][0]["value"]["choices"][0]}
        | {"annotator": given["completed_by"], "annotation_id": given["id"]}
        | {"created_at": given["created_at"], "updated_at": given["created_at"], "lead_time": given["lead_time"]}
        for one in tasks
        for given in one["annotations"]
        if not given["was_cancelled"]
    ]
    assert take(write("project-min.json", rows)).known == 3
    table = StringIO()
    csv.DictWriter(table, HEADER.strip().split(","), quoting=csv.QUOTE_NONNUMERIC).writerows(rows)
    assert take(write("project.csv", HEADER + table.getvalue())).known == 3


def test_stars_and_numbers_are_answers(take, levels, write):
    stars = {"type": "rating", "from_name": "stars", "value": {"rating": 4}}
    number = {"type": "number", "from_name": "stars", "value": {"number": 2.0}}
    note = {"type": "textarea", "from_name": "note", "value": {"text": ["blurred"]}}
    tasks = [task(1, "0", "2", annotation(1, 5, stars, note)), task(2, "1", "4", annotation(2, 5, number))]
    take(write("project.json", tasks), levels="4=1,3=2,2=3,1=4")
    assert levels() == {("worker 1", "0", "2"): 1, ("worker 1", "1", "4"): 3}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"completed_by": [5]}, "task 1: its annotator is missing, or no text and no whole number"),
        ({"result": "none"}, "task 1: 'none' is not a list"),
        ({"result": ["none"]}, "task 1: 'none' is not a JSON object"),
        ({"lead_time": -1}, "task 1: -1"),
        ({"lead_time": float("nan")}, "is not valid JSON"),
        ({"created_at": "yesterday"}, "task 1: Invalid isoformat string"),
    ],
)
def test_what_is_wrong_in_an_annotation_is_named_with_its_task(take, write, tasks, wrong, message):
    tasks[0]["annotations"][0] |= wrong
    with pytest.raises(CounterpartError, match=message):
        take(write("project.json", tasks))


def test_a_file_is_recognised_by_its_first_task_alone(write):
    path = write("project.json", '[{"id": 1, "data": {}, "annotations": []}, {"id": 2, "da')
    assert opening_of(path).has("data", "annotations")
