"""Each format is read back as its users read it."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import ir_measures
import mlcroissant
import pyarrow.parquet as pq
import pytest
import yaml
from eccv_caption import Metrics

from core.errors import CounterpartError
from counterpart_metrics import map_at_r, r_precision, recall_at_k
from dataset.exports import export_version
from dataset.exports.statements import agreement
from dataset.models import Version
from dataset.releases.credits import Credits
from dataset.versions.version_files import load_judgments, load_pairs, load_positives
from hits.models import Round, Seat
from mitl.models import Direction
from tests.annotation.cast import answer, associate
from tests.dataset.releasing import release, release_version
from tests.factories import make_collection, make_round, make_sample

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def judged(lasting):
    """Four candidates with two votes each: levels 1 1, 2 2, 4 4 and 3 4; one more answer set is excluded."""
    made = make_round(candidates=4, replication=2)
    hit = made.hits.get()
    answer(hit, 4, 4, 4, 4, seat=1, state="excluded")
    answer(hit, 1, 2, 4, 3, seat=1)
    answer(hit, 1, 2, 4, 4, seat=2)
    Seat.objects.update(state="filled")
    return made


@pytest.fixture(scope="module")
def released(judged):
    return release(judged, about=Credits(licence="CC-BY-4.0"))


@pytest.fixture
def round(judged):
    return Round.objects.get(pk=judged.pk)


@pytest.fixture
def version(released):
    return Version.objects.get(pk=released.pk)


def exported(version, tmp_path, format, labels=None):
    return {file.name: file for file in export_version(version, format=format, out=tmp_path, labels=labels)}


def rows_of(path):
    return pq.read_table(path).to_pylist()


def level_of(version, level):
    """The first pair of a level."""
    return next((pair.image, pair.caption) for pair in load_pairs(version) if pair.level == str(level))


def test_the_long_form_has_every_judgment_with_the_seed_of_its_round(version, tmp_path):
    path = exported(version, tmp_path, "judgments-long")["v1_judgments_long.csv"]
    header, *rows = csv.reader(path.open(newline=""))
    assert rows == [[*map(str, judgment), "0"] for judgment in load_judgments(version)]
    assert header[-4:] == ["simulated", "counted", "seconds", "order_seed"]


def test_parquet_holds_pairs_with_labels_and_all_judgments(version, tmp_path):
    files = exported(version, tmp_path, "parquet")
    assert len(rows_of(files["v1_judgments.parquet"])) == len(list(load_judgments(version)))
    pairs = {(row["image_id"], row["caption_id"]): row for row in rows_of(files["v1_pairs.parquet"])}
    labels = {level: pairs[level_of(version, level)] for level in (1, 2, 4)}
    assert {level: (row["positive"], row["strict"], row["graded"]) for level, row in labels.items()} == {
        1: (1, 1, 2),
        2: (1, 0, 1),
        4: (0, 0, 0),
    }
    assert (labels[4]["votes"], labels[4]["confidence"]) == (2, 1.0)


def test_a_match_that_people_deny_is_not_strict(round, tmp_path):
    denied = round.hits.get().items.get(place=3)
    associate(round.pool.collection, "cxc", [(denied.image_id, denied.caption_id)], score=4)
    exported(release(round, "v3", merge="cxc"), tmp_path, "parquet")
    row = next(row for row in rows_of(tmp_path / "v3_pairs.parquet") if row["level"] == 4 and row["positive"])
    assert (row["strict"], row["graded"]) == (0, 1)


def test_strict_eccv_json_drops_what_matches_only_partially_and_none_has_room_for_grades(version, tmp_path):
    image, caption = level_of(version, 2)
    lists = {}
    for labels in ("lenient", "strict"):
        path = exported(version, tmp_path / labels, "eccv-json", labels)["v1_image_to_caption.json"]
        lists[labels] = json.loads(path.read_text())
    assert set(lists["lenient"][image]) - set(lists["strict"][image]) == {int(caption)}
    assert sum(map(len, lists["lenient"].values())) - sum(map(len, lists["strict"].values())) == 1
    with pytest.raises(CounterpartError, match="use lenient or strict"):
        exported(version, tmp_path, "eccv-json", "graded")


def test_the_public_package_scores_an_exported_version_as_we_do(version, tmp_path):
    files = exported(version, tmp_path, "eccv-json")
    theirs = Metrics()
    theirs.set_eccv_gts(str(files["v1_image_to_caption.json"]), str(files["v1_caption_to_image.json"]))
    collection = version.collection
    ids = {
        Direction.IMAGE_TO_CAPTION: (collection.images, collection.captions),
        Direction.CAPTION_TO_IMAGE: (collection.captions, collection.images),
    }
    # Every query gets the same order of all items, so that some positives are found late.
    ranked = {
        side.value: {int(query.key): [int(item.key) for item in items.order_by("-pk")] for query in queries.all()}
        for side, (queries, items) in ids.items()
    }
    scores = theirs.eccv_metrics(ranked, "all")
    for side, (_, items) in ids.items():
        order = list(items.order_by("-pk").values_list("pk", flat=True))
        wanted = {query: found for query, found in load_positives(version)[side].items() if found}
        ours = {
            name: metric(dict.fromkeys(wanted, order), wanted)
            for name, metric in {
                "eccv_r1": recall_at_k,
                "eccv_rprecision": r_precision,
                "eccv_map_at_r": map_at_r,
            }.items()
        }
        assert {name: scores[name][side.value] for name in ours} == pytest.approx(ours)


def test_qrels_score_a_run_with_ir_measures(version, tmp_path):
    files = exported(version, tmp_path, "qrels", "graded")
    assert sorted(files) == ["v1_caption_to_image_graded.qrels", "v1_image_to_caption_graded.qrels"]
    qrels = list(ir_measures.read_trec_qrels(str(files["v1_image_to_caption_graded.qrels"])))
    by_pair = {(one.query_id, one.doc_id): one.relevance for one in qrels}
    assert [by_pair[level_of(version, level)] for level in (1, 2, 4)] == [2, 1, 0]
    image, caption = level_of(version, 1)
    run = [ir_measures.ScoredDoc(image, caption, 2.0), ir_measures.ScoredDoc(image, "nothing", 1.0)]
    of_image = [one for one in qrels if one.query_id == image]
    positives = sum(one.relevance > 0 for one in of_image)
    assert ir_measures.calc_aggregate([ir_measures.AP], of_image, run)[ir_measures.AP] == pytest.approx(1 / positives)


def test_qrels_cannot_hold_ids_with_spaces(version, tmp_path):
    farm = make_collection("farm")
    farm.images.filter(key="3").update(key="cow 7")
    spaced = release_version("v2", collection=farm, sample=make_sample(farm), merge="original")
    with pytest.raises(CounterpartError, match="1 id .*: cow 7"):
        exported(spaced, tmp_path, "qrels")


def test_coco_annotations_are_the_matches_and_negatives_the_rest(version, tmp_path):
    for labels, matching in (("lenient", {1, 2}), ("strict", {1})):
        (path,) = exported(version, tmp_path, "coco", labels).values()
        coco = json.loads(path.read_text())
        assert {one["level"] for one in coco["annotations"]} - {None} == matching
        assert {one["level"] for one in coco["negatives"]} == {1, 2, 4} - matching
        assert {one["image_id"] for one in coco["annotations"]} <= {image["id"] for image in coco["images"]}
        numbers = [one["id"] for one in coco["annotations"]]
        assert numbers == list(range(1, len(numbers) + 1))
        assert coco["annotations"][0]["caption"] == "caption 0 of image 0"


def test_a_hugging_face_folder_names_its_files_and_licence(version, tmp_path):
    exported(version, tmp_path, "hf")
    _, front, card = (tmp_path / "README.md").read_text().split("---\n", 2)
    described = yaml.safe_load(front)
    assert described["license"] == "cc-by-4.0"
    assert "# v1" in card
    configs = {one["config_name"]: one["data_files"][0]["path"] for one in described["configs"]}
    columns = {name: pq.read_schema(tmp_path / path).names for name, path in configs.items()}
    assert columns["captions"] == ["caption_id", "image_id", "text", "query"]
    assert columns["images"] == ["image_id", "file_name", "width", "height", "query"]
    assert all({"image_id", "caption_id"} <= set(columns[name]) for name in ("pairs", "judgments"))
    for info in described["dataset_info"]:
        table = pq.read_table(tmp_path / configs[info["config_name"]])
        assert [feature["name"] for feature in info["features"]] == table.column_names
        assert info["splits"][0]["num_examples"] == len(table)


def test_mteb_has_a_task_for_each_direction_with_pictures_that_are_declared_as_such(version, tmp_path):
    exported(version, tmp_path, "mteb", "graded")
    for direction, (asked, searched) in {"i2t": ("image", "text"), "t2i": ("text", "image")}.items():
        folder = tmp_path / f"v1_{direction}"
        query, corpus = rows_of(folder / "query/test.parquet"), rows_of(folder / "corpus/corpus.parquet")
        qrels = rows_of(folder / "qrels/test.parquet")
        assert {row["modality"] for row in query} == {asked}
        assert {row["modality"] for row in corpus} == {searched}
        assert {row["query-id"] for row in qrels} <= {row["id"] for row in query}
        assert {row["corpus-id"] for row in qrels} <= {row["id"] for row in corpus}
        assert {row["score"] for row in qrels} == {0, 1, 2}
        front = yaml.safe_load((folder / "README.md").read_text().split("---\n")[1])
        assert [one["config_name"] for one in front["configs"]] == ["corpus", "query", "qrels"]
    path = tmp_path / "v1_i2t/query/test.parquet"
    picture = rows_of(path)[0]["image"]
    assert (picture["bytes"][:2], picture["path"]) == (b"\xff\xd8", "0.jpg")
    declared = json.loads(pq.read_schema(path).metadata[b"huggingface"])
    assert declared["info"]["features"]["image"] == {"_type": "Image"}


def test_pictures_that_are_missing_and_a_caption_that_was_changed_since_the_release_are_named(version, tmp_path):
    version.collection.images.filter(key__in=["2", "4"]).update(file="")
    with pytest.raises(CounterpartError, match="2 pictures .*: 2, 4."):
        exported(version, tmp_path, "mteb")
    version.collection.captions.filter(key="3").update(text="another")
    with pytest.raises(CounterpartError, match="zoo lost 1 caption.*: 3"):
        exported(version, tmp_path, "hf")


@pytest.mark.slow
def test_croissant_passes_both_gates(version, tmp_path):
    exported(version, tmp_path, "croissant")
    path = tmp_path / "croissant.json"
    gate = [Path(sys.executable).with_name("mlcroissant"), "validate", "--jsonld", path]
    checked = subprocess.run(gate, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    dataset = mlcroissant.Dataset(jsonld=str(path))
    firsts = {one.id: next(iter(dataset.records(one.id))) for one in dataset.metadata.record_sets}
    assert set(firsts) == {"pairs", "judgments", "captions", "images"}
    assert firsts["pairs"]["pairs/positive"] == 1


def test_croissant_gives_who_annotated_for_which_pay_and_how_well_they_agree(version, tmp_path):
    exported(version, tmp_path, "croissant")
    metadata = json.loads((tmp_path / "croissant.json").read_text())
    assert metadata["rai:dataAnnotationPlatform"] == ["browser"]
    assert "$0.65 for 6 pairs." in " ".join(metadata["rai:annotatorDemographics"])
    # The votes are 1 1, 2 2, 4 4 and 3 4. The squared differences of the 56 ordered pairs of votes sum up to 190, those
    # within pairs to 2: alpha = 1 - (2 / 8) / (190 / 56).
    assert metadata["rai:dataAnnotationAnalysis"] == [
        "Of 4 pairs with two votes or more, two votes on one pair have the same level with probability 0.75; "
        "Krippendorff's alpha (interval) is 0.93."
    ]


def test_alpha_of_votes_that_are_all_equal_is_called_undefined(version, monkeypatch):
    monkeypatch.setattr("dataset.exports.statements.agreement_of", lambda version: (4, 1.0, float("nan")))
    assert agreement(version).endswith("alpha (interval) is undefined, as all these votes have one level.")
