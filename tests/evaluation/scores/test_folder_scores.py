"""Folders of results are scored as they are: their figures are those of the same lists as JSON."""

import csv
import json
from functools import partial
from io import StringIO

import numpy as np
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError

import counterpart_metrics as metrics
from dataset.exports import export_version
from evaluation.models import Run, Score
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
    assert "equal scores decide" in of_folder.pop("notes")[0]  # JSON has no scores
    assert of_folder | {"notes": []} == figures("--version", "v1", "--rankings", tmp_path / "same.json")
    assert 0 < of_folder["average"]["mAP@R"]["value"] < 1
    assert set(Run.objects.values_list("model", flat=True)) == {"lab__model", "same"}


# --ties and --missing: what a tie or a list that ends early is worth


@pytest.fixture
def evaluate(tmp_path):
    """Twelve images of a caption each. The run ties every right image with one other, whose id is one larger or, for
    the last, 0; trec_eval prefers the larger id as text."""
    zoo = make_collection(images=12, captions_each=1)
    release_version("v1", collection=zoo, sample=make_sample(zoo), merge="original")
    lines = [f"{c} Q0 {i} 1 0.5 x" for c in range(12) for i in (c, (c + 1) % 12)]
    (tmp_path / "tied_t2i.run").write_text("\n".join(lines))
    (tmp_path / "short.json").write_text(json.dumps({"t2i": {str(c): [(c + c % 2) % 12] for c in range(12)}}))

    def evaluate(file: str, *arguments: str, metric: str = "R@1") -> dict:
        printed = output_of("evaluate", "--version", "v1", "--rankings", tmp_path / file, "--json", *arguments)
        return {model: row["t2i"][metric]["value"] for model, row in json.loads(printed).items()}

    return evaluate


def test_equal_scores_are_ordered_as_the_policy_says(evaluate):
    assert evaluate("tied_t2i.run") == {"tied_t2i": 1.0}  # in the order of the file
    # Ours is wrong only for the last caption, whose tied image was imported first.
    assert evaluate("tied_t2i.run", "--ties", "counterpart")["tied_t2i"] == pytest.approx(11 / 12)
    # As text, the right image has the larger id for 9 (tied with 10) and 11 (tied with 0) alone.
    assert evaluate("tied_t2i.run", "--ties", "trec")["tied_t2i"] == pytest.approx(2 / 12)


def test_the_interval_of_ties_is_from_the_worst_to_the_best_order_and_is_not_stored(evaluate):
    assert evaluate("tied_t2i.run", "--ties", "interval") == {"tied_t2i (highest)": 1.0, "tied_t2i (lowest)": 0.0}
    assert Score.objects.get(metric="R@1").value == 1.0


def test_lists_that_end_early_leave_an_interval(evaluate):
    interval = ("--missing", "interval")
    assert evaluate("short.json", *interval) == {"short (highest)": 0.5, "short (lowest)": 0.5}
    # The right image may come second where it is not listed.
    assert evaluate("short.json", *interval, metric="R@5") == {"short (highest)": 1.0, "short (lowest)": 0.5}


def test_lists_that_end_early_are_refused_on_request(evaluate, tmp_path):
    evaluate("short.json", "--missing", "refuse")  # as long as the matches are many: one
    (tmp_path / "none.json").write_text(json.dumps({"t2i": {str(c): [c][: c % 2] for c in range(12)}}))
    with pytest.raises(CommandError, match="none on v1, .*6 lists"):
        evaluate("none.json", "--missing", "refuse")


def test_what_contradicts_itself_is_refused(evaluate):
    with pytest.raises(CommandError, match="Choose interval"):
        evaluate("short.json", "--missing", "interval", "--ties", "interval")
    with pytest.raises(CommandError, match="These rankings have no scores"):
        evaluate("short.json", "--ties", "trec")


# evaluate --benchmark: named benchmarks with COCO's ids, on an empty database


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


scored = partial(output_of, "evaluate")


def test_a_benchmark_needs_no_rows_and_agrees_with_the_library(rankings):
    printed = json.loads(scored("--benchmark", "eccv", "--rankings", rankings / "good.json", "--json"))
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
    text = scored("--benchmark", "eccv", "--rankings", rankings / "good.json", tmp_path / "again.json", "--csv")
    rows = list(csv.DictReader(StringIO(text)))
    assert [row["model"] for row in rows] == ["again", "good"]
    assert rows[0]["eccv average mAP@R"] == rows[1]["eccv average mAP@R"]


def test_a_query_that_is_missing_is_counted(rankings):
    with pytest.raises(CommandError, match="short on eccv, .*1 of 1261"):
        scored("--benchmark", "eccv", "--rankings", rankings / "short.json")


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
    found = json.loads(scored("--benchmark", "pmrp", *files, "--zeta", "0,1", "--json"))["m"]["pmrp"]["t2i"]
    assert {metric: one["queries"] for metric, one in found.items()} == {"PMRP ζ=0": 25_000, "PMRP ζ=1": 25_000}
    ranked = metrics.Rankings.of({int(caption): listed for caption, listed in lists.items()})
    by_image = {image: [kind] if kind else [] for image, kind in shown.items()}
    wanted = metrics.score({"t2i": ranked}, "pmrp", categories=by_image)["pmrp"]
    for zeta in (0, 1):
        assert found[f"PMRP ζ={zeta}"]["value"] == pytest.approx(wanted[f"PMRP ζ={zeta}"]["t2i"], abs=1e-12)
    head = scored("--benchmark", "pmrp", *files, "--csv").splitlines()[0]
    assert head == "model,pmrp t2i PMRP ζ=0,kind,estimand,question,level,n_queries"  # table 4's, by default


def test_policies_serve_benchmarks_too(rankings):
    arguments = ("--benchmark", "eccv", "--rankings", rankings / "good.json", "--json")
    interval = json.loads(scored(*arguments, "--missing", "interval"))
    low, high = (interval[f"good ({side})"]["eccv"]["i2t"]["mAP@R"]["value"] for side in ("lowest", "highest"))
    assert low == json.loads(scored(*arguments))["good"]["eccv"]["i2t"]["mAP@R"]["value"] < high
    with pytest.raises(CommandError, match="good on eccv, .* no scores"):
        scored(*arguments, "--ties", "trec")
