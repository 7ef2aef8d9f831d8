"""A version is rebuilt from its judgments; whatever was changed since is named."""

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.utils import timezone

from annotation.models import Assignment, Judgment
from annotation.review.decisions import decide
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
from dataset.versions.version_files import load_judgments, load_pairs
from hits.models import Control, Item
from tests.annotation.cast import answer
from tests.dataset.releasing import notes, problems, release_version, released
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


def test_the_probabilities_of_verdicts_are_released_and_recounted(version):
    assert [check.name for check in verify_version(version) if not check.passed] == []
    known = [float(pair.probability) for pair in load_pairs(version) if pair.probability]
    figures = version.manifest["certainty"]
    assert len(known) == figures["verdicts"] == sum(pair.votes != "" for pair in load_pairs(version))
    assert figures["expected_wrong"] == pytest.approx(sum(1 - one for one in known), abs=0.01)
    version.manifest["certainty"]["expected_wrong"] = 0.0
    version.save()
    assert any("certainty in the manifest" in one for one in problems(version))


def test_a_version_of_a_program_that_knew_no_probabilities_is_read_and_verified(version, monkeypatch):
    monkeypatch.setattr(
        release, "gather_contents", lambda *given, **named: gather_contents(*given, **{**named, "certain": False})
    )
    earlier = release_version(
        "v0", collection=version.collection, sample=version.sample, rounds=list(version.rounds.all())
    )
    assert "certainty" not in earlier.manifest
    assert {pair.probability for pair in load_pairs(earlier)} == {""}
    assert problems(earlier) == []
