"""Folders of results are scored as they are: their figures are those of the same lists as JSON."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

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
    (only,) = json.loads(output_of("evaluate", *map(str, arguments), "--json")).values()
    return only


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
