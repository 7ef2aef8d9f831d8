"""What another process does while this one computes is noticed before anything is written."""

import pytest
from django.core.files.storage import default_storage
from django.db import transaction

import dataset.outside_judgments.judgment_import
import dataset.releases.release
import dataset.verdicts
from core.errors import CounterpartError
from core.files.stored_files import write_file
from corpus import matches
from corpus.matches import import_matches, seal_source
from corpus.models import Match
from dataset.models import Verdict, Version
from dataset.releases.release_leases import take
from dataset.verdicts import aggregate_round
from tests.dataset.releasing import refuses, release
from tests.factories import make_collection, make_sample

pytestmark = pytest.mark.django_db


def before(monkeypatch, module, name: str, other) -> None:
    """Let another process do something once, just before a step of this process."""
    step = getattr(module, name)

    def later(*given, **named):
        monkeypatch.setattr(module, name, step)
        other()
        return step(*given, **named)

    monkeypatch.setattr(module, name, later)


def test_votes_that_another_process_has_counted_meanwhile_are_kept(round, monkeypatch):
    before(monkeypatch, dataset.verdicts, "certainty_of", lambda: aggregate_round(round))
    with pytest.raises(CounterpartError, match="Another process .* round-1"):
        aggregate_round(round)
    assert round.aggregations.count() == 1
    assert Verdict.objects.count() == 2


def test_a_source_that_a_release_sealed_meanwhile_gets_no_pair(tmp_path, monkeypatch):
    zoo = make_collection(images=3)
    (tmp_path / "more.csv").write_text("image,caption\n0,2\n")

    def seal() -> None:
        with transaction.atomic():
            seal_source(zoo, "more")

    before(monkeypatch, matches, "_write", seal)
    with pytest.raises(CounterpartError, match="'more' is part of"):
        import_matches(zoo, source="more", path=tmp_path / "more.csv")
    assert not Match.objects.filter(source="more").exists()


def test_a_merged_source_that_grew_meanwhile_is_not_released(round, monkeypatch):
    zoo = round.pool.collection
    image, caption = zoo.images.first(), zoo.captions.last()
    more = {"collection": zoo, "image": image, "source": "more", "score": 1}
    Match.objects.create(**more, caption=zoo.captions.first())
    before(monkeypatch, dataset.releases.release, "_enter", lambda: Match.objects.create(**more, caption=caption))
    with pytest.raises(CounterpartError, match="match source more has grown"):
        release(round, merge="more")
    assert not default_storage.exists("versions/v1")
    zoo.refresh_from_db()
    assert zoo.sealed_sources == []


def test_a_name_that_another_release_took_meanwhile_keeps_its_files(round, monkeypatch):
    sample = make_sample(round.pool.collection, "other")

    def released() -> None:
        where = {"collection": sample.collection, "sample": sample, "folder": "versions/v1"}
        Version.objects.create(name="v1", manifest={}, **where)
        write_file("versions/v1/pairs.csv", b"theirs")

    before(monkeypatch, dataset.releases.release, "_enter", released)
    with pytest.raises(CounterpartError, match="^Version v1 exists already"):
        release(round)
    assert default_storage.open("versions/v1/pairs.csv").read() == b"theirs"


def test_a_version_that_is_being_released_is_not_released_twice(round):
    assert take("versions/v1")
    refuses(round, "A version v1 is being released already")
    assert not Version.objects.exists()
