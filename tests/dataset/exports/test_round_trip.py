"""What a version exports is imported again and brings what was exported: a format without a way back fails here."""

from collections import Counter
from functools import partial

import pandas as pd
import pytest
from django.utils import timezone

from annotation.models import Assignment, Judgment
from corpus.imports import import_collection
from corpus.matches import import_matches
from corpus.models import Caption, Match
from dataset.exports import export_version
from dataset.exports.downloads import choices
from dataset.exports.exported_tables import pair_rows
from dataset.exports.specification import Export
from dataset.judged.listed_answers import judgment_lines, judgments_of
from dataset.models import Version
from dataset.outside_judgments.judgment_import import import_judgments
from dataset.versions.version_files import JUDGMENTS, PAIRS, checked_file
from hits.models import Round, Seat
from tests.annotation.cast import answer, associate, candidates, propose, say
from tests.dataset.releasing import release
from tests.factories import make_annotator, make_assignment, make_round

pytestmark = pytest.mark.django_db

MERGE = "original,cxc>=3"


@pytest.fixture(scope="module")
def released(lasting):
    """Two HITs with votes of all levels, one by a program with reasons, and one answer set excluded; with matches of
    other sources, one of which people deny."""
    made = make_round(hits=2, candidates=3, replication=2)
    first, second = made.hits.all()
    answer(first, 4, 4, 4, state="excluded")
    answer(first, 1, 2, 4)
    answer(first, 2, 2, 3, seat=2)
    answer(second, 1, 3, 4)
    program = make_assignment(second.seats.get(number=2))
    for item in second.items.all():
        say(program, item, 3 if item.place == 1 else 2, "wrong_way", "color")
    Assignment.objects.filter(pk=program.pk).update(state="accepted", active_seconds=240)
    Seat.objects.update(state="filled")
    propose(made, candidates(first) + candidates(second), make_annotator("vsrn"))
    associate(made.pool.collection, "cxc", candidates(first)[2:], score=4)
    version = release(made, merge=MERGE, partial=True)
    Round.objects.filter(pk=made.pk).update(closed_at=timezone.now())
    return version


@pytest.fixture
def version(released):
    return Version.objects.get(pk=released.pk)


def ratings(version, source):
    columns = ("image__key", "caption__key", "score", "grade")
    rows = Match.objects.filter(collection=version.collection, source=source).values_list(*columns)
    return {(image, caption): (score, grade) for image, caption, score, grade in rows}


def answers_of(round):
    """Who answered what on which candidate: how often each answer came, and the answers of each worker."""
    columns = ("image__key", "caption__key", "level", "shortcoming", "wrong_way")
    rows = Judgment.objects.counted().of_candidates().filter(assignment__hit__round=round)
    by_worker: dict[int, list] = {}
    for worker, *said in rows.values_list("worker", *columns):
        by_worker.setdefault(worker, []).append(tuple(said))
    return Counter(said for one in by_worker.values() for said in one), sorted(map(sorted, by_worker.values()))


def again(version, name="again", **shape):
    """A round of the same pairs without answers, packed with the same seed, or in another shape."""
    shape = shape or {"hits": 2, "candidates": 3}
    return make_round(version.collection, name, **shape, replication=2, published=False)


def pairs_with_ratings(version, folder, labels):
    import_matches(version.collection, source="back", path=folder)
    assert ratings(version, "back") == ratings(version, "v1")


def pairs_with_labels(version, folder, labels):
    import_matches(version.collection, source="back", path=folder)
    wanted = Export(version, folder, labels)
    by_label = {(row["image"], row["caption"]): wanted.label_of(row) for row in pair_rows(version, wanted.progress)}
    assert {pair: score for pair, (score, _) in ratings(version, "back").items()} == by_label


def positives(version, folder, labels):
    import_matches(version.collection, source="back", path=folder)
    column = "strict" if labels == "strict" else "positive"
    rows = pair_rows(version, Export(version, folder).progress)
    assert ratings(version, "back").keys() == {(row["image"], row["caption"]) for row in rows if row[column]}


def votes(version, folder, labels):
    """The answers of a version come into another round, where they give the same verdicts; the round has them."""
    (path,) = [file for file in folder.rglob("*judgments*") if "_about" not in file.parts]
    fresh = again(version)
    added = import_judgments(fresh, path)
    assert added.judgments
    round = version.rounds.get()
    everyone, by_worker = answers_of(round)
    assert answers_of(fresh)[0] == everyone
    if path.name != "v1_judgments.csv":
        assert answers_of(fresh)[1] == by_worker
    second = release(fresh, "v2", merge=MERGE, partial=True)
    assert checked_file(second, PAIRS).read_bytes() == checked_file(version, PAIRS).read_bytes()
    for one in (fresh, round):
        assert import_judgments(one, path).judgments == 0
    assert answers_of(round) == (everyone, by_worker)


def texts(version, folder, labels):
    import_collection("texts", path=folder)
    columns = ("key", "image__key", "text")
    assert texts_of("texts", columns) == texts_of("zoo", columns)


def matched_texts(version, folder, labels):
    """MTEB's tasks have no captions' own images: each caption comes to an image that it matches."""
    import_collection("matched", path=folder, skip_broken=True)
    columns = ("key", "text")
    assert texts_of("matched", columns) <= texts_of("zoo", columns)
    rows = pair_rows(version, Export(version, folder).progress)
    pairs = {(row["caption"], row["image"]) for row in rows if row["positive"]}
    assert texts_of("matched", ("key", "image__key")) <= pairs


def texts_of(collection, columns):
    return set(Caption.objects.filter(collection__name=collection).values_list(*columns))


BACK = {
    "eccv-json": [positives],
    "judgments-csv": [votes],
    "judgments-long": [votes],
    "parquet": [pairs_with_ratings, votes],
    "hf": [pairs_with_ratings, votes, texts],
    "mteb": [pairs_with_labels, matched_texts],
    "qrels": [pairs_with_labels],
    "coco": [pairs_with_ratings, texts],
    "croissant": [pairs_with_ratings, votes, texts],
}


@pytest.mark.parametrize("what", choices())
def test_what_is_exported_is_imported_again(version, tmp_path, what):
    choice = choices()[what]
    export_version(version, **choice._asdict(), out=tmp_path / "out")
    for way in BACK[choice.format]:
        way(version, tmp_path / "out", choice.labels)


def test_the_files_of_a_version_are_imported_again(version, tmp_path):
    folder = tmp_path / "v1"
    folder.mkdir()
    for name in (PAIRS, JUDGMENTS):
        (folder / name).write_bytes(checked_file(version, name).read_bytes())
    for way in (pairs_with_ratings, votes):
        way(version, folder, "lenient")


def test_answers_come_into_a_round_that_is_packed_otherwise(version, tmp_path):
    other = again(version, hits=1, candidates=8)
    (path,) = export_version(version, format="judgments-long", out=tmp_path)
    added = import_judgments(other, path)
    assert (added.judgments, added.rejected, added.controls) == (12, 3, 10)
    assert answers_of(other) == answers_of(version.rounds.get())
    assert import_judgments(again(version, "third", hits=2, candidates=3), path).judgments == 25


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_answers_that_the_api_lists_are_imported_again(version, tmp_path, suffix):
    round = version.rounds.get()
    path = tmp_path / f"answers.{suffix}"
    listed = pd.DataFrame(judgment_lines(round, judgments_of(round)))
    write = {"csv": listed.to_csv, "parquet": listed.to_parquet}
    write.get(suffix, partial(listed.to_json, orient="records", lines=True))(path)
    fresh = again(version)
    assert import_judgments(fresh, path).judgments == len(listed)
    assert answers_of(fresh) == answers_of(round)
