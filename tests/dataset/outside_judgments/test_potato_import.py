"""Potato's annotations of a project whose items have an image and a caption."""

import pytest

from annotation.models import Judgment, Worker
from core.errors import CounterpartError

ITEMS = [
    {"id": "p1", "image": "images/0.jpg", "caption": "caption 0 of image 1"},
    {"id": "p2", "image": "images/1.jpg", "caption": "caption 0 of image 2"},
]
EXPECTED = {("worker 1", "0", "2"): 1, ("worker 1", "1", "4"): 4, ("worker 2", "0", "2"): 2}


@pytest.fixture
def items(write):
    return write("items.jsonl", ITEMS)


def labelled(user, item, label, value="true"):
    return {"user_id": user, "instance_id": item, "displayed_text": "…", "label_annotations": {"match": {label: value}}}


def state(user, **labels):
    entries = {item: [[{"schema": "match", "name": label}, label]] for item, label in labels.items()}
    spent = {"session_start": 1769500000.5, "session_end": 1769500009.0, "total_time_ms": 8500}
    return {
        "user_id": user,
        "instance_id_ordering": ["p1", "p2"],
        "current_phase_and_page": ["annotation", "annotation"],
        "instance_id_to_behavioral_data": {item: spent for item in labels},
        "instance_id_to_label_to_value": entries,
        "instance_id_to_span_to_value": {},
    }


def test_the_lines_of_version_1_become_judgments(take, levels, write, items):
    lines = [
        labelled("ada", "p1", "100% YES", "3"),  # the key that chose it
        labelled("ada", "p2", "100% NO"),
        labelled("ben", "p1", "Partially YES"),
    ]
    added = take(write("annotated_instances.jsonl", lines), items=items)
    assert (added.judgments, added.workers, added.skipped) == (3, 2, 0)
    assert levels() == EXPECTED


def test_the_tables_of_version_1_become_judgments(take, levels, write, items):
    header = ["user", "instance_id", "displayed_text", "match:::100% YES", "match:::100% NO", "match:::Partially YES"]
    rows = [["ada", "p1", "…", "1", "", ""], ["ada", "p2", "…", "", "1", ""], ["ben", "p1", "…", "", "", "1"]]
    tsv = "\n".join("\t".join(row) for row in [header, *rows])
    assert take(write("annotated_instances.tsv", tsv), items=items).judgments == 3
    assert levels() == EXPECTED
    assert take(write("annotated_instances.csv", tsv.replace("\t", ",")), items=items).known == 3


def test_the_folders_of_users_become_judgments(take, levels, write, items):
    write("out/ada/user_state.json", state("ada", p1="100% YES", p2="100% NO"))
    folder = write("out/ben/user_state.json", state("ben", p1="Partially YES")).parent.parent
    take(folder, items=items)
    assert levels() == EXPECTED
    assert set(Judgment.objects.values_list("seconds", flat=True)) == {8}


def test_the_folders_of_users_of_version_1_become_judgments(take, levels, write, items):
    for user, *lines in (("ada", ("p1", "100% YES"), ("p2", "100% NO")), ("ben", ("p1", "Partially YES"))):
        given = [{"id": item, "label_annotations": {"match": {label: "1"}}} for item, label in lines]
        folder = write(f"out/{user}/annotated_instances.jsonl", given).parent.parent
    take(folder, items=items)
    assert levels() == EXPECTED


def test_the_exports_of_version_2_become_judgments(take, levels, write, items):
    columns = "instance_id,user_id,match.100% YES,match.100% NO,match.Partially YES,match._room\n"
    cells = "p1,ada,100% YES,,,\np2,ada,,100% NO,,\np1,ben,,,true,\n"
    assert take(write("annotations.csv", columns + cells), items=items).judgments == 3
    assert levels() == EXPECTED
    lines = [
        {"instance_id": item, "user_id": user, "labels": {"match": {label: label}}, "spans": {}, "links": {}}
        for user, item, label in (("ada", "p1", "100% YES"), ("ada", "p2", "100% NO"), ("ben", "p1", "Partially YES"))
    ]
    assert take(write("annotations.jsonl", lines), items=items).known == 3


def test_values_of_scales_and_lists_are_the_answers(take, levels, write, items):
    lines = [labelled("ada", "p1", "scale_2", "2"), labelled("ada", "p2", "select-one", "Mostly NO")]
    take(write("annotated_instances.jsonl", lines), items=items)
    assert list(levels().values()) == [2, 3]


def test_programs_among_the_annotators_are_marked(take, write, items):
    lines = [
        {"instance_id": "p1", "user_id": user, "annotator_origin": {"kind": kind}, "labels": {"match": {"1": "1"}}}
        for user, kind in (("ada", "human"), ("gpt", "llm"))
    ]
    take(write("annotations.jsonl", lines), items=items)
    assert list(Worker.objects.order_by("pk").values_list("simulated", flat=True)) == [False, True]


def test_items_without_a_label_are_skipped(take, write, items):
    lines = [labelled("ada", "p1", "100% YES"), labelled("ada", "p2", "bad_text"), labelled("ben", "p2", "1", "false")]
    added = take(write("annotated_instances.jsonl", lines), items=items)
    assert (added.judgments, added.skipped) == (1, 2)


def test_the_data_file_is_needed(take, write):
    path = write("annotated_instances.jsonl", [labelled("ada", "p1", "100% YES")])
    with pytest.raises(CounterpartError, match="--items"):
        take(path)


def test_items_missing_from_the_data_file_or_there_twice_are_named(take, write, items):
    path = write("annotated_instances.jsonl", [labelled("ada", "p9", "100% YES")])
    with pytest.raises(CounterpartError, match=r"\(record 1\)"):
        take(path, items=items)
    with pytest.raises(CounterpartError, match=r"items\.csv, item 3: the id p1"):
        take(path, items=write("items.csv", "id,image,caption\np1,0,2\np1,0,2\n"))


def test_two_tables_of_all_annotations_are_refused(take, write, items):
    write("out/annotated_instances.csv", "user,instance_id\n")
    folder = write("out/annotated_instances.jsonl", [labelled("ada", "p1", "100% YES")]).parent
    with pytest.raises(CounterpartError, match="out has 2 tables"):
        take(folder, items=items)
