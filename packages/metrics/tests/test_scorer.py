"""The scorer on exports written by hand: what it reads, what it says of bad input, and the command."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from counterpart_metrics import CounterpartError, ExportedVersion, Policies, compiled_ranks, evaluate, judged_ranks
from counterpart_metrics.__main__ import main
from counterpart_metrics.ids import Keys, OpenKeys

I2T, T2I = "image_to_caption", "caption_to_image"


@pytest.fixture
def export(tmp_path):
    """Images 1 and 2 with two captions each."""
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / f"v1_{I2T}.json").write_text(json.dumps({"1": [10, 11], "2": [12, 13]}))
    (folder / f"v1_{T2I}.json").write_text(json.dumps({"10": [1], "11": [1], "12": [2], "13": [2]}))
    return folder


GOOD = {"i2t": {1: [10, 99, 11], 2: [99, 12, 13]}}


def test_lists_in_memory_score_as_the_file_they_would_be(export, tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps(GOOD))
    version = ExportedVersion.read(export)
    of_file = evaluate(tmp_path / "mine.json", version)["mine"]
    assert of_file == evaluate(GOOD, version)["rankings"]
    values = {metric: figure.value for metric, figure in of_file.figures["i2t"].items()}
    assert values == {"mAP@R": 0.375, "R-Precision": 0.5, "R@1": 0.5, "R@5": 1.0, "R@10": 1.0}


def test_both_directions_have_an_average(export):
    both = GOOD | {"t2i": {caption: [1, 2] for caption in (10, 11, 12, 13)}}
    figures = evaluate(both, ExportedVersion.read(export), metrics=["R@1"])["rankings"].figures
    assert {part: (one["R@1"].value, one["R@1"].queries) for part, one in figures.items()} == {
        "average": (0.5, 6), "i2t": (0.5, 2), "t2i": (0.5, 4)
    }  # fmt: skip


def run_of(folder, *lines: str):
    (folder / "mine.run").write_text("".join(f"{line} tag\n" for line in lines))
    return folder / "mine.run"


@pytest.mark.parametrize(
    ("lines", "note"),
    [
        (("1 Q0 10 1 0.1", "1 Q0 11 2 0.2", "2 Q0 12 1 0.9", "2 Q0 13 2 0.5"),
         "in 1 of 2 lists the rank column contradicts the scores"),
        (("1 Q0 10 1 1", "1 Q0 99 2 1", "1 Q0 11 3 0", "2 Q0 12 1 2", "2 Q0 13 2 1"),
         "image → captions: equal scores decide in 1 list; R@1 is between 50.0 and 100.0"),
        (("1 Q0 10 1 0", "1 Q0 11 2 0", "2 Q0 12 1 0", "2 Q0 13 2 0"), "in 2 of 2 lists all scores are equal"),
        (("1 Q0 10 1 9", *(f"1 Q0 {50 + n} {n} {-n}" for n in range(5)), "2 Q0 12 1 2"),
         "5 captions, which count as no match: 50, 51, 52"),
        (("1 Q0 50 1 2", "2 Q0 12 1 2", "2 Q0 51 2 1"), "2 captions, which count as no match: 50, 51."),
        (("1 Q0 10 1 2", "1 Q0 11 2 1", "2 Q0 12 1 2", "7 Q0 13 2 1"), "1 queries, which are left out: 7."),
    ],
)  # fmt: skip
def test_what_a_reader_of_the_figures_has_to_know_is_noted(export, tmp_path, lines, note):
    notes = evaluate(run_of(tmp_path, *lines), ExportedVersion.read(export))["mine"].notes
    assert [one for one in notes if note in one], notes


def test_a_good_run_has_no_notes_whatever_its_ranks_count_from(export, tmp_path):
    for first, step in ((0, 1), (1, 1), (3, 0)):
        ranks = [str(first + step * place) for place in range(2)]
        lines = [f"{q} Q0 {9 + q + n} {ranks[n - 1]} {3 - n}" for q in (1, 3) for n in (1, 2)]
        lines = [line.replace("3 Q0", "2 Q0") for line in lines]
        assert evaluate(run_of(tmp_path, *lines), ExportedVersion.read(export))["mine"].notes == []


def test_lists_with_the_best_item_last_are_noted(tmp_path):
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / f"v1_{I2T}.json").write_text(json.dumps({str(query): [query] for query in range(30)}))
    lists = {query: [*(item for item in range(30) if item != query), query] for query in range(30)}
    assert evaluate({"i2t": lists}, ExportedVersion.read(folder))["rankings"].notes == [
        "image → captions: the matches are 100% of the way down their lists: is the best item last?"
    ]


def test_a_list_that_ends_early_is_noted_and_its_interval_has_two_ends(export):
    short = {"i2t": {1: [10], 2: [12, 13]}}
    version = ExportedVersion.read(export)
    assert evaluate(short, version)["rankings"].notes == [
        "image → captions: 1 query has more positives than entries in their list, by up to 1; the missing entries "
        "count as wrong."
    ]
    ends = evaluate(short, version, policies=Policies(missing="interval"), metrics=["R-Precision"])
    assert {model: one.figures["i2t"]["R-Precision"].value for model, one in ends.items()} == {
        "rankings (highest)": 1.0, "rankings (lowest)": 0.75
    }  # fmt: skip


def test_graded_labels_give_graded_metrics_and_judged_negatives_bpref(tmp_path):
    (tmp_path / f"v1_{I2T}_graded.qrels").write_text("1 0 10 2\n1 0 11 1\n1 0 12 0\n")
    scored = evaluate(
        {"i2t": {1: [12, 11, 10]}}, ExportedVersion.read(tmp_path), metrics=["graded R@5", "nDCG", "bpref"]
    )
    figures = scored["rankings"].figures["i2t"]
    gains = np.array([0, 0.5, 1]) / np.log2([2, 3, 4])
    best = np.array([1, 0.5]) / np.log2([2, 3])
    assert figures["graded R@5"].value == 1
    assert figures["nDCG"].value == pytest.approx(gains.sum() / best.sum())
    assert figures["bpref"].value == 0


def test_a_file_of_a_folder_of_several_exports_is_read_with_its_other_direction(export):
    (export / f"v1_{I2T}_strict.qrels").write_text("1 0 10 1\n")
    with pytest.raises(CounterpartError, match="2 exports.*: v1_caption"):
        ExportedVersion.read(export)
    assert list(ExportedVersion.read(export / f"v1_{I2T}.json").judged) == ["i2t", "t2i"]
    assert ExportedVersion.read(export / f"v1_{I2T}_strict.qrels").judged == {"i2t": {"1": {"10": 1.0}}}


def test_an_export_of_tables_is_read_from_its_folder_or_its_table(tmp_path):
    pairs = {"image_id": ["1", "1", "2"], "caption_id": ["10", "11", "12"], "graded": [2, 1, 2]}
    sides = {"sources": ["", "cxc", "automatic"], "image_query": [1, 1, 1], "caption_query": [1, 0, 1]}
    (tmp_path / "data").mkdir()
    (tmp_path / "v1_about").mkdir()
    table = tmp_path / "data/pairs.parquet"
    parquet.write_table(pa.table(pairs | sides), table)
    lists = {"i2t": {"1": {"10": 1.0, "11": 0.5}}, "t2i": {"10": {"1": 1.0}}}
    assert ExportedVersion.read(tmp_path) == ExportedVersion.read(table) == ExportedVersion("v1", lists)
    parquet.write_table(pa.table(pairs), table)
    with pytest.raises(CounterpartError, match=r"no column for sources .*; image_query .*; caption_query"):
        ExportedVersion.read(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("notes.txt", "x", "not an export"),
        (f"v1_{I2T}.json", "{}", "holds no match, so that nothing can be scored"),
        (f"v1_{I2T}.json", "{", "is not valid JSON"),
        (f"v1_{I2T}.json", "[1]", "is not an object of query"),
        (f"v1_{I2T}.json", '{"1": [1.5]}', "is not an object of query"),
        (f"v1_{I2T}_lenient.qrels", "", "holds no match"),
        (f"v1_{I2T}_lenient.qrels", "1 0 10 0\n", "holds no match"),
        (
            f"v1_{I2T}_lenient.qrels",
            "1 0 10 1\n1 0 11 2\n",
            "line 2: not a line query 0 item label with a label from 0 to 1",
        ),
        (f"v1_{I2T}_graded.qrels", "1 0 10 2 x\n", "line 1: not a line"),
        (f"v1_{I2T}_graded.qrels", "1 0 10 2\n1 0 10 0\n", "line 2: 1 and 10 have a label twice"),
    ],
)
def test_an_invalid_export_is_refused_by_name(tmp_path, name, content, problem):
    (tmp_path / name).write_text(content)
    for path in (tmp_path, tmp_path / name):
        with pytest.raises(CounterpartError, match=problem):
            ExportedVersion.read(path)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.xml", "1,2", "Unknown form of rankings 'a.xml'"),
        ("gone.json", None, "Cannot read the rankings .*gone.json: No such file"),
        ("a.json", "[1", "a.json is not valid JSON"),
        ("a.json", '{"i2t": [1]}', '"i2t" of a.json is not an object of query'),
        ("a.json", '{"i2t": {"1": [10], "1": [11]}}', "ranks query 1 image → captions twice"),
        (
            "a.json",
            '{"i2t": {"one": [10], "two": [12]}}',
            "ranks no query of v1. Use its ids, such as 1, 2",
        ),
        ("a.json", '{"i2t": {"1": [10]}}', "1 of 2 queries have no ranking: 2. Rank every query"),
        ("a.json", '{"i2t": {"1": [10, 10], "2": [12]}}', "The ranking of query 1 lists an item twice"),
        ("a.run", "1 Q0 10 1 nan me\n", "a.run, line 1: not a line of a TREC run"),
        ("a.run", "7 Q0 70 1 0.5 me\n", "a.run ranks no query of the collection: 7. Use its ids."),
        ("a.run", "1 Q0 1 1 0.5 me\n", "1 query of unknown direction"),
    ],
)
def test_rankings_that_cannot_be_scored_are_refused_in_one_line(export, tmp_path, capsys, name, content, problem):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(SystemExit, match=problem) as ended:
        main([str(export), str(tmp_path / name)])
    assert str(ended.value.code).count("\n") == 0
    assert capsys.readouterr().out == ""


def test_scores_that_are_no_numbers_are_refused(export, tmp_path):
    np.savez(tmp_path / "a.npz", i2t_queries=[1, 2], i2t_items=[[10], [12]], i2t_scores=[[0.5], [np.nan]])
    with pytest.raises(CounterpartError, match="1 lists image → captions"):
        evaluate(tmp_path / "a.npz", ExportedVersion.read(export))


def test_unknown_metrics_and_policies_are_refused(export):
    with pytest.raises(CounterpartError, match="P@1: use "):
        evaluate(GOOD, ExportedVersion.read(export), metrics=["P@1"])
    with pytest.raises(CounterpartError, match="'random' .* use file"):
        Policies(ties="random")


def test_the_command_prints_a_row_a_model(export, tmp_path, capsys):
    for name in ("mine.json", "yours.json"):
        (tmp_path / name).write_text(json.dumps(GOOD))
    main([str(export), str(tmp_path / "mine.json"), str(tmp_path / "yours.json"), "--metrics", "R@1,mAP@R"])
    assert capsys.readouterr().out.splitlines() == [
        "image → captions",
        "model     R@1   mAP@R",
        "mine     50.0    37.5",
        "yours    50.0    37.5",
    ]


ids = st.integers(0, 200)
rows = st.lists(st.lists(ids, max_size=120), min_size=1, max_size=4)


@given(rows, st.lists(st.sets(ids, max_size=5), min_size=4, max_size=4), st.none() | st.sets(ids, min_size=1))
def test_the_compiled_loop_and_numpys_find_the_same(lists, wanted, gallery):
    depth = max(map(len, lists))
    items = np.array([[*row, *[-1] * (depth - len(row))] for row in lists], np.int64).reshape(len(lists), depth)
    judged = [sorted(one) for one in wanted]
    starts = np.cumsum([0, *map(len, judged)])
    states = np.full(201, gallery is None, np.uint8)
    states[sorted(gallery or ())] = 1
    row_of = np.array([place if place < len(lists) else -1 for place in range(4)])
    arguments = items, row_of, starts, np.array([item for one in judged for item in one], np.int64)
    (ranks, lengths, twice), (plain_ranks, plain_lengths, plain_twice) = (
        loop.scan(*arguments, states.copy()) for loop in (compiled_ranks, judged_ranks)
    )
    assert twice == plain_twice
    if twice < 0:
        assert (ranks.tolist(), lengths.tolist()) == (plain_ranks.tolist(), plain_lengths.tolist())


@pytest.mark.parametrize("largest", [30, 2**40])
def test_ids_are_found_as_numbers_and_as_texts(largest):
    keys = Keys({"7": 0, "07": 1, str(largest): 2, "a": 3, str(10**30): 4})
    assert keys.find(np.array([[7, largest], [-1, 8]])).tolist() == [[0, 2], [-1, -1]]
    assert keys.find(np.array(["7", "07", "a", str(10**30), "b"])).tolist() == [0, 1, 3, 4, -1]
    assert keys.names(np.array([3, 0])).tolist() == ["a", "7"]
    assert keys.find(np.array([2**63 - 1])).tolist() == [-1]


def test_ids_of_an_open_gallery_join_it_when_they_are_met():
    keys = OpenKeys(["7", "a"])
    assert keys.find(np.array([9, 7, 9, 8])).tolist() == [3, 0, 3, 2]
    assert keys.knows(np.array([7, 9])).tolist() == [True, False]
    assert keys.names(np.array([1, 2, 3])).tolist() == ["a", "8", "9"]
