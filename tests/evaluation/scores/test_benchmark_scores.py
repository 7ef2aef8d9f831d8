"""evaluate --benchmark: named benchmarks with COCO's ids, on an empty database."""

import csv
import json
from functools import partial
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError

import counterpart_metrics as metrics
from evaluation.models import Run
from tests.commands import output_of

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def rankings(tmp_path_factory):
    """Lists of the first 30 right items and then wrong ones, for the queries of ECCV Caption; and one query less."""
    folder, rng = tmp_path_factory.mktemp("rankings"), np.random.default_rng(0)
    lists, gallery = {}, {side: metrics.positives("coco-5k")[side].queries for side in ("t2i", "i2t")}
    for side, other in (("i2t", "t2i"), ("t2i", "i2t")):
        qrels, known = metrics.positives("eccv")[side], set(gallery[other].tolist())
        lists[side] = {}
        for row, query in enumerate(qrels.queries.tolist()):
            right = [item for item in qrels.items[qrels.starts[row] : qrels.starts[row + 1]].tolist() if item in known]
            drawn = dict.fromkeys(gallery[other][rng.integers(len(known), size=40)].tolist())
            wrong = [item for item in drawn if item not in right]
            lists[side][str(query)] = right if row % 2 else [*wrong[:1], *right, *wrong[1:]]
    (folder / "good.json").write_text(json.dumps(lists))
    del lists["i2t"][next(iter(lists["i2t"]))]
    (folder / "short.json").write_text(json.dumps(lists))
    return folder


evaluate = partial(output_of, "evaluate")


def test_a_benchmark_needs_no_rows_and_agrees_with_the_library(rankings):
    printed = json.loads(evaluate("--benchmark", "eccv", "--rankings", rankings / "good.json", "--json"))
    given = json.loads((rankings / "good.json").read_text())
    read = {
        side: metrics.Rankings.of({int(query): row for query, row in lists.items()}) for side, lists in given.items()
    }
    wanted = metrics.score(read, "eccv")["eccv"]
    for metric, sides in wanted.items():
        for side, value in sides.items():
            assert printed["good"]["eccv"][side][metric]["value"] == pytest.approx(value, abs=1e-12)
        average = printed["good"]["eccv"]["average"][metric]["value"]
        assert average == pytest.approx(sum(sides.values()) / 2, abs=1e-12)
    assert not Run.objects.exists()


def test_several_models_share_a_table(rankings, tmp_path):
    (tmp_path / "again.json").write_bytes((rankings / "good.json").read_bytes())
    text = evaluate("--benchmark", "eccv", "--rankings", rankings / "good.json", tmp_path / "again.json", "--csv")
    rows = list(csv.DictReader(StringIO(text)))
    assert [row["model"] for row in rows] == ["again", "good"]
    assert rows[0]["eccv average mAP@R"] == rows[1]["eccv average mAP@R"]


def test_a_query_that_is_missing_is_counted(rankings):
    with pytest.raises(CommandError, match="short on eccv, .*1 of 1261"):
        evaluate("--benchmark", "eccv", "--rankings", rankings / "short.json")


@pytest.mark.slow
def test_pmrp_reads_cocos_instances(tmp_path):
    whole = metrics.positives("coco-5k")
    images, captions = whole["i2t"].queries, whole["t2i"].queries
    shown = {int(image): place % 50 for place, image in enumerate(images)}  # the first of 50 shows nothing
    annotations = [{"image_id": image, "category_id": kind} for image, kind in shown.items() if kind]
    (tmp_path / "instances.json").write_text(
        json.dumps({"images": [{"id": image} for image in shown], "annotations": annotations})
    )
    asked = captions[:3].tolist()
    owner = {caption: int(whole["t2i"].items[whole["t2i"].starts[place]]) for place, caption in enumerate(asked)}
    alike = {c: [i for i in shown if shown[i] == shown[owner[c]]][:60] for c in asked}
    lists = {str(caption): alike.get(caption, [int(images[0])]) for caption in captions.tolist()}
    (tmp_path / "m.json").write_text(json.dumps({"t2i": lists}))
    files = ("--rankings", tmp_path / "m.json", "--categories", tmp_path / "instances.json")
    found = json.loads(evaluate("--benchmark", "pmrp", *files, "--zeta", "0,1", "--json"))["m"]["pmrp"]["t2i"]
    assert {metric: one["queries"] for metric, one in found.items()} == {"PMRP ζ=0": 25_000, "PMRP ζ=1": 25_000}
    ranked = metrics.Rankings.of({int(caption): listed for caption, listed in lists.items()})
    by_image = {image: [kind] if kind else [] for image, kind in shown.items()}
    wanted = metrics.score({"t2i": ranked}, "pmrp", categories=by_image)["pmrp"]
    for zeta in (0, 1):
        assert found[f"PMRP ζ={zeta}"]["value"] == pytest.approx(wanted[f"PMRP ζ={zeta}"]["t2i"], abs=1e-12)
    head = evaluate("--benchmark", "pmrp", *files, "--csv").splitlines()[0]
    assert head == "model,pmrp t2i PMRP ζ=0,kind,estimand,question,level,n_queries"  # table 4's, by default


def test_policies_serve_benchmarks_too(rankings):
    arguments = ("--benchmark", "eccv", "--rankings", rankings / "good.json", "--json")
    interval = json.loads(evaluate(*arguments, "--missing", "interval"))
    low, high = (interval[f"good ({side})"]["eccv"]["i2t"]["mAP@R"]["value"] for side in ("lowest", "highest"))
    assert low == json.loads(evaluate(*arguments))["good"]["eccv"]["i2t"]["mAP@R"]["value"] < high
    with pytest.raises(CommandError, match="good on eccv, .* no scores"):
        evaluate(*arguments, "--ties", "trec")
