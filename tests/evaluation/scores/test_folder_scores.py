"""Folders of results are scored as they are: their figures are those of the same lists as JSON."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError

import counterpart_metrics as metrics
from dataset.exports import export_version
from evaluation.models import Run
from tests.commands import output_of
from tests.dataset.releasing import release_version
from tests.factories import make_collection, make_sample

pytestmark = pytest.mark.django_db


@pytest.fixture
def version():
    zoo = make_collection(images=4, captions_each=2, pictures=True)
    return release_version("v1", collection=zoo, sample=make_sample(zoo), merge="original")


def lists_of(queries, items, seed):
    """Random scores of all items for each query, equal ones among them."""
    rng = np.random.default_rng(seed)
    return {query: dict(zip(items, rng.integers(0, 5, len(items)).tolist(), strict=True)) for query in queries}


def predicted(folder, task, lists):
    folder.mkdir(exist_ok=True)
    meta = {"model_name": "lab/model", "revision": "main"}
    (folder / f"{task}_predictions.json").write_text(json.dumps({"mteb_model_meta": meta, "default": {"test": lists}}))


def ranked(lists):
    """The same lists, best first, as a ranking file has them."""
    return {query: sorted(scores, key=lambda item: -scores[item]) for query, scores in lists.items()}


def figures(*arguments):
    (told,) = json.loads(output_of("evaluate", *map(str, arguments), "--json")).values()
    return told


def test_predictions_on_our_exports_for_mteb_have_the_figures_of_the_same_lists_as_json(version, tmp_path):
    export_version(version, format="mteb", out=tmp_path / "exports")
    same = {}
    for seed, direction in enumerate(("i2t", "t2i")):
        exported = tmp_path / "exports" / f"v1_{direction}"
        sides = (("query", "test"), ("corpus", "corpus"))
        queries, items = (
            pq.read_table(exported / config / f"{split}.parquet").column("id").to_pylist() for config, split in sides
        )
        lists = lists_of(queries, items, seed)
        predicted(tmp_path / "predictions", f"Zoo{seed}", lists)
        same[direction] = {
            query.partition("-")[2]: [item.partition("-")[2] for item in row] for query, row in ranked(lists).items()
        }
    (tmp_path / "same.json").write_text(json.dumps(same))
    of_folder = figures("--version", "v1", "--rankings", tmp_path / "predictions")
    assert of_folder == figures("--version", "v1", "--rankings", tmp_path / "same.json")
    assert 0 < of_folder["average"]["mAP@R"]["value"] < 1
    assert set(Run.objects.values_list("model", flat=True)) == {"lab__model", "same"}


def test_a_folder_that_is_scored_again_is_the_same_run(version, tmp_path):
    predicted(tmp_path / "predictions", "Zoo", lists_of(map(str, range(8)), list(map(str, range(4))), 0))
    for _ in range(2):
        output_of("evaluate", "--version", "v1", "--rankings", str(tmp_path / "predictions"), "--model", "mine")
    assert Run.objects.get().model == "mine"


def test_equal_scores_can_be_scored_at_their_best_and_worst(version, tmp_path):
    lists = {str(caption): dict.fromkeys(map(str, range(4)), 0.5) for caption in range(8)}
    predicted(tmp_path / "predictions", "Zoo", lists)
    rankings = ["--rankings", str(tmp_path / "predictions"), "--ties", "interval"]
    told = json.loads(output_of("evaluate", "--version", "v1", *rankings, "--json"))
    assert [one["t2i"]["R@1"]["value"] for one in told.values()] == [1.0, 0.0]


def test_missing_queries_are_counted_and_nothing_is_stored(version, tmp_path):
    predicted(tmp_path / "predictions", "Zoo", lists_of(map(str, range(7)), list(map(str, range(4))), 0))
    with pytest.raises(CommandError, match="lab__model .*1 of 8"):
        output_of("evaluate", "--version", "v1", "--rankings", str(tmp_path / "predictions"))
    assert not Run.objects.exists()


def test_figures_of_mteb_alone_are_refused(version, tmp_path):
    told = {"task_name": "Zoo", "mteb_version": "2.26.24", "scores": {"test": [{"ndcg_at_10": 0.5}]}}
    (tmp_path / "Zoo.json").write_text(json.dumps(told))
    with pytest.raises(CommandError, match="Zoo.json has MTEB's figures, which have no rankings. Let mteb.evaluate"):
        output_of("evaluate", "--version", "v1", "--rankings", str(tmp_path / "Zoo.json"))


def test_a_folder_is_measured_on_a_benchmark(tmp_path):
    same = {}
    for seed, direction in enumerate(("i2t", "t2i")):
        qrels = metrics.positives("eccv")[direction]
        items = np.unique(metrics.positives("coco-5k")[{"i2t": "t2i", "t2i": "i2t"}[direction]].queries)[:40]
        lists = lists_of(map(str, qrels.queries.tolist()), list(map(str, items.tolist())), seed)
        predicted(tmp_path / "predictions", f"Coco{direction}", lists)
        same[direction] = ranked(lists)
    (tmp_path / "same.json").write_text(json.dumps(same))
    told = figures("--benchmark", "eccv", "--rankings", tmp_path / "predictions")
    same = figures("--benchmark", "eccv", "--rankings", tmp_path / "same.json")
    assert [note.replace("lab__model", "same") for note in told.pop("notes")] == same.pop("notes")
    assert told == same
