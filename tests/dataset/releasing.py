"""Releases of small judged rounds, and what a version proves, for the tests of releasing."""

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest
from django.core.files.storage import default_storage

from core.errors import CounterpartError
from core.models import Event
from corpus.models import Collection, Match, Sample
from counterpart_statistics.aggregation import certainty
from dataset.models import Version
from dataset.releases.credits import Credits
from dataset.releases.release import release as release_described
from dataset.releases.release_parameters import ReleaseParameters
from dataset.releases.verification import verify_version
from dataset.versions.version_files import load_positives
from hits.models import Round
from mitl.models import Direction
from tests.annotation.cast import answer, associate, sample_of
from tests.evaluation.worlds import published
from tests.hits.pools import SMALL, pack, pool_of

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


def judge(round: Round) -> Round:
    for hit in published(round).hits.all():
        n = hit.items.filter(control=None).count()
        answer(hit, *([1, 2, 4, 3] * n)[:n])
    return round


def released(zoo: Collection) -> Version:
    """A judged round of three HITs, released with its originals and a scored source."""
    round = judge(pack("round-1", pool_of(10, images=12, collection=zoo), design=SMALL))
    pairs = list(round.pool.proposals.order_by("pk").values_list("image_id", "caption_id"))[:3]
    associate(zoo, "cxc", pairs, score=4)
    return release(round, merge="original,cxc>=3", partial=True)


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


def allow_percentages(monkeypatch) -> None:
    """Let small rounds have percentages, as if they had enough controls and pairs with several votes."""
    for name, bound in (("FEWEST", {}), ("FEW_ANSWERS", 0), ("WIDEST", 1), ("LOWEST", 0), ("SEVERAL", 0)):
        monkeypatch.setattr(certainty, name, bound)


def forget_version() -> None:
    """Take the only version out of the database, as if a backup of before its release was restored."""
    Match.objects.filter(source="v1").delete()
    Version.objects.get().delete()
