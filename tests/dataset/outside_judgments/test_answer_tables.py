"""Tables of answers: plain ones, and those of MTurk, Toloka, crowd-kit and Label Studio, by their columns."""

import json

import pandas as pd
import pytest

from annotation.models import Judgment, Worker
from core.errors import CounterpartError
from corpus.models import Caption, Image
from tests.commands import figures_printed

ADA, BEN = "worker 1", "worker 2"
TWO = {(ADA, "0", "2"): 1, (BEN, "1", "4"): 4}
STUDIO = "annotation_id,annotator,caption,created_at,id,image,lead_time,match,updated_at\n"
CHOSEN = {"level_1": {"1": True, "4": False}, "level_2": {"1": False, "4": True}}

TABLES = {
    "simple.csv": ("image_id,caption_id,worker,level\n0,2,ada,1\n1,4,ben,4\n", {}, TWO),
    "words.csv": ("Image ID;Caption;Annotator;Label\n0;2;ada;Yes\n1;4;ben;100% NO\n", {}, TWO),
    "named.tsv": (
        "bild\ttext\tperson\tantwort\nx/0.jpg\tcaption 0 of image 1\tada\tja\n1.jpg\t4\tben\tnein\n",
        {"image": "Bild", "caption": "text", "answer": "antwort", "worker": "person", "levels": "ja=1,nein=4"},
        TWO,
    ),
    "one.csv": ("image,caption,level\n0,2,1.0\n1,4,4.0\n", {}, {(ADA, "0", "2"): 1, (ADA, "1", "4"): 4}),
    "again.csv": ("image,caption,level\n0,2,1\n0,2,4\n", {}, {(ADA, "0", "2"): 1, (BEN, "0", "2"): 4}),
    "name.csv": ("image,caption,level\n0,2,1\n0,2,4\n", {"worker": "Ada"}, {(ADA, "0", "2"): 4}),
    "rows.jsonl": ([{"image": 0, "caption": 2, "rater": 5, "match": True}], {}, {(ADA, "0", "2"): 1}),
    "mturk.csv": (
        "HITId,WorkerId,SubmitTime,Input.image_id,Input.caption_id,Answer.level\n"
        "H,A,Sat Nov 28 10:03:22 PST 2026,0,2,1\nH,B,Sat Nov 28 10:03:22 PDT 2026,1,4,4\n",
        {},
        TWO,
    ),
    "pairs.csv": (
        "HITId,WorkerId,Input.image,Input.caption_1,Input.caption_2,Answer.level_1,Answer.level_2,AssignmentStatus\n"
        "H,A,0,2,,1,,Approved\nH,B,1,,4,,4,Submitted\nH,C,2,6,,1,,Rejected\n",
        {},
        TWO,
    ),
    "options.csv": (
        "HITId,WorkerId,Input.image_id,Input.caption_id,Answer.match.No,Answer.match.Yes\n"
        "H,A,0,2,false,true\nH,B,1,4,true,false\n",
        {},
        TWO,
    ),
    "form.csv": (
        pd.DataFrame(
            {"HITId": ["H"], "WorkerId": ["A"], "Input.image_1": [0], "Input.caption_1": [2], "Input.image_2": [1]}
            | {"Input.caption_2": [4], "Answer.taskAnswers": [json.dumps([CHOSEN])]}
        ).to_csv(index=False),
        {},
        {(ADA, "0", "2"): 1, (ADA, "1", "4"): 4},
    ),
    "toloka.tsv": (
        "INPUT:image\tINPUT:caption\tOUTPUT:result\tASSIGNMENT:worker_id\tASSIGNMENT:status\n"
        "0\t2\tyes\ta\tAPPROVED\n1\t4\tno\tb\tSUBMITTED\n2\t6\tno\tb\tREJECTED\n2\t6\tno\tb\tEXPIRED\n",
        {},
        TWO,
    ),
    "whole.csv": (
        "HITId,WorkerId,Input.no,Input.txt,Answer.a,Answer.b\nH,A,0.0,2,,1\n",
        {"image": "Input.no", "caption": "Input.txt", "answer": "Answer.b", "worker": "WorkerId"},
        {(ADA, "0", "2"): 1},
    ),
    "studio.csv": (
        f"{STUDIO}1,5,2,2026-03-09T21:52:49Z,11,0,4.3,100% YES,\n,,4,,12,1,,,\n",  # one task without an annotation
        {},
        {(ADA, "0", "2"): 1},
    ),
    "stars.csv": (
        f'{STUDIO}1,5,2,2026-03-09T21:52:49Z,11,0,4.3,"[{{""rating"": 2}}]",\n',
        {},
        {(ADA, "0", "2"): 2},
    ),
    "crowdkit.csv": (",task,worker,label\n0,0_2,ada,1\n1,1_4,ben,4\n", {}, TWO),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_becomes_judgments(take, levels, write, name):
    content, options, expected = TABLES[name]
    take(write(name, content), **options)
    assert levels() == expected


def test_parquet_and_a_data_file_for_the_items_of_crowd_kit(take, levels, write, tmp_path):
    pd.DataFrame({"task": ["t1", "t2"], "worker": ["ada", "ben"], "label": [1, 4]}).to_parquet(tmp_path / "a.parquet")
    take(tmp_path / "a.parquet", items=write("items.csv", "id,image,caption\nt1,0,2\nt2,1,4\n"))
    assert levels() == TWO


def test_every_answer_that_is_not_taken_is_counted_and_named(take, levels, write):
    rows = "0,2,ada,1\n0,2,ada,2\n1,4,ada,\n99,4,ada,1\n0,11,ada,1\n2,6,ada,5\n3,6,ada,4\n2,6,,1\n"
    path = write("a.csv", f"image,caption,worker,level\n{rows}")
    with pytest.raises(CounterpartError, match=r"1 answer that cannot be used: '5' is not a level \(line 7\)"):
        take(path)
    added = take(path, skip_unknown=True)
    kinds = {"skipped": 1, "rejected": 0, "repeated": 1, "unknown": 3, "unnamed": 1, "controls": 1}
    assert {kind: getattr(added, kind) for kind in kinds} == kinds
    assert added.examples["unknown"] == "line 7, line 5, line 6"
    assert added.examples["repeated"] == "line 2"
    assert sorted(levels().values()) == [1, 2, 4]
    assert "3 (line 7, line 5, line 6)" in str(added)


def test_programs_are_marked_and_answers_that_did_not_count_are_left_out(take, write):
    rows = "0,2,bot,1,1,1\n1,4,ada,4,0,0\n2,6,ada,4,0,1\n"
    added = take(write("a.csv", f"image,caption,worker,level,simulated,counted\n{rows}"))
    assert (added.judgments, added.rejected) == (2, 1)
    assert sorted(Worker.objects.values_list("simulated", flat=True)) == [False, True]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("image,caption,worker,level,label\n0,2,a,1,1\n", {}, "several questions: label, level"),
        ("image,caption,worker,level\n0,2,a,1\n", {"worker": "who"}, "no field who"),
        ("image,caption,level\n0,2,0\n", {}, "'0' is not a level .* --levels"),
        ("picture_no,caption,level\n0,2,1\n", {}, "its task has no image_id.* but caption, level, picture_no"),
        ("task,worker,label\n0_9,a,1\n", {}, "its item does not join two ids of the round; use --items"),
        ("image,caption,worker,level\n99,2,a,1\n", {"skip_unknown": True}, "no judgments of pairs of the round"),
        ("image,caption,level,hit\n0,2,1,9\n", {"hit": "hit"}, "does not ask about 1 pair"),
        ("HITId,WorkerId,Input.image,Input.caption,Answer.a,Answer.b\nH,A,0,2,1,1\n", {}, "--answer"),
    ],
)
def test_a_table_that_could_be_misread_is_refused(take, write, content, options, message):
    with pytest.raises(CounterpartError, match=message):
        take(write("a.csv", content), **options)
    assert not Judgment.objects.exists()


def test_the_command_takes_a_table(round, write):
    path = write("a.csv", "picture,sentence,verdict,who,hit\n0,2,sure,ada,1\n")
    options = ["--format", "table", "--image", "picture", "--caption", "sentence", "--answer", "verdict"]
    options += ["--worker", "who", "--hit", "hit", "--levels", "sure=1"]
    assert figures_printed("import_judgments", round.name, path, *options)["judgments"] == 1


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "judgments", "unnamed"),
    [("l01_no_completed_by.json", 2, 1), ("l02_completed_by_null.json", 2, 1), ("o02_mturk.csv", 1, 0)]
    + [("o03_simple.csv", 2, 0)],
)
def test_files_that_people_bring_are_read_without_options(take, shared, name, judgments, unnamed):
    for keys in (("0", "773328", "2", "7899091"), ("1", "945619", "4", "4997360")):
        Image.objects.filter(key=keys[0]).update(key=keys[1])
        Caption.objects.filter(key=keys[2]).update(key=keys[3])
    added = take(shared / "fixtures" / "intake" / "answers" / name)
    assert (added.judgments, added.unnamed) == (judgments, unnamed)
