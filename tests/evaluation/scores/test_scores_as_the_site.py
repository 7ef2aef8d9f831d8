"""The scorer outside the site gives the figures of the site's ``evaluate``, under every policy."""

import json

import numpy as np
import pytest
from django.db.models import F, Value
from django.db.models.functions import Concat

from corpus.models import Caption, Image
from dataset.exports import mteb
from tests.dataset.releasing import release
from tests.evaluation.scores.as_the_site import FORMATS, TABLES, assert_as_the_site
from tests.evaluation.worlds import judge_all, known_round

pytestmark = pytest.mark.django_db
SIDES = {"i2t": (Image, Caption), "t2i": (Caption, Image)}


@pytest.fixture(params=["numbers", "texts"])
def version(request):
    """A judged round of 14 images whose ids are numbers, or file names whose order is not that of their numbers."""
    made = judge_all(known_round())
    if request.param == "texts":
        Image.objects.update(key=Concat(Value("image-"), F("key"), Value(".jpg")))
        Caption.objects.update(key=Concat(Value("caption-"), F("key")))
    return release(made)


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


@pytest.mark.parametrize("version", ["numbers"], indirect=True)
def test_arrays_of_both_directions_score_the_same(version, tmp_path):
    policies = [("counterpart", "interval"), ("trec", "refuse")]
    assert assert_as_the_site(version, as_npz(tmp_path, lists(14)), tmp_path, policies=policies) == set()


@pytest.mark.parametrize("version", ["texts"], indirect=True)
def test_json_without_scores_scores_the_same(version, tmp_path):
    path = tmp_path / "mine.json"
    made = lists()
    path.write_text(json.dumps({d: {q: [item for item, _ in row] for q, row in of.items()} for d, of in made.items()}))
    policies = [("file", "wrong"), ("file", "interval"), ("counterpart", "wrong")]
    assert assert_as_the_site(version, path, tmp_path, policies=policies) == {"counterpart wrong"}  # needs scores


@pytest.mark.parametrize("version", ["texts"], indirect=True)
def test_a_run_of_both_directions_scores_the_same_on_every_export(version, tmp_path, monkeypatch):
    monkeypatch.setattr(mteb, "pictured_images", lambda *_: ())
    runs = [as_run(tmp_path, direction, rows).read_text() for direction, rows in lists().items()]
    (tmp_path / "mine.run").write_text("\n".join(runs))
    formats = (*FORMATS, *TABLES)
    assert_as_the_site(version, tmp_path / "mine.run", tmp_path, policies=[("file", "wrong")], formats=formats)
