"""Ranking files in NumPy arrays, TREC runs and tables give the same rankings; bad files are refused by name."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from counterpart_metrics import Rankings, ranking_blocks, ranking_tables, trec_runs
from counterpart_metrics.errors import CounterpartError
from counterpart_metrics.ids import Ids
from counterpart_metrics.ranking_files import stream_rankings

I2T, T2I = "i2t", "t2i"
IDS = Ids.of_numbers(images=range(1, 4), captions=range(10, 16))
LISTS = {"i2t": {"1": [10, 12], "3": [15], "2": [13, 11, 10]}, "t2i": {"14": [3, 1, 2], "10": [1]}}
ROWS = [(direction, query, items) for direction, lists in LISTS.items() for query, items in lists.items()]


def as_json(path):
    path = path.with_suffix(".json")
    path.write_text(json.dumps(LISTS))
    return path


def as_npz(path, kind: type = int):
    arrays = {}
    for direction, lists in LISTS.items():
        depth, end = max(map(len, lists.values())), {int: -1, str: ""}[kind]
        arrays[f"{direction}_queries"] = np.array([kind(query) for query in lists])
        arrays[f"{direction}_items"] = np.array(
            [[*map(kind, row), *[end] * (depth - len(row))] for row in lists.values()]
        )
    np.savez(path.with_suffix(".npz"), **arrays)
    return path.with_suffix(".npz")


def as_run(path):
    path = path.with_suffix(".run")
    lines = [
        f"{query} Q0 {item} {rank} {-rank / 7} me"
        for _, query, items in ROWS
        for rank, item in sorted(enumerate(items), reverse=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def as_parquet(path):
    path = path.with_suffix(".parquet")
    directions, queries, items = zip(*ROWS, strict=True)
    pq.write_table(pa.table({"direction": directions, "query": queries, "items": items}), path)
    return path


def as_table(path, suffix, order, *, directed):
    """A row an entry, with blanks in the names of its columns and ids as pandas writes them."""
    path = path.with_suffix(suffix)
    rows = [
        {"Query ID": f"{query}.0", "item": float(item), order: place if order == "rank" else -place / 7}
        | ({"Direction": direction} if directed else {})
        for direction, query, items in ROWS
        for place, item in (enumerate(items) if order == "entry" else sorted(enumerate(items), reverse=True))
    ]
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
        return path
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    text = "\r\n".join(("," if suffix == ".csv" else "\t").join(map(str, line)) for line in lines)
    path.write_bytes(gzip.compress(f"\ufeff{text}".encode()) if directed else text.encode())
    return path


FORMS = {
    "JSON": as_json,
    "ranks in CSV": lambda path: as_table(path, ".csv", "rank", directed=True),
    "rows of TSV": lambda path: as_table(path, ".tsv", "entry", directed=False),
    "scores in TSV": lambda path: as_table(path, ".tsv", "score", directed=True),
    "scores in a table of Parquet": lambda path: as_table(path, ".parquet", "score", directed=True),
    "ranks in a table of Parquet": lambda path: as_table(path, ".parquet", "rank", directed=False),
    "Parquet": as_parquet,
    "NumPy numbers": as_npz,
    "NumPy texts": lambda path: as_npz(path, str),
    "TREC": as_run,
}


def read_rankings(path, ids, **options):
    """All blocks of a file together, by direction."""
    rows = {}
    for direction, block in stream_rankings(path, ids, **options):
        for place, query in enumerate(block.queries.tolist()):
            scores = None if block.scores is None else block.scores[place]
            rows.setdefault(direction, {})[query] = (block.items[place], scores)
    whole = {}
    for direction, lists in rows.items():
        queries, depth = sorted(lists), max(len(items) for items, _ in lists.values())

        def wide(part, end, lists=lists, queries=queries, depth=depth):
            rows = [lists[query][part] for query in queries]
            return np.stack([np.pad(row, (0, depth - len(row)), constant_values=end) for row in rows])

        scored = all(scores is not None for _, scores in lists.values())
        whole[direction] = Rankings(np.array(queries), wide(0, -1), wide(1, -np.inf) if scored else None)
    return whole


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("block", [2_000_000, 2])
def test_every_form_of_a_file_gives_the_same_rankings(tmp_path, monkeypatch, form, block):
    monkeypatch.setattr(ranking_blocks, "SIZE", block)
    monkeypatch.setattr(trec_runs, "LINES", block)
    monkeypatch.setattr(ranking_tables, "ROWS", block)
    rankings = read_rankings(FORMS[form](tmp_path / "model"), IDS)
    assert rankings[I2T].queries.tolist() == [1, 2, 3]
    assert rankings[I2T].items.tolist() == [[10, 12, -1], [13, 11, 10], [15, -1, -1]]
    assert rankings[T2I].queries.tolist() == [10, 14]
    assert rankings[T2I].items.tolist() == [[1, -1, -1], [3, 1, 2]]


def test_no_block_holds_more_than_its_share(tmp_path, monkeypatch):
    monkeypatch.setattr(ranking_blocks, "SIZE", 3)
    parts = list(stream_rankings(as_json(tmp_path / "model"), IDS))
    assert len(parts) > 2
    assert max((block.rankings.items >= 0).sum() for block in parts) <= 6


def test_scores_of_arrays_and_tables_are_kept(tmp_path):
    np.savez(tmp_path / "a.npz", i2t_queries=[2, 1], i2t_items=[[10, 11], [12, -1]], i2t_scores=[[3, 1], [2, 0]])
    table = {"direction": ["i2t"] * 2, "query": [2, 1], "items": [[10, 11], [12]], "scores": [[3.0, 1.0], [2.0]]}
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("Query;Item;Score;Direction\n2;10;3;i2t\n2;11;1;i2t\n1;12.0;2;i2t\n")
    for name in ("a.npz", "a.parquet", "a.csv"):
        assert read_rankings(tmp_path / name, IDS)[I2T].scores.tolist() == [[2, -np.inf], [3, 1]]


def test_a_run_is_ordered_by_scores_then_lines_and_keeps_its_scores(tmp_path):
    path = tmp_path / "mine.trec"
    path.write_text("1 Q0 10 1 0.5 me\n1 Q0 12 2 0.75 me\n1 Q0 11 3 5e-1 me\n")
    rankings = read_rankings(path, IDS)[I2T]
    assert rankings.items.tolist() == [[12, 10, 11]]
    assert rankings.scores.tolist() == [[0.75, 0.5, 0.5]]


def test_where_images_and_captions_share_ids_the_name_of_a_run_gives_its_direction(tmp_path):
    shared = Ids.of_numbers(images=[1, 2], captions=[1, 2, 3])
    for name in ("mine.run", "mine_t2i.run"):
        (tmp_path / name).write_text("1 Q0 2 1 0.5 me\n2 Q0 1 1 0.5 me\n")
    with pytest.raises(CounterpartError, match="1 query could be"):
        read_rankings(tmp_path / "mine.run", shared)
    assert list(read_rankings(tmp_path / "mine_t2i.run", shared)) == [T2I]
    # All lines together tell: only a caption has the id 3.
    (tmp_path / "mine.run").write_text("1 Q0 2 1 0.5 me\n1 Q0 3 2 0.4 me\n")
    assert list(read_rankings(tmp_path / "mine.run", shared)) == [I2T]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_an_image_and_a_caption_of_one_id_may_each_have_a_list_in_a_run(tmp_path, monkeypatch, size):
    monkeypatch.setattr(trec_runs, "LINES", size)
    shared = Ids.of_numbers(images=[1, 2, 3], captions=[1, 20, 30])
    (tmp_path / "mine.run").write_text("1 Q0 20 1 0.5 me\n1 Q0 1 2 0.4 me\n2 Q0 30 1 0.5 me\n1 Q0 2 1 0.5 me\n")
    rankings = read_rankings(tmp_path / "mine.run", shared)
    assert {side: dict(zip(one.queries, one.items[:, 0], strict=True)) for side, one in rankings.items()} == {
        I2T: {1: 20, 2: 30}, T2I: {1: 2}
    }  # fmt: skip


def test_a_run_whose_lists_of_an_image_and_a_caption_are_mixed_is_refused_with_the_remedy(tmp_path):
    shared = Ids.of_numbers(images=[1, 2], captions=[1, 20])
    (tmp_path / "mine.run").write_text("1 Q0 20 1 0.5 me\n1 Q0 2 1 0.5 me\n")
    with pytest.raises(CounterpartError, match="1 query could be"):
        read_rankings(tmp_path / "mine.run", shared)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xlsx", "x", "Unknown form of rankings 'a.xlsx'"),
        ("a.csv", "x", r"a.csv has no column for query \(.*; item \(.*Its columns are: x"),
        ("a.csv", "query,item,rank\n1,10,1\n1,11,first\n", "a.csv, line 3: its rank is not a number: first"),
        ("a.csv", "query,item,score\n1,10,nan\n", "a.csv, line 2: its score is not a number"),
        ("a.csv", "query,item,direction\n1,10,up\n", "a.csv, line 2: unknown direction up, use i2t or t2i"),
        ("a.tsv", "query\titem\n1\t\n", "a.tsv, line 2: its item has no id"),
        ("a.npz", "no zip", r"a.npz is not a readable .npz \(it is none, or holds Python objects\)"),
        ("a.run", "1 Q0 10 1 0.5 me\n1 Q0 11 2\n", "a.run, line 2: not a line of a TREC run"),
        ("a.run", "1 Q0 10 1 high me\n", "a.run, line 1: not a line"),
        ("a.run", "1 Q0 10 1 nan me\n", "a.run, line 1: not a line"),
        ("a.run", "1 Q0 10 1 0.5 me\n1 Q0 11 2 0.4 me and more\n", "a.run, line 2: not a line"),
        (
            "a.run",
            "1 Q0 10 1 0.5 me\n2 Q0 10 1 0.5 me\n1 Q0 11 2 0.4 me\n",
            "ranks (query 1|1 query) image → captions twice. Keep one list of each, with its lines together",
        ),
        ("a.run", "1 Q0 99 1 0.5 me\n", r"1 id of a.run \(i2t\).*: 99"),
        ("a.run", "10 Q0 11 1 0.5 me\n", "1 query "),
        ("a.run", "\n\n", "a.run ranks no query"),
        ("a.json", '{"i2t": {', "a.json is not valid JSON"),
        ("a.json", '{"top": {}}', 'has neither "i2t" nor "t2i"'),
        ("a.json", '{"i2t": [1]}', '"i2t" of a.json is not an object of query'),
        ("a.json", '{"i2t": {"1": 10}}', '"i2t" of a.json is not an object of query'),
        ("a.json", '{"i2t": {"1": [10.5]}}', "10.5"),
        ("a.json", '{"i2t": {"1": [true]}}', "invalid id True"),
        ("a.json", '{"i2t": {"1": [[10]]}}', "a.json: .*lists"),
        ("a.json", '{"i2t": {"9": [10]}}', r"1 id of a.json \(i2t\).*: 9"),
        ("a.json", '{"i2t": {"1": [10, 77, -1]}}', "2 ids of a.json .*: -1, 77"),
    ],
)
def test_bad_files_are_refused_by_name_and_place(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(CounterpartError, match=message):
        read_rankings(tmp_path / name, IDS)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_marks_and_line_ends_do_not_count(tmp_path, end):
    first, second = "1 Q0 10 1 0.5 me", "1 Q0 11 2 0.4 me"
    (tmp_path / "a.run").write_text(f"\ufeff{first}{end}\ufeff{second}{end}", newline="")
    (tmp_path / "a.json").write_text('\ufeff{"i2t": {"1\u200b": [10, "\ufeff11"]}}')
    for name in ("a.run", "a.json"):
        rankings = read_rankings(tmp_path / name, IDS)["i2t"]
        assert (rankings.queries.tolist(), rankings.items.tolist()) == ([1], [[10, 11]])


def test_a_run_in_another_encoding_is_refused(tmp_path):
    (tmp_path / "a.run").write_text("1 Q0 10 1 0.5 me\n", encoding="utf-16")
    with pytest.raises(CounterpartError, match="a.run is UTF-16 text. Convert it"):
        read_rankings(tmp_path / "a.run", IDS)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"other": [1]}, "holds neither i2t_queries and i2t_items"),
        ({"i2t_queries": [1]}, "no i2t_items"),
        ({"i2t_queries": [1], "i2t_items": [10]}, r"must have the shape \(Q,\)"),
        ({"i2t_queries": [1.0], "i2t_items": [[10]]}, "ids are whole numbers or texts, not float64"),
        ({"i2t_queries": [1], "i2t_items": [[-1, 10]]}, "1 list goes on after their end, for example that of 1"),
        ({"i2t_queries": [1], "i2t_items": [[10, 11]], "i2t_scores": [[1, 2]]}, "scores of 1 lists .* rise"),
        ({"i2t_queries": [1], "i2t_items": [[10]], "i2t_scores": [[1, 2]]}, "must be numbers of shape"),
        ({"i2t_queries": np.array(["1"], object), "i2t_items": [[10]]}, "is not a readable .npz"),
    ],
)
def test_bad_arrays_are_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(CounterpartError, match=message):
        read_rankings(tmp_path / "a.npz", IDS)


@pytest.mark.parametrize("path", ["/dev/full", "/dev/zero"])
def test_devices_and_folders_are_refused(tmp_path, path):
    for one in (path, str(tmp_path)):
        with pytest.raises(CounterpartError, match="it is a folder or a device"):
            read_rankings(type(tmp_path)(one), IDS, name="a.json")
    with pytest.raises(CounterpartError, match="gone.json: No such file"):
        read_rankings(tmp_path / "gone.json", IDS)


def test_a_table_of_another_library_gives_its_lists_best_first(tmp_path):
    table = {"query-id": ["1", "1", "3"], "corpus-id": ["12", "10", "15"], "score": [0.1, 0.9, 0.5]}
    pq.write_table(pa.table(table), tmp_path / "i2t.parquet")
    (read,) = [block.rankings for block in stream_rankings(tmp_path / "i2t.parquet", IDS)]
    assert read.items.tolist() == [[10, 12], [15, -1]]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"direction": ["i2t"], "items": [[10]]}, "no column query"),
        ({"corpus": [1], "items": [[10]]}, "no column query_id"),
        ({"direction": ["up"], "query": [1], "items": [[10]]}, "unknown directions up"),
        ({"direction": ["i2t"], "query": [1], "items": [10]}, "must hold a list"),
        ({"direction": ["i2t"], "query": [1.5], "items": [[10]]}, "ids are whole numbers or texts"),
        ({"direction": ["i2t"], "query": [1], "items": [[10]], "scores": [[1.0, 2.0]]}, "another number of scores"),
    ],
)
def test_bad_tables_are_refused(tmp_path, table, message):
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    with pytest.raises(CounterpartError, match=message):
        read_rankings(tmp_path / "a.parquet", IDS)
