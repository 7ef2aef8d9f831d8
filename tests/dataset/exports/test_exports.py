import csv
import json
import os
import zipfile
from time import time

import pyarrow.parquet
import pytest
from django.core.files.storage import default_storage
from pyarrow import parquet

from annotation.models import Assignment
from core.errors import CounterpartError
from core.files.stored_files import local_copy
from core.work.jobs import Cancelled
from dataset.exports import FORMATS, export_version
from dataset.exports.downloads import choices, downloads_of, make_download
from dataset.releases.verification import verify_version
from dataset.verdicts import aggregate_round
from hits.models import Seat
from tests.annotation.cast import answer, candidates, propose, say
from tests.dataset.releasing import release, release_version
from tests.evaluation.worlds import SMALL, judge_all, known_pool, published
from tests.factories import make_annotator, make_assignment, make_collection, make_round, make_sample
from tests.hits.pools import pack

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


@pytest.fixture
def two_pairs():
    made = make_round(candidates=2)
    answer(made.hits.get(), 1, 4)
    return release(made)


def test_an_archive_holds_the_files_of_the_export(two_pairs, tmp_path):
    made = make_download(two_pairs, "parquet")
    out = tmp_path / "out"
    export_version(two_pairs, format="parquet", out=out)
    with zipfile.ZipFile(local_copy(made.stored)) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert held == {file.relative_to(out).as_posix(): file.read_bytes() for file in out.rglob("*") if file.is_file()}


@pytest.mark.slow
def test_made_again_every_archive_has_the_same_bytes(two_pairs):
    for what in choices():
        first = make_download(two_pairs, what)
        default_storage.delete(first.stored.path)
        assert make_download(two_pairs, what) == first


def test_an_archive_that_is_there_is_not_made_again_but_for_another_release_of_the_same_name(two_pairs, monkeypatch):
    made = make_download(two_pairs, "parquet")
    monkeypatch.setattr("dataset.exports.downloads.export_version", None)
    assert make_download(two_pairs, "parquet") == made
    assert downloads_of(two_pairs) == [made]
    two_pairs.manifest_sha256 = "0" * 64
    assert downloads_of(two_pairs) == []


def test_a_cancelled_export_leaves_nothing_behind_and_an_unknown_one_is_refused(two_pairs):
    def cancelled(step, done, total):
        raise Cancelled

    with pytest.raises(Cancelled):
        make_download(two_pairs, "parquet", progress=cancelled)
    assert downloads_of(two_pairs) == []
    with pytest.raises(CounterpartError, match="'xml': use eccv-json_lenient"):
        make_download(two_pairs, "xml")


# Exports of a version whose round asked a part of its pool: why each pair was asked, and with what probability


@pytest.fixture
def pool():
    return known_pool()


def released(pool, **parameters):
    return release(judge_all(published(pack("round-1", pool, design=SMALL, **parameters))))


def rows_of(version, out, format="judgments-long"):
    (path,) = export_version(version, format=format, out=out)
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_each_judgment_of_an_audit_has_its_reason_and_probability_in_either_form(pool, tmp_path):
    version = released(pool, judge="audit", audit_share=0.25)
    assert version.manifest["rounds"][0]["judge"] == {"judge": "audit", "share": 0.25, "greedy": False, "policy": 1}
    rows = rows_of(version, tmp_path)
    candidates = [row for row in rows if not row["control"]]
    assert {row["reason"] for row in candidates} == {"audit"}
    # 4 of 14 images and 4 of 14 captions are drawn, each for itself; every image and caption is a query.
    chances = [float(row["inclusion"]) for row in candidates]
    assert chances == pytest.approx([1 - (10 / 14) ** 2] * len(candidates))
    assert {(row["reason"], row["inclusion"]) for row in rows if row["control"]} == {("", "")}
    export_version(version, format="parquet", out=tmp_path)
    table = pyarrow.parquet.read_table(tmp_path / "v1_judgments.parquet")
    assert {one for one in table["inclusion"].to_pylist() if one} == {float(row["inclusion"]) for row in candidates}
    assert [one or "" for one in table["reason"].to_pylist()] == [row["reason"] for row in rows]
    assert [check.problems for check in verify_version(version)] == [[]] * 5


def test_a_pair_of_one_query_has_the_chance_of_that_query_alone(tmp_path):
    pool = known_pool(images=24)
    dropped = set(pool.sample.captions.order_by("pk")[:4].values_list("key", flat=True))
    pool.sample.captions.remove(*pool.sample.captions.filter(key__in=dropped))
    rows = rows_of(released(pool, judge="audit", audit_share=0.5), tmp_path)
    chances = {row["caption"] in dropped: float(row["inclusion"]) for row in rows if not row["control"]}
    assert chances == {True: pytest.approx(0.5), False: pytest.approx(0.75)}


def test_first_hits_are_certain_to_be_asked(pool, tmp_path):
    rows = rows_of(released(pool, judge="first-hits"), tmp_path)
    found = {(row["reason"], row["inclusion"]) for row in rows if not row["control"]}
    assert {(reason, float(chance)) for reason, chance in found} == {("first-hits", 1.0)}


def test_a_version_of_all_pairs_has_no_such_columns(pool, tmp_path):
    assert not {"reason", "inclusion"} & set(rows_of(released(pool), tmp_path)[0])
