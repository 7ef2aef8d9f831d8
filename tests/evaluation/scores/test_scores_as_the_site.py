"""The scorer outside the site gives the figures of the site's ``evaluate``, under every policy."""

import json

import numpy as np
import pytest
from django.db.models import F, Value
from django.db.models.functions import Concat

from corpus.imports import import_collection
from corpus.matches import import_matches
from corpus.models import Caption, Collection, Image
from dataset.versions.version_files import load_positives
from tests.dataset.releasing import release_version
from tests.evaluation.scores.as_the_site import assert_as_the_site
from tests.evaluation.worlds import judge_all, known_round
from tests.factories import make_sample

pytestmark = pytest.mark.django_db
SIDES = {"i2t": (Image, Caption), "t2i": (Caption, Image)}


@pytest.fixture(params=["numbers", "texts"])
def version(request):
    """A judged round of 14 images whose ids are numbers, or file names whose order is not that of their numbers."""
    made = judge_all(known_round())
    if request.param == "texts":
        Image.objects.update(key=Concat(Value("image-"), F("key"), Value(".jpg")))
        Caption.objects.update(key=Concat(Value("caption-"), F("key")))
    return release_version("v1", collection=made.pool.collection, sample=made.pool.sample, rounds=[made])


def lists(depth: int | None = None) -> dict[str, dict[str, list[tuple[str, float]]]]:
    """Every query's items with falling scores, many of them equal; as many as the matches, some more or fewer."""
    rng = np.random.default_rng(4)
    made = {}
    for direction, (queries, items) in SIDES.items():
        keys = list(items.objects.values_list("key", flat=True))
        made[direction] = {
            query: list(
                zip(
                    rng.permutation(keys)[: depth or rng.integers(1, len(keys))].tolist(),
                    sorted(rng.integers(4, size=len(keys)) / 3, reverse=True),
                    strict=False,
                )
            )
            for query in queries.objects.values_list("key", flat=True)
        }
    return made


def as_run(folder, direction, rows):
    path = folder / f"mine_{direction}.run"
    lines = [f"{q} Q0 {item} 0 {score} x" for q, listed in rows.items() for item, score in listed]
    path.write_text("\n".join(lines))
    return path


def as_npz(folder, made):
    """Lists of all the same depth."""
    arrays = {}
    for direction, rows in made.items():
        arrays[f"{direction}_queries"] = np.array(list(rows))
        for place, name in enumerate(("items", "scores")):
            arrays[f"{direction}_{name}"] = np.array([[one[place] for one in listed] for listed in rows.values()])
    np.savez(folder / "mine.npz", **arrays)
    return folder / "mine.npz"


def test_a_run_of_one_direction_scores_the_same(version, tmp_path):
    policies = [("file", "refuse"), ("counterpart", "wrong"), ("trec", "wrong"), ("interval", "wrong")]
    rows = lists()["t2i"]
    refused = assert_as_the_site(version, as_run(tmp_path, "t2i", rows), tmp_path, policies=policies)
    assert refused == {"file refuse"}


def test_arrays_of_both_directions_score_the_same(version, tmp_path):
    policies = [("counterpart", "interval"), ("trec", "refuse")]
    assert assert_as_the_site(version, as_npz(tmp_path, lists(14)), tmp_path, policies=policies) == set()


def test_json_without_scores_scores_the_same(version, tmp_path):
    path = tmp_path / "mine.json"
    made = lists()
    path.write_text(json.dumps({d: {q: [item for item, _ in row] for q, row in of.items()} for d, of in made.items()}))
    policies = [("file", "wrong"), ("file", "interval"), ("counterpart", "wrong")]
    assert assert_as_the_site(version, path, tmp_path, policies=policies) == {"counterpart wrong"}  # needs scores


@pytest.mark.parametrize("version", ["texts"], indirect=True)
def test_a_run_of_both_directions_is_told_apart_by_the_ids_of_the_export(version, tmp_path):
    runs = [as_run(tmp_path, direction, rows).read_text() for direction, rows in lists().items()]
    (tmp_path / "mine.run").write_text("\n".join(runs))
    assert_as_the_site(version, tmp_path / "mine.run", tmp_path, policies=[("file", "wrong")])


@pytest.mark.slow
@pytest.mark.shared
def test_coco_scores_the_same(shared, tmp_path):
    """The 5,000 images with the matches of ECCV Caption, imported in an order that is not that of their ids."""
    data = shared / "data"
    import_collection("coco", format="jsonl", path=data / "coco_test_captions.jsonl.gz")
    coco = Collection.objects.get(name="coco")
    import_matches(coco, source="eccv", path=data / "eccv_caption" / "eccv_caption_to_image.json")
    version = release_version("coco-v1", collection=coco, sample=make_sample(coco), merge="original,eccv")
    rng = np.random.default_rng(0)
    arrays = {}
    for direction, found in load_positives(version).items():
        queries, items = SIDES[direction]
        key_of = dict(items.objects.values_list("pk", "key"))
        every = np.array(list(key_of))
        asking = dict(queries.objects.values_list("pk", "key"))
        rows = [rng.permutation(np.unique([*list(found[query])[:30], *rng.choice(every, 60)]))[:50] for query in asking]
        arrays[f"{direction}_queries"] = np.array([int(key) for key in asking.values()])
        arrays[f"{direction}_items"] = np.array([[int(key_of[item]) for item in row] for row in rows])
        arrays[f"{direction}_scores"] = -np.sort(rng.integers(9, size=(len(rows), 50)), 1)
    np.savez(tmp_path / "mine.npz", **arrays)
    refused = assert_as_the_site(version, tmp_path / "mine.npz", tmp_path, formats=("eccv-json",))
    assert refused <= {f"{ties} refuse" for ties in ("file", "counterpart", "trec")}
