"""Releases of a small judged round, for the tests of releasing."""

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest
from django.core.files.storage import default_storage

from core.errors import CounterpartError
from core.models import Event
from corpus.models import Collection, Match, Sample
from dataset.models import Version
from dataset.releases.credits import Credits
from dataset.releases.release import release as release_described
from dataset.releases.release_parameters import ReleaseParameters
from dataset.releases.verification import verify_version
from dataset.versions.version_files import load_positives
from mitl.models import Direction
from tests.annotation.cast import sample_of

I2T, T2I = Direction.IMAGE_TO_CAPTION, Direction.CAPTION_TO_IMAGE


def release_version(
    name: str, *, collection: Collection, sample: Sample, rounds=(), about=None, exclude_captions=(), **options: Any
) -> Version:
    """Release what is given as rows; keys of captions to exclude are given in a file."""
    with NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(exclude_captions))
        file.flush()
        parameters = ReleaseParameters(
            version=name,
            collection=collection.name,
            queries=sample.name,
            rounds=tuple(one.name for one in rounds),
            exclude_captions=Path(file.name) if exclude_captions else None,
            **vars(about or Credits()),
            **options,
        )
        return release_described(parameters)


def release(round, name="v1", **options) -> Version:
    wishes = {"sample": sample_of(round), "rounds": [round], **options}
    return release_version(name, collection=round.pool.collection, **wishes)


def pairs_in(version: Version) -> set[tuple[int, int]]:
    positives = load_positives(version)
    forward = {(image, caption) for image, captions in positives[I2T].items() for caption in captions}
    return forward | {(image, caption) for caption, images in positives[T2I].items() for image in images}


def originals() -> set[tuple[int, int]]:
    return set(Match.objects.filter(source="original").values_list("image_id", "caption_id"))


def read(version: Version, name: str) -> str:
    with default_storage.open(f"{version.folder}/{name}") as file:
        return file.read().decode()


def contents(version: Version) -> dict[str, str]:
    return {name: read(version, name) for name in [*version.manifest["files"], "manifest.json"]}


def refuses(round, message: str, **options) -> None:
    before = Match.objects.count(), Version.objects.count(), Event.objects.count()
    with pytest.raises(CounterpartError, match=message):
        release(round, **options)
    assert (Match.objects.count(), Version.objects.count(), Event.objects.count()) == before
    assert not default_storage.exists("versions/v1/manifest.json")


def problems(version: Version) -> list[str]:
    version = Version.objects.get(pk=version.pk)
    return [problem for check in verify_version(version) for problem in check.problems]


def notes(version: Version) -> list[str]:
    return [note for check in verify_version(version) for note in check.notes]


def forget_version() -> None:
    """Take the only version out of the database, as if a backup of before its release was restored."""
    Match.objects.filter(source="v1").delete()
    Version.objects.get().delete()
