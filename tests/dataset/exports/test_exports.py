import csv
import json
import os
from time import time

import pytest
from pyarrow import parquet

from annotation.models import Assignment
from core.errors import CounterpartError
from corpus.matches import import_matches, known_pairs
from corpus.models import Match
from dataset.exports import FORMATS, export_version
from dataset.verdicts import aggregate_round
from dataset.versions.version_files import load_positives
from hits.models import Seat
from tests.annotation.cast import candidates, propose, say
from tests.dataset.releasing import release, release_version
from tests.factories import make_annotator, make_assignment, make_collection, make_round, make_sample

pytestmark = pytest.mark.django_db


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def round():
    """Both candidates judged 2, the first with its reasons; proposed by two annotators."""
    made = make_round(candidates=2)
    assignment = make_assignment(made.hits.get().seats.get())
    for item in made.hits.get().items.all():
        say(assignment, item, 2, *(("wrong_way", "color") if item.place == 1 else ()))
    Assignment.objects.update(state="accepted")
    Seat.objects.update(state="filled")
    pairs = candidates(made.hits.get())
    propose(made, pairs, make_annotator("vsrn"))
    propose(made, pairs[:1], make_annotator("clip"), "t2i")
    aggregate_round(made)
    return made


@pytest.fixture
def version(round):
    return release(round)


def test_eccv_json_has_a_file_for_each_direction_and_the_same_if_exported_twice(version, out):
    files = export_version(version, format="eccv-json", out=out)
    first = [file.read_text() for file in files]
    assert [file.read_text() for file in export_version(version, format="eccv-json", out=out)] == first
    assert [file.name for file in files] == ["v1_caption_to_image.json", "v1_image_to_caption.json"]
    assert json.loads(files[0].read_text())["0"] == [0]


def test_ids_that_are_no_numbers_stay_texts(out):
    farm = make_collection("farm", images=1, captions_each=1)
    farm.images.update(key="cow-7")
    version = release_version("v2", collection=farm, sample=make_sample(farm), merge="original")
    files = export_version(version, format="eccv-json", out=out)
    assert [json.loads(file.read_text()) for file in files] == [{"0": ["cow-7"]}, {"cow-7": [0]}]


def test_eccv_json_can_be_imported_again(version, out):
    for file in export_version(version, format="eccv-json", out=out):
        import_matches(version.collection, source="again", path=file)
    positives = Match.objects.filter(source="v1", score=1).values_list("image_id", "caption_id")
    assert {tuple(pair) for pair in known_pairs(version.collection, "again").tolist()} == set(positives)
    forward = {(i, c) for i, captions in load_positives(version)["i2t"].items() for c in captions}
    assert forward == set(positives)


def test_judgments_csv_has_a_row_for_each_proposal_and_judgment(version, round, out):
    (file,) = export_version(version, format="judgments-csv", out=out)
    header, *rows = list(csv.reader(file.open()))
    assert header == ["model", "ranking", "score", "cid", "iid", "annotation", "shortcoming", "shortcoming2"]
    # The first two candidates are images 0 and 1 with the first caption of images 1 and 2.
    assert rows == [
        ["clip", "1", "1.0", "2", "0", "2", "wrong_way", "color"],
        ["vsrn", "1", "1.0", "2", "0", "2", "wrong_way", "color"],
        ["vsrn", "2", "0.5", "4", "1", "2", "", ""],
    ]


def test_tables_of_judgments_quote_ids_that_would_break_a_row(round, out):
    odd = {"image": 'a "dog", 1\n2', "caption": "b,c"}
    pair = round.hits.first().items.filter(control=None).order_by("place").first()
    for side, key in odd.items():
        type(getattr(pair, side)).objects.filter(pk=getattr(pair, f"{side}_id")).update(key=key)
    version = release(round, "odd")
    (file,) = export_version(version, format="judgments-csv", out=out)
    _, *rows = list(csv.reader(file.open(newline="")))
    assert [row[3:5] for row in rows if row[0] == "clip"] == [[odd["caption"], odd["image"]]]
    (long,) = export_version(version, format="judgments-long", out=out)
    assert odd["image"] in {row["image"] for row in csv.DictReader(long.open(newline=""))}


def test_a_later_decision_does_not_change_an_export(version, out):
    (before,) = export_version(version, format="judgments-csv", out=out / "before")
    Assignment.objects.update(state="excluded")
    (after,) = export_version(version, format="judgments-csv", out=out / "after")
    assert before.read_text() == after.read_text()


def test_a_version_without_rounds_has_pairs_but_no_judgments(out):
    zoo = make_collection()
    version = release_version("v2", collection=zoo, sample=make_sample(zoo), merge="original")
    with pytest.raises(CounterpartError, match="v2 has no rounds"):
        export_version(version, format="judgments-csv", out=out)
    assert not out.exists()
    (pairs,) = export_version(version, format="parquet", out=out)
    assert set(parquet.read_table(pairs)["graded"].to_pylist()) == {2}


def test_a_file_with_other_content_is_not_overwritten(version, out):
    out.mkdir()
    theirs = out / "v1_caption_to_image.json"
    theirs.write_text("mine")
    with pytest.raises(CounterpartError, match="1 file .*v1_caption"):
        export_version(version, format="eccv-json", out=out)
    assert [file.name for file in out.iterdir()] == [theirs.name]
    assert theirs.read_text() == "mine"


def test_a_failed_export_takes_its_folders_back(version, tmp_path, monkeypatch):
    def fail(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dataset.exports.card", fail)
    with pytest.raises(OSError, match="No space"):
        export_version(version, format="eccv-json", out=tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()


def test_what_a_killed_export_left_goes_with_the_next_one(version, out):
    for name, age in ((".export-old", 25 * 3600), (".export-now", 60)):
        (out / name).mkdir(parents=True)
        (out / name / "part.json").touch()
        os.utime(out / name, (time() - age, time() - age))
    export_version(version, format="eccv-json", out=out)
    assert [path.name for path in out.glob(".export-*")] == [".export-now"]  # another may be at work


@pytest.mark.parametrize("format", FORMATS)
def test_a_format_says_whether_it_reveals_controls(version, out, format):
    export_version(version, format=format, out=out)
    columns = set()
    for file in out.rglob("*"):
        if file.suffix == ".csv":
            columns |= set(file.read_text().splitlines()[0].split(","))
        if file.suffix == ".parquet":
            columns |= set(parquet.read_schema(file).names)
    assert ("control" in columns) == FORMATS[format].controls
