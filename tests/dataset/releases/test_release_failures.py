"""A release that was killed or failed leaves a whole version or none, and replaces nothing."""

import json
import sys
from collections.abc import Iterable

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError
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
from dataset.versions import version_files
from dataset.versions.version_files import manifest_in_storage
from tests.commands import figures_printed, output_of
from tests.dataset.releasing import contents, forget_version, read, refuses, release
from tests.factories import make_collection, make_sample

pytestmark = pytest.mark.django_db


def stored(names: Iterable[str]) -> dict[str, str]:
    return {name: default_storage.open(f"versions/v1/{name}").read().decode() for name in names}


def test_a_released_version_is_never_replaced(round):
    version = release(round)
    before = read(version, "manifest.json")
    with pytest.raises(CounterpartError, match="Version v1 exists already"):
        release(round, merge="")
    assert read(version, "manifest.json") == before


def test_a_folder_that_a_restored_database_does_not_know_is_never_replaced(round):
    before = contents(release(round))
    forget_version()
    with pytest.raises(CounterpartError, match="in versions/v1"):
        release(round, merge="")
    assert stored(before) == before


@pytest.mark.parametrize("damage", [lambda path: write_file(path, b"half"), default_storage.delete])
def test_a_folder_with_a_damaged_file_is_not_taken_for_the_release(round, damage):
    release(round)
    forget_version()
    damage("versions/v1/pairs.csv")
    with pytest.raises(CounterpartError, match="1 file .*: pairs.csv"):
        release(round)
    assert not Version.objects.exists()


def test_a_folder_that_lost_only_its_manifest_is_never_replaced(round):
    before = contents(release(round))
    forget_version()
    default_storage.delete("versions/v1/manifest.json")
    with pytest.raises(CounterpartError, match="manifest.json is lost"):
        release(round)
    del before["manifest.json"]
    assert stored(before) == before


def test_a_release_that_was_killed_before_any_file_was_whole_can_be_made_again(round):
    write_file("versions/v1/.manifest.json.unsealed.01234567", b"ha")
    assert json.loads(manifest_in_storage(release(round)))


def test_a_release_that_was_killed_at_its_first_file_can_be_made_again(round, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(version_files, "_clear", lambda folder: None)  # kill -9 clears nothing
        patch.setattr(version_files, "copy_file", lambda *_args: sys.exit())
        with pytest.raises(SystemExit):
            release(round)
    assert json.loads(manifest_in_storage(release(round, merge="")))


def test_a_failure_removes_no_folder_that_was_released_before(round, monkeypatch):
    before = contents(release(round))
    forget_version()
    monkeypatch.setattr(dataset.releases.release, "_enter", lambda *_args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        release(round)
    assert stored(before) == before


def test_a_release_that_was_killed_before_its_commit_can_be_made_again(round, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(version_files, "_clear", lambda folder: None)  # kill -9 clears nothing
        patch.setattr(dataset.releases.release, "_enter", lambda *_args: sys.exit())
        with pytest.raises(SystemExit):
            release(round)
    assert default_storage.exists("versions/v1/pairs.csv")
    again = release(round, merge="")
    assert json.loads(manifest_in_storage(again)) == again.manifest


def test_a_release_that_was_killed_just_after_its_commit_is_whole(round, monkeypatch):
    monkeypatch.setattr(dataset.releases.release, "seal_folder", lambda version: None)
    version = release(round)
    assert not default_storage.exists("versions/v1/manifest.json")
    assert json.loads(manifest_in_storage(version)) == version.manifest
    assert json.loads(read(version, "manifest.json")) == version.manifest


def test_a_failure_midway_leaves_no_file(round, monkeypatch):
    def fail(*_args):
        raise CounterpartError("stop")

    monkeypatch.setattr(dataset.releases.release, "_enter", fail)
    refuses(round, "stop")
    assert not default_storage.exists("versions/v1")


def test_what_a_killed_release_has_left_goes_with_the_next_one(round):
    write_file("versions/v1/manifest.json.unsealed", b"{}")
    write_file("versions/v1/judgments.csv", b"of an earlier attempt")
    write_file("versions/v1/unknown.csv", b"of an earlier attempt")
    version = release(round, rounds=[], merge="original")
    assert sorted(default_storage.listdir("versions/v1")[1]) == sorted([*version.manifest["files"], "manifest.json"])


# What another process does while this one computes is noticed before anything is written


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


RELEASE = ("release", "v1", "--collection", "zoo", "--queries", "queries-zoo")


def test_release_prints_counts_and_sources(round):
    figures = figures_printed(*RELEASE, "--rounds", "round-1", "--merge", "original")
    assert figures["judged_positive"] == 1
    assert [row["source"] for row in figures["sources"]] == ["original", "judged", "v1"]


@pytest.mark.parametrize(("policy", "levels"), [("strict", [1]), ("lenient", [1, 2]), ("1,2,3", [1, 2, 3])])
def test_release_names_policies_of_what_is_a_match(round, policy, levels):
    output_of(*RELEASE, "--rounds", "round-1", "--positive-levels", policy, "--method", "ordinal")
    policies = Version.objects.get().manifest["policies"]
    assert (policies["positive_levels"], policies["method"]) == (levels, "ordinal")


def test_export_prints_the_files_it_wrote(tmp_path):
    zoo = make_collection()
    make_sample(zoo, "queries-zoo")
    output_of(*RELEASE, "--merge", "original")
    printed = output_of("export", "v1", "--format", "eccv-json", "--out", tmp_path / "out").splitlines()
    out = tmp_path / "out"
    assert {f"{out}/v1_{side}.json" for side in ("image_to_caption", "caption_to_image")} <= set(printed)
    assert all((out / name).exists() for name in printed)
    with pytest.raises(CommandError, match="Unknown version 'v9'"):
        output_of("export", "v9", "--format", "eccv-json", "--out", tmp_path)
