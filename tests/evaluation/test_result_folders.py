"""Folders of results as MTEB and Hugging Face's datasets leave them, read as rankings of a gallery."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import CounterpartError
from counterpart_metrics import ranking_blocks
from counterpart_metrics.arrays import DIRECTIONS
from counterpart_metrics.ids import Ids
from counterpart_metrics.ranking_files import model_names
from evaluation.ranking_files import packed_folders, stream_rankings

IDS = Ids.of_numbers(images=range(1, 4), captions=range(10, 16))
LISTS = {"i2t": {"1": [10, 12], "3": [15], "2": [13, 11, 10]}, "t2i": {"14": [3, 1, 2], "10": [1]}}
META = {"model_name": "openai/clip-vit-base-patch32", "revision": "3d74acf"}


def predictions(direction, prefix=True, meta=META):
    """MTEB's predictions of a task: the best item last, so that only its score says that it is the best."""
    query, item = ("image-", "caption-") if direction == "i2t" else ("caption-", "image-")
    if not prefix:
        query = item = ""
    lists = {
        f"{query}{one}": {f"{item}{key}": 1 / rank for rank, key in reversed([*enumerate(items, 1)])}
        for one, items in LISTS[direction].items()
    }
    return {"mteb_model_meta": meta, "default": {"test": lists}} if meta else lists


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "results"
    made.mkdir()
    return made


@pytest.fixture
def mteb(folder):
    """What MTEB 2 leaves of two tasks: predictions, and figures in the folders of model and revision."""

    def written(**tasks):
        figures = folder / "results" / META["model_name"].replace("/", "__") / META["revision"]
        figures.mkdir(parents=True)
        (figures / "model_meta.json").write_text(json.dumps({"name": META["model_name"]}))
        for task, content in (tasks or {"ZooA": predictions("i2t"), "ZooB": predictions("t2i")}).items():
            (folder / f"{task}_predictions.json").write_text(json.dumps(content))
            scored = {"dataset_revision": "1", "task_name": task, "mteb_version": "2.26.24", "scores": {"test": []}}
            (figures / f"{task}.json").write_text(json.dumps(scored))
        return folder

    return written


def read(path, ids=IDS):
    with packed_folders([path]) as [file]:
        found = {direction: {} for direction in DIRECTIONS}
        for block in stream_rankings(file, ids):
            for query, row in zip(block.rankings.queries, block.rankings.items, strict=True):
                found[block.direction][str(query)] = row[row >= 0].tolist()
        return found


def test_predictions_of_two_tasks_are_the_rankings_of_both_directions(mteb):
    assert read(mteb()) == LISTS


def test_the_ids_of_a_gallery_need_no_prefix(mteb):
    assert read(mteb(ZooA=predictions("i2t", False), ZooB=predictions("t2i", False))) == LISTS


def test_predictions_of_version_1_are_read_too(mteb):
    assert read(mteb(ZooA_default=predictions("i2t", meta=None), ZooB_default=predictions("t2i", meta=None))) == LISTS


def test_long_predictions_are_read_in_parts(mteb, monkeypatch):
    monkeypatch.setattr(ranking_blocks, "SIZE", 2)
    assert read(mteb()) == LISTS


def test_one_file_of_predictions_is_read_alone(mteb):
    path = mteb() / "ZooB_predictions.json"
    assert read(path) == {"i2t": {}, "t2i": LISTS["t2i"]}


def test_a_zip_file_of_the_folder_is_read_as_the_folder(mteb, tmp_path):
    path = shutil.make_archive(str(tmp_path / "packed"), "zip", mteb().parent, "results")
    assert read(tmp_path / path) == LISTS


def test_the_model_has_the_name_that_mteb_gives_or_that_of_its_folder(mteb, tmp_path):
    other = shutil.copytree(mteb(), tmp_path / "others")
    with packed_folders([other]) as files:
        assert model_names(files) == ["openai__clip-vit-base-patch32"]
    with packed_folders([tmp_path / "results", other]) as files:
        assert model_names(files) == ["results", "others"]
    for file in other.glob("*_predictions.json"):
        file.write_text(json.dumps({"1": {"10": 1.0}}))
    with packed_folders([other]) as files:
        assert model_names(files) == ["others"]


def test_a_folder_is_packed_to_the_same_bytes_each_time(mteb):
    path = mteb()
    with packed_folders([path]) as [file]:
        first = file.read_bytes()
    for file in path.iterdir():
        file.touch()
    with packed_folders([path]) as [file]:
        assert file.read_bytes() == first


def test_equal_scores_keep_the_order_of_the_file(mteb):
    path = mteb(ZooA={"default": {"test": {"1": {"12": 0.5, "10": 0.5, "11": 0.9}}}})
    assert read(path)["i2t"] == {"1": [11, 12, 10]}


def test_ids_that_both_sides_have_need_a_direction_in_the_name(mteb):
    ids = Ids.of_numbers(images=range(5), captions=range(5))
    content = {"default": {"test": {"1": {"2": 0.5}}}}
    path = mteb(Zoo=content)
    with pytest.raises(CounterpartError, match="for example 1. Write i2t or"):
        read(path, ids)
    (path / "Zoo_predictions.json").rename(path / "ZooT2IRetrieval_predictions.json")
    assert read(path, ids) == {"i2t": {}, "t2i": {"1": [2]}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"default": {"test": {"1": {"99": 1}}}}, r"1 id of ZooA_predictions.json \(i2t\).*: 99"),
        ({"default": {"test": {"image-1": {"caption-99": 1}}}}, r"1 id of ZooA_predictions.json \(i2t\).*: 99"),
        ({"default": {"test": {"7": {"8": 1}}}}, "2 ids of ZooA_predictions.json"),
        ({"default": {"test": {"1": {"10": float("nan")}}}}, "is not valid JSON"),
        ({"default": {"test": {"1": {"10": "high"}}}}, "ZooA_predictions.json has 'high' in place of a score"),
        ({"default": {"test": {"1": ["10"]}}}, "ZooA_predictions.json has 'array' in place of a score"),
        (["10"], "ZooA_predictions.json has 'array' in place of a score"),
        (
            {"default": {s: {"1": {"10": 1}} for s in ("test", "dev")}},
            "several splits: default test, default dev. Keep",
        ),
        ({"default": {"test": {}}}, r"results\.zip ranks no query"),
    ],
)
def test_predictions_that_cannot_be_used_are_named(mteb, content, message):
    with pytest.raises(CounterpartError, match=message):
        read(mteb(ZooA=content))


def test_two_tasks_of_one_direction_are_refused(mteb):
    path = mteb(ZooA=predictions("i2t"), ZooB=predictions("i2t"))
    with pytest.raises(CounterpartError, match="ranks 3 queries .* twice"):
        read(path)


def test_figures_alone_are_refused_with_the_option_that_saves_predictions(mteb):
    path = mteb()
    for file in path.glob("*_predictions.json"):
        file.unlink()
    with pytest.raises(CounterpartError, match="results has MTEB's figures"):
        read(path)
    with pytest.raises(CounterpartError, match="prediction_folder=FOLDER"):
        read(next(path.rglob("ZooA.json")))


def test_a_folder_without_rankings_is_refused(folder):
    (folder / "notes.txt").write_text("later")
    with pytest.raises(CounterpartError, match="has no file …_predictions"):
        read(folder)


def saved(folder, columns, split=""):
    """Write a table as ``Dataset.save_to_disk`` does, of a DatasetDict below its split."""
    at = folder / split
    at.mkdir(exist_ok=True)
    if split:
        (folder / "dataset_dict.json").write_text(json.dumps({"splits": [split]}))
    table = pa.table(columns)
    with pa.ipc.new_stream(at / "data-00000-of-00001.arrow", table.schema) as stream:
        stream.write_table(table, max_chunksize=2)
    (at / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}))
    (at / "dataset_info.json").write_text(json.dumps({"features": {}}))
    return folder


def wide(direction, *, scored=True):
    """A query a row."""
    lists = LISTS[direction]
    columns = {"query_id": [*lists], "corpus_ids": [[str(item) for item in items] for items in lists.values()]}
    if scored:
        columns["scores"] = [[1 / rank for rank, _ in enumerate(items, 1)] for items in lists.values()]
    return columns


def long(direction):
    """An entry a row, those of the queries mixed, the worst first."""
    rows = [(q, item, 1 / rank) for q, items in LISTS[direction].items() for rank, item in enumerate(items, 1)]
    query, item, score = zip(*sorted(rows, key=lambda row: row[2]), strict=True)
    return {"query-id": list(map(int, query)), "corpus-id": item, "score": score}


@pytest.mark.parametrize("columns", [wide, long, lambda side: wide(side, scored=False)])
def test_datasets_on_disk_are_rankings(folder, columns):
    for direction in LISTS:
        saved(folder, columns(direction), split=direction)
    assert read(folder) == LISTS


def test_a_dataset_of_one_direction_is_given_by_its_ids(folder):
    assert read(saved(folder, wide("t2i"))) == {"i2t": {}, "t2i": LISTS["t2i"]}


def test_tables_in_parquet_are_rankings(folder):
    (folder / "data").mkdir()
    for number, direction in enumerate(LISTS):
        pq.write_table(pa.table(long(direction)), folder / "data" / f"test-0000{number}-of-00002.parquet")
    assert read(folder) == LISTS


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": ["1"]}, "data-00000-of-00001.arrow has no column query_id, query-id, qid, query but id. Rename one"),
        ({"query_id": ["1"]}, "has no column corpus_ids, .* but query_id"),
        ({"query_id": ["1"], "corpus_id": ["10"]}, "an entry a row .*scores, score"),
        ({"query_id": ["1", None], "corpus_ids": [["10"], ["11"]]}, "has nulls in its column query_id"),
        (
            {"query_id": ["1"], "corpus_ids": [["10"]], "scores": [[1.0, 2.0]]},
            "has 1 items and 2 scores of the query 1",
        ),
        (
            {"query_id": ["1"], "corpus_id": ["10"], "score": [np.nan]},
            "has scores that are NaN, for example of the query 1",
        ),
        ({"query_id": ["1"], "corpus_id": ["10"], "score": ["high"]}, "is not a readable table of rankings"),
    ],
)
def test_tables_that_cannot_be_used_are_named(folder, columns, message):
    with pytest.raises(CounterpartError, match=message):
        read(saved(folder, columns))


def test_a_damaged_table_is_named(folder):
    path = saved(folder, wide("i2t")) / "data-00000-of-00001.arrow"
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(CounterpartError, match="arrow is not a readable table"):
        read(folder)
