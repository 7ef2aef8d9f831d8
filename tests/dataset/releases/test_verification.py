"""A version is rebuilt from its judgments; whatever was changed since is named."""

import csv
from datetime import UTC, datetime
from hashlib import sha256
from io import StringIO
from pathlib import Path
from random import Random

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.utils import timezone

from annotation.models import Assignment, Judgment
from annotation.review.decisions import decide
from core.files.stored_files import write_file
from corpus.models import Caption, Image, Match
from counterpart_statistics.aggregation import METHODS
from dataset.judged.released_rows import judgment_rows
from dataset.models import Aggregation, Verdict, Version
from dataset.releases import release
from dataset.releases.packing_replay import check_packing
from dataset.releases.verification import verify_version
from dataset.verdicts import aggregate_round
from dataset.versions.contents import gather_contents
from dataset.versions.file_rows import ReleasedJudgment
from dataset.versions.review_rows import draw_numbers
from dataset.versions.version_files import load_judgments, load_pairs, manifest_bytes
from hits.models import Control, Item
from tests.annotation.cast import answer, candidates
from tests.dataset.releasing import allow_percentages, notes, problems, read, release_version, released
from tests.dataset.reviewing import give_level
from tests.factories import make_collection
from tests.hits.pools import SMALL, pack, pool_of

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def version_once(lasting) -> int:
    zoo = make_collection(images=12, pictures=True)
    for image in zoo.images.all():
        image.sha256 = sha256_of_stored(image.file)
        image.save()
    made = released(zoo)
    aggregate_round(made.rounds.get())
    return made.pk


@pytest.fixture
def version(version_once) -> Version:
    return Version.objects.get(pk=version_once)


def sha256_of_stored(path: str) -> str:
    return sha256(default_storage.open(path).read()).hexdigest()


def test_a_fresh_version_passes_every_check_and_needs_no_verdict_rows(version):
    checks = verify_version(version)
    assert [check.name for check in checks] == ["files", "collection", "packing", "judgments", "contents"]
    assert problems(version) == []
    assert notes(version) == []
    Verdict.objects.all().delete()
    Aggregation.objects.all().delete()
    assert problems(version) == []


@pytest.mark.slow
def test_a_version_by_any_method_is_rebuilt_to_the_byte(version):
    release = {"collection": version.collection, "sample": version.sample, "rounds": [version.rounds.get()]}
    for method in METHODS:
        again = release_version(method, method=method, seed=5, merge="", positive_levels=(1, 2, 3, 4), **release)
        assert (again.manifest["policies"]["method"], again.manifest["policies"]["seed"]) == (method, 5)
        assert problems(again) == [], method


@pytest.mark.slow
def test_any_changed_byte_of_any_file_is_named(version):
    drawn = Random(0)
    for name in [*version.manifest["files"], "manifest.json"] * 2:
        path = Path(settings.MEDIA_ROOT, version.folder, name)
        content = path.read_bytes()
        changed = bytearray(content)
        changed[drawn.randrange(len(content))] ^= drawn.randint(1, 255)
        path.write_bytes(changed)
        assert any(name in problem for problem in problems(version)), changed
        path.write_bytes(content)


def test_a_missing_file_is_named(version):
    default_storage.delete(f"{version.folder}/pairs.csv")
    assert any("versions/v1/pairs.csv" in problem for problem in problems(version))


def test_a_changed_judgment_one_that_is_gone_and_those_of_another_worker_are_named(version):
    judgment = Judgment.objects.filter(level=1).select_related("item__hit", "image", "caption").first()
    same = Judgment.objects.filter(pk=judgment.pk)
    for change in ({"level": 3}, {"shortcoming": "grammar"}, {"at": datetime(2026, 1, 1, tzinfo=UTC)}):
        before = same.values(*change).get()
        same.update(**change)
        (problem,) = problems(version)
        where = f"image {judgment.image.key} and caption {judgment.caption.key}", f"HIT {judgment.item.hit.number}"
        assert all(part in problem for part in (*where, *change))
        same.update(**before)
    same.delete()
    assert any("it is missing" in problem for problem in problems(version))
    first, other = Assignment.objects.order_by("pk")[:2]
    Judgment.objects.filter(assignment=first).update(worker=other.worker)
    assert any("worker" in problem for problem in problems(version))


def test_later_decisions_and_judgments_are_noted_and_no_problem(version, admin_user):
    assignment = Assignment.objects.first()
    decide(assignment, votes_count=False, paid=True, reason="Careless.", by=admin_user)
    answer(assignment.hit, 1, 1, 1, 1)
    assert problems(version) == []
    assert notes(version) == [
        "6 judgments were added since the release.",
        "6 judgments were counted, excluded or freed of a control since the release.",
    ]


def test_a_retired_control_is_noted_and_no_problem(version):
    Control.objects.filter(items__hit__number=1).update(state="retired")
    assert problems(version) == []
    assert "freed of a control" in notes(version)[0]


def test_moved_items_are_noticed(version):
    Item.objects.filter(control__polarity="negative").update(
        control=Control.objects.filter(polarity="positive").first()
    )
    assert any("stored items of round round-1" in problem for problem in problems(version))


def test_a_changed_caption_picture_match_source_or_sample_is_named(version):
    Caption.objects.filter(key="3").update(text="A dog.")
    default_storage.delete(Image.objects.get(key="2").file)
    Match.objects.filter(source="v1", score=1).order_by("pk")[:1][0].delete()
    Match.objects.filter(source="cxc").order_by("-pk")[:1][0].delete()
    version.sample.images.remove(version.sample.images.first())
    found = "\n".join(problems(version))
    changed = "The caption 3 was", "image 2 is missing", "in the corpus was", "\npairs.csv, line ", "queries-pool was"
    assert [part for part in changed if part not in found] == []


def test_a_round_that_left_out_retired_controls_is_packed_again_as_it_was():
    pool = pool_of(40, name="other")
    first = pack("first", pool, design=SMALL)
    Control.objects.filter(pk=first.controls.first().pk).update(state=Control.State.RETIRED)
    later = pack("later", pool, design=SMALL)
    Control.objects.update(state=Control.State.RETIRED)
    for packed in (first, later):
        assert check_packing(packed, {"plan_hash": packed.plan_hash, "top_ups": []}).problems == []


def test_a_round_that_left_out_what_was_excluded_is_packed_again_as_it_was():
    pool = pool_of(40, name="other")
    excluded = pool.proposals.first()
    Image.objects.filter(pk=excluded.image_id).update(excluded_at=timezone.now())
    made = pack("first", pool, design=SMALL)
    Image.objects.update(excluded_at=None)
    Caption.objects.filter(pk=made.hits.get(number=1).items.first().caption_id).update(excluded_at=timezone.now())
    assert check_packing(made, {"plan_hash": made.plan_hash, "top_ups": []}).problems == []


def test_a_version_from_before_seconds_of_pairs_were_counted_still_verifies(version, monkeypatch):
    """Its file is without the last column."""
    columns = ReleasedJudgment._fields[:-1]
    with monkeypatch.context() as earlier:
        earlier.setattr(ReleasedJudgment, "_fields", columns)
        earlier.setattr(
            release, "judgment_rows", lambda *args, **keys: (row[:-1] for row in judgment_rows(*args, **keys))
        )
        made = {"collection": version.collection, "sample": version.sample, "rounds": [*version.rounds.all()]}
        old = release_version("v2", partial=True, **made)
    Judgment.objects.update(seconds=5)
    assert {row.seconds for row in load_judgments(old)} == {None}
    assert problems(old) == []


@pytest.fixture
def certain(version, monkeypatch) -> Version:
    """A release with percentages, and with an answer set that failed a control and one thrown out as copied."""
    allow_percentages(monkeypatch)
    round = version.rounds.get()
    for hit, failures in zip(round.hits.order_by("number")[:2], (1, 0), strict=True):
        out = Assignment.objects.filter(hit=hit)
        controls = Judgment.objects.filter(assignment__in=out, item__control__isnull=False)
        controls.filter(item__control__polarity="positive").update(level=3 if failures else 1)
        out.update(state="excluded", control_failures=failures, signals=[["copy", ""]])
        answer(hit, *[1] * hit.items.filter(control=None).count())
    return release_version("v3", collection=version.collection, sample=version.sample, rounds=[round], partial=True)


def test_the_probabilities_of_verdicts_are_released_and_counted_again(certain):
    assert problems(certain) == notes(certain) == []
    known = [float(pair.probability) for pair in load_pairs(certain) if pair.probability]
    figures = certain.manifest["certainty"]
    assert len(known) == figures["verdicts"] == sum(pair.votes != "" for pair in load_pairs(certain))
    assert figures["expected_wrong"] == pytest.approx(sum(1 - one for one in known), abs=0.01)
    certain.manifest["certainty"]["expected_wrong"] = 0.0
    certain.save()
    assert any("certainty in the manifest" in one for one in problems(certain))


def test_a_release_lists_the_uncounted_sets_that_teach_by_their_controls_alone(certain):
    (row,) = csv.DictReader(StringIO(read(certain, "uncounted.csv")))
    judged = [one for one in load_judgments(certain) if (one.hit, one.assignment) == (1, 1)]
    assert row == {
        **{"round": "round-1", "hit": "1", "assignment": "1", "worker": judged[0].worker},
        **{"right_none": "1", "asked_none": "1", "right_match": "0", "asked_match": "1"},
    }
    assert (certain.manifest["certainty"]["sets"], certain.manifest["certainty"]["uncounted"]) == (4, 1)


def test_the_round_and_its_release_have_one_certainty(certain):
    round = certain.rounds.get()
    aggregate_round(round)
    assert round.aggregations.get().certainty == certain.manifest["certainty"]


def test_reviews_of_the_first_pairs_drawn_enter_the_certainty_of_round_and_release(version, admin_user, monkeypatch):
    allow_percentages(monkeypatch)
    round = version.rounds.get()
    pairs = [pair for hit in round.hits.all() for pair in candidates(hit)]
    named = {pair: (Image.objects.get(pk=pair[0]).key, Caption.objects.get(pk=pair[1]).key) for pair in pairs}
    drawn = sorted(pairs, key=lambda pair: draw_numbers(round.seed, *([key] for key in named[pair]))[0])
    for pair in (*drawn[:2], drawn[5]):  # the last one was not drawn
        give_level(round, pair, 1, by=admin_user)
    aggregate_round(round)
    again = release_version("v3", collection=version.collection, sample=version.sample, rounds=[round], partial=True)
    of_round, of_release = round.aggregations.get().certainty, again.manifest["certainty"]
    assert of_round["reviewed"] == of_release["reviewed"] == 2
    assert (of_round["verdicts"], of_release["verdicts"]) == (len(pairs), len(pairs) - 3)
    assert problems(again) == []


def test_without_the_tally_of_uncounted_sets_the_certainty_cannot_be_counted_again(certain):
    tally = read(certain, "uncounted.csv")
    default_storage.delete(f"{certain.folder}/uncounted.csv")
    assert any("certainty cannot be counted again" in one for one in problems(certain))
    write_file(f"{certain.folder}/uncounted.csv", tally.replace(",0,1", ",1,1").encode())
    assert any("certainty cannot be counted again" in one for one in problems(certain))


def without_tally(version: Version, **figures) -> Version:
    """Return the version as if an earlier program had released it, with its figures."""
    del version.manifest["files"]["uncounted.csv"]
    version.manifest.update(figures)
    content = manifest_bytes(version.manifest)
    version.manifest_sha256 = sha256(content).hexdigest()
    write_file(f"{version.folder}/manifest.json", content)
    version.save()
    return version


def test_the_certainty_of_an_earlier_program_is_kept_and_noted(certain):
    before = {"prior": 0.3, "found": 0.9, "refused": 0.9, "temperature": 1.0, "verdicts": 10, "expected_wrong": 1.0}
    earlier = without_tally(certain, certainty=before)
    assert problems(earlier) == []
    assert "certainty cannot be counted again" in notes(earlier)[0]


def test_a_tally_that_is_not_of_the_judgments_is_named(certain):
    tally = read(certain, "uncounted.csv").replace(",0,1", ",1,1").encode()
    write_file(f"{certain.folder}/uncounted.csv", tally)
    certain.manifest["files"]["uncounted.csv"]["sha256"] = sha256(tally).hexdigest()
    certain.save()
    assert any("uncounted.csv does not follow from the judgments" in one for one in problems(certain))


def test_a_version_of_a_program_that_knew_no_probabilities_is_read_and_verified(version, monkeypatch):
    monkeypatch.setattr(
        release, "gather_contents", lambda *given, **named: gather_contents(*given, **{**named, "controls": None})
    )
    made = {"collection": version.collection, "sample": version.sample, "rounds": list(version.rounds.all())}
    earlier = without_tally(release_version("v0", **made))
    assert "certainty" not in earlier.manifest
    assert {pair.probability for pair in load_pairs(earlier)} == {""}
    assert problems(earlier) == []
