"""The fields of a version that calls, commands and pages show."""

from datetime import datetime
from typing import Any

from django.urls import reverse
from ninja import Schema

from console.home.resources import JobAnswer
from dataset.models import Version
from dataset.releases.credits import Author, authors_of, credits_of

VERSIONS = Version.objects.select_related("collection", "sample").prefetch_related("rounds")


class VersionLine(Schema):
    """A released dataset, which never changes.

    ``software`` released it. ``counts`` are those of its manifest: queries, positives, judged pairs, votes.
    """

    name: str
    url: str
    collection: str
    sample: str
    rounds: list[str]
    released_at: datetime
    software: str
    title: str
    doi_or_url: str
    licence: str
    counts: dict[str, int | dict[str, int]]


class FileLine(Schema):
    """A file of a version."""

    path: str
    url: str
    size: int
    sha256: str


class VersionAnswer(VersionLine):
    """A version with its files; ``manifest.json`` says how they were made.

    ``caution`` says why scores on it are biased, if they are; ``verification`` is the job that last rebuilt it.
    """

    authors: list[Author]
    description: str
    citation: str
    manifest_sha256: str
    files: list[FileLine]
    caution: str
    verification: JobAnswer | None


def line_of(version: Version) -> dict[str, Any]:
    """Return a line of the list of versions."""
    attribution = credits_of(version)
    manifest = version.manifest
    return {
        "name": version.name,
        "url": reverse("api:version", args=[version.name]),
        "collection": version.collection.name,
        "sample": version.sample.name,
        "rounds": sorted(one.name for one in version.rounds.all()),
        "released_at": version.released_at,
        "software": manifest.get("software", ""),
        "title": attribution.get("title", ""),
        "doi_or_url": attribution.get("url", ""),
        "licence": manifest.get("licence", ""),
        "counts": manifest.get("counts", {}),
    }


def describe_version(version: Version) -> dict[str, Any]:
    """Return the contents of a version, who made it, and its files."""
    from dataset.exports.citing import citation_of  # these take a second, for which no list need wait
    from evaluation.jobs import last_verification
    from evaluation.scores.leaderboard import caution_of

    files = version.manifest.get("files", {})
    return line_of(version) | {
        "authors": authors_of(version),
        "description": credits_of(version).get("description", ""),
        "citation": citation_of(version),
        "manifest_sha256": version.manifest_sha256,
        "files": [_file(version, path, described) for path, described in files.items()],
        "caution": caution_of(version),
        "verification": last_verification(version),
    }


def _file(version: Version, path: str, described: dict[str, Any]) -> dict[str, Any]:
    url = reverse("api:version_file", args=[version.name, path])
    return {"path": path, "url": url, "size": described["bytes"], "sha256": described["sha256"]}
