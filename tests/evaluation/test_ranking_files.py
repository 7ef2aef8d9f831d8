"""Rankings in JSON, read as a stream: the same rankings, and bad files are refused by name and place."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import CounterpartError
from counterpart_metrics import Rankings, ranking_blocks
from counterpart_metrics.ids import Ids
from evaluation.ranking_files import stream_rankings
from mitl.models import Direction

I2T, T2I = Direction.IMAGE_TO_CAPTION, Direction.CAPTION_TO_IMAGE
IDS = Ids.of_numbers(images=range(1, 4), captions=range(10, 16))
LISTS = {"i2t": {"1": [10, 12], "3": [15], "2": [13, 11, 10]}, "t2i": {"14": [3, 1, 2], "10": [1]}}


def as_json(path):
    path = path.with_suffix(".json")
    path.write_text(json.dumps(LISTS))
    return path


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


@pytest.mark.parametrize("block", [2_000_000, 2])
def test_json_gives_the_rankings_that_were_written(tmp_path, monkeypatch, block):
    monkeypatch.setattr(ranking_blocks, "SIZE", block)
    rankings = read_rankings(as_json(tmp_path / "model"), IDS)
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
    for name in ("a.npz", "a.parquet"):
        assert read_rankings(tmp_path / name, IDS)[I2T].scores.tolist() == [[2, -np.inf], [3, 1]]


def test_embeddings_are_ranked_by_inner_products(tmp_path):
    rng = np.random.default_rng(0)
    images, captions = rng.normal(size=(3, 4)).astype(np.float32), rng.normal(size=(6, 4)).astype(np.float32)
    np.savez(tmp_path / "e.npz", image_ids=[3, 1, 2], images=images, caption_ids=np.arange(10, 16), captions=captions)
    rankings = read_rankings(tmp_path / "e.npz", IDS)
    by_id = images[[1, 2, 0]]
    assert (rankings[I2T].items == np.argsort(-(by_id @ captions.T), 1) + 10).all()
    assert (rankings[T2I].items == np.argsort(-(captions @ by_id.T), 1) + 1).all()


def test_embeddings_of_a_part_of_the_gallery_are_refused(tmp_path):
    np.savez(
        tmp_path / "e.npz", image_ids=[1, 2], images=np.eye(2), caption_ids=np.arange(10, 16), captions=np.ones((6, 2))
    )
    with pytest.raises(CounterpartError, match="no embedding of 1 of 3 images"):
        read_rankings(tmp_path / "e.npz", IDS)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", '{"i2t": {', r"a.json is not valid JSON \(parse error: premature EOF\)\. Write"),
        ("a.json", '{"i2t":' + "[" * 100_000, "a.json has lists or objects in more than 100 levels"),
        ("a.json", "[]", 'a.json has neither "i2t" nor "t2i"'),
        ("a.json", '{"top": {}}', 'has neither "i2t" nor "t2i"'),
        ("a.json", '{"i2t": [1]}', '"i2t" of a.json is not an object of query'),
        ("a.json", '{"i2t": {"1": [10]}, "t2i": 5}', '"t2i" of a.json is not an object of query'),
        ("a.json", '{"i2t": {"1": 10}}', '"i2t" of a.json is not an object of query'),
        ("a.json", '{"i2t": {"1": [10.5]}}', "10.5"),
        ("a.json", '{"i2t": {"1": [true]}}', "invalid id True"),
        ("a.json", '{"i2t": {"1": [[10]]}}', "a.json: .*lists"),
        ("a.json", '{"i2t": {"1": [99999999999999999999]}}', "beyond 64 bits"),
        ("a.json", '{"i2t": {"9": [10]}}', r"1 id of a.json \(i2t\).*: 9"),
        ("a.json", '{"i2t": {"1": [10, 77, -1]}}', "2 ids of a.json .*: -1, 77"),
        ("a.json", '{"i2t": {"1": [10], "1": [11]}}', "a.json ranks query 1 image → captions twice"),
        ("a.json", "", "a.json are an empty file"),
    ],
)
def test_bad_files_are_refused_by_name_and_place(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(CounterpartError, match=message):
        read_rankings(tmp_path / name, IDS)
