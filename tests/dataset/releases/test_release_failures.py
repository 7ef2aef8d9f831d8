"""A release that was killed or failed leaves a whole version or none, and replaces nothing."""

import json
import sys
from collections.abc import Iterable

import pytest
from django.core.files.storage import default_storage

import dataset.releases.release
from core.errors import CounterpartError
from core.files.stored_files import write_file
from dataset.models import Version
from dataset.versions import version_files
from dataset.versions.version_files import manifest_in_storage
from tests.dataset.releasing import contents, forget_version, read, refuses, release

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
