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


GIVEN = (("ada", "p1", "100% YES"), ("ada", "p2", "100% NO"), ("ben", "p1", "Partially YES"))
TSV = (
    "user\tinstance_id\tdisplayed_text\tmatch:::100% YES\tmatch:::100% NO\tmatch:::Partially YES\n"
    "ada\tp1\t…\t1\t\t\nada\tp2\t…\t\t1\t\nben\tp1\t…\t\t\t1\n"
)
FILES = {
    "lines of version 1": {
        # The value is the key that chose the label.
        "annotated_instances.jsonl": [labelled(user, item, label, "3") for user, item, label in GIVEN]
    },
    "tsv of version 1": {"annotated_instances.tsv": TSV},
    "csv of version 1": {"annotated_instances.csv": TSV.replace("\t", ",")},
    "folders of version 1": {
        f"out/{user}/annotated_instances.jsonl": [
            {"id": item, "label_annotations": {"match": {label: "1"}}} for one, item, label in GIVEN if one == user
        ]
        for user in ("ada", "ben")
    },
    "folders of version 2": {
        "out/ada/user_state.json": state("ada", p1="100% YES", p2="100% NO"),
        "out/ben/user_state.json": state("ben", p1="Partially YES"),
    },
    "csv of version 2": {
        "annotations.csv": "instance_id,user_id,match.100% YES,match.100% NO,match.Partially YES,match._room\n"
        "p1,ada,100% YES,,,\np2,ada,,100% NO,,\np1,ben,,,true,\n"
    },
    "lines of version 2": {
        "annotations.jsonl": [
            {"instance_id": item, "user_id": user, "labels": {"match": {label: label}}, "spans": {}, "links": {}}
            for user, item, label in GIVEN
        ]
    },
}


@pytest.mark.parametrize("form", FILES)
def test_annotations_become_judgments(take, levels, write, items, form):
    paths = [write(name, content) for name, content in FILES[form].items()]
    added = take(paths[0] if len(paths) == 1 else paths[0].parent.parent, items=items)
    assert (added.judgments, added.workers, added.skipped) == (3, 2, 0)
    assert levels() == EXPECTED
    seconds = {8} if form == "folders of version 2" else {None}
    assert set(Judgment.objects.values_list("seconds", flat=True)) == seconds


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
