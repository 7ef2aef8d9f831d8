"""Rankings in JSON, embeddings, and folders of results as MTEB and Hugging Face's datasets leave them."""

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


# JSON, read as a stream


@pytest.mark.parametrize("block", [2_000_000, 2])
def test_json_gives_the_rankings_that_were_written(tmp_path, monkeypatch, block):
    monkeypatch.setattr(ranking_blocks, "SIZE", block)
    (tmp_path / "model.json").write_text(json.dumps(LISTS))
    assert read(tmp_path / "model.json") == LISTS


def test_a_table_in_text_gives_the_rankings_that_were_written(tmp_path):
    rows = [f"{query};{item};{side}" for side, lists in LISTS.items() for query in lists for item in lists[query]]
    (tmp_path / "model.csv").write_text("\n".join(["Query ID;Item;Direction", *rows]))
    assert read(tmp_path / "model.csv") == LISTS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"i2t": {', r"a.json is not valid JSON \(parse error: premature EOF\)\. Write"),
        ('{"i2t":' + "[" * 100_000, "a.json has lists or objects in more than 100 levels"),
        ("[]", 'a.json has neither "i2t" nor "t2i"'),
        ('{"i2t": [1]}', '"i2t" of a.json is not an object of query'),
        ('{"i2t": {"1": [10]}, "t2i": 5}', '"t2i" of a.json is not an object of query'),
        ('{"i2t": {"1": [99999999999999999999]}}', "beyond 64 bits"),
        ('{"i2t": {"1": [10], "1": [11]}}', "a.json ranks query 1 image → captions twice"),
        ("", "a.json are an empty file"),
    ],
)
def test_bad_json_is_refused_by_name_and_place(tmp_path, content, message):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(CounterpartError, match=message):
        read(tmp_path / "a.json")


def test_embeddings_are_ranked_by_inner_products(tmp_path):
    rng = np.random.default_rng(0)
    images, captions = rng.normal(size=(3, 4)).astype(np.float32), rng.normal(size=(6, 4)).astype(np.float32)
    np.savez(tmp_path / "e.npz", image_ids=[3, 1, 2], images=images, caption_ids=np.arange(10, 16), captions=captions)
    rankings = read(tmp_path / "e.npz")
    by_id = images[[1, 2, 0]]
    assert [*rankings["i2t"].values()] == (np.argsort(-(by_id @ captions.T), 1) + 10).tolist()
    assert [*rankings["t2i"].values()] == (np.argsort(-(captions @ by_id.T), 1) + 1).tolist()


def test_embeddings_of_a_part_of_the_gallery_are_refused(tmp_path):
    np.savez(
        tmp_path / "e.npz", image_ids=[1, 2], images=np.eye(2), caption_ids=np.arange(10, 16), captions=np.ones((6, 2))
    )
    with pytest.raises(CounterpartError, match="no embedding of 1 of 3 images"):
        read(tmp_path / "e.npz")


# Folders of results


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


def test_datasets_on_disk_or_tables_in_parquet_are_rankings_but_not_both(folder):
    for direction, lists in LISTS.items():
        table = pa.table({"query_id": [*lists], "corpus_ids": [list(map(str, row)) for row in lists.values()]})
        (folder / direction).mkdir()
        with pa.ipc.new_stream(folder / direction / "data-00000-of-00001.arrow", table.schema) as stream:
            stream.write_table(table)
        pq.write_table(table, folder / direction / "test-00000-of-00001.parquet")
        (folder / direction / "state.json").write_text("{}")
    with pytest.raises(CounterpartError, match="twice"):
        read(folder)
    for file in folder.rglob("*.arrow"):
        file.unlink()
    assert read(folder) == LISTS
