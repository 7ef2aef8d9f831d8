"""The calls of a Counterpart site as methods, each named as in the description of its API."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pydantic import BaseModel

from counterpart_client.http_calls import ApiError, ClientError, HttpCalls
from counterpart_client.job_bars import JobFailed, job_bar
from counterpart_client.models import (
    AggregationAnswer,
    AnnotatorAnswer,
    CaptionAnswer,
    CollectionAnswer,
    ExportLine,
    ImageAnswer,
    JobAnswer,
    JudgmentAnswer,
    Leaderboard,
    LookAnswer,
    MatchAnswer,
    Me,
    ReviewAnswer,
    ReviewsMade,
    RoundAnswer,
    RunLine,
    UploadAnswer,
    VerdictAnswer,
    VersionAnswer,
    VersionLine,
)

if TYPE_CHECKING:
    from pandas import DataFrame


class Client(HttpCalls):
    """A Counterpart site, as the owner of a token may use it.

    Lists are iterators that ask for the next part when it is needed. Long work is answered with a job, for ``wait``.
    Keywords of calls are the parameters that the description of the API lists. For a call without a method there are
    ``get``, ``post`` and ``pages``.

    >>> with Client("https://counterpart.example.org", "cp_…") as client:
    ...     client.wait(client.plan_round("first", "zoo", ["overlap"], images=20, captions=20))
    """

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def me(self) -> Me:
        """Return whose token this is, and what it may do."""
        return self.get("/me", Me)

    # Jobs

    def jobs(self, **query: Any) -> Iterator[JobAnswer]:
        """Yield the jobs, the latest first; with ``state=`` those in a state."""
        return self.pages("/jobs", JobAnswer, **query)

    def job(self, id: UUID | str) -> JobAnswer:
        """Return how far a job is."""
        return self.get(f"/jobs/{id}", JobAnswer)

    def cancel_job(self, id: UUID | str) -> JobAnswer:
        """Ask a job to stop at its next safe point."""
        return self.post(f"/jobs/{id}/cancel", JobAnswer)

    def wait(self, job: JobAnswer, *, progress: bool = True) -> JobAnswer:
        """Return a job once it is done, and show meanwhile how far it is.

        Raises JobFailed where it failed or was cancelled.
        """
        with job_bar(progress) as show:
            while True:
                answer = self.send("GET", f"/jobs/{job.id}")
                job = JobAnswer.model_validate(answer.json())
                show(job)
                if job.finished_at:
                    break
                sleep(float(answer.headers["Retry-After"]))
        if job.state != "done":
            raise JobFailed(job)
        return job

    # Collections

    def collections(self) -> Iterator[CollectionAnswer]:
        """Yield the collections by name."""
        return self.pages("/collections", CollectionAnswer)

    def collection(self, name: str) -> CollectionAnswer:
        """Return how much a collection has."""
        return self.get(f"/collections/{name}", CollectionAnswer)

    def images(self, collection: str) -> Iterator[ImageAnswer]:
        """Yield the images of a collection by key, with links to their pictures."""
        return self.pages(f"/collections/{collection}/images", ImageAnswer)

    def captions(self, collection: str) -> Iterator[CaptionAnswer]:
        """Yield the captions of a collection by key."""
        return self.pages(f"/collections/{collection}/captions", CaptionAnswer)

    def matches(self, collection: str, **query: Any) -> Iterator[MatchAnswer]:
        """Yield the pairs that are known in a collection; with ``source=`` those of one source."""
        return self.pages(f"/collections/{collection}/matches", MatchAnswer, **query)

    def upload(self, file: Path | str) -> UploadAnswer:
        """Send a file; its ``id`` names it in another call."""
        return self.send_file(Path(file), UploadAnswer)

    def look_at_import(self, collection: str, **parameters: Any) -> LookAnswer:
        """Return what ``import_collection`` would import with the same arguments, and what it would leave out."""
        job = self.wait(self.post(f"/collections/{collection}/looks", JobAnswer, **parameters))
        return self.get(f"/looks/{job.id}", LookAnswer)

    def import_collection(self, collection: str, **parameters: Any) -> JobAnswer:
        """Import uploaded captions, pictures or both into a new or an existing collection.

        >>> captions, pictures = client.upload("zoo.jsonl"), client.upload("zoo.zip")
        >>> job = client.import_collection("zoo", captions=captions.id, images=pictures.id)
        """
        return self.post(f"/collections/{collection}/imports", JobAnswer, **parameters)

    def import_matches(self, collection: str, *, file: str, source: str, **parameters: Any) -> JobAnswer:
        """Import matches known from elsewhere, from the upload whose id is ``file``."""
        body = {"file": file, "source": source, **parameters}
        return self.post(f"/collections/{collection}/matches", JobAnswer, **body)

    # Annotators

    def annotators(self) -> Iterator[AnnotatorAnswer]:
        """Yield the annotators by name."""
        return self.pages("/annotators", AnnotatorAnswer)

    def add_annotator(self, name: str, kind: str, **parameters: Any) -> JobAnswer:
        """Add an annotator of a kind; ``checkpoint=`` is the id of an upload with its weights, if it has some."""
        return self.post("/annotators", JobAnswer, name=name, kind=kind, **parameters)

    # Rounds

    def rounds(self, **query: Any) -> Iterator[RoundAnswer]:
        """Yield the rounds, the latest first; with ``collection=`` those of one."""
        return self.pages("/rounds", RoundAnswer, **query)

    def round(self, name: str) -> RoundAnswer:
        """Return how far a round is, and what it costs."""
        return self.get(f"/rounds/{name}", RoundAnswer)

    def plan_round(self, round: str, collection: str, annotators: Sequence[str], **parameters: Any) -> JobAnswer:
        """Draw queries, search, pool the proposals and pack them into a draft, which costs nothing yet.

        >>> job = client.plan_round("first", "zoo", ["overlap"], images=20, captions=20, reward="2.50", ceiling="80")
        """
        body = {"round": round, "collection": collection, "annotators": annotators, **parameters}
        return self.post("/rounds", JobAnswer, **body)

    def publish_round(self, round: str, *, ceiling: Decimal | str, channel: str, **parameters: Any) -> JobAnswer:
        """Open a draft to workers. ``ceiling`` repeats what the round may cost; where it is another, nothing is done.

        >>> job = client.publish_round("first", ceiling="80", channel="browser")
        """
        return self.post(f"/rounds/{round}/publish", JobAnswer, ceiling=ceiling, channel=channel, **parameters)

    def import_judgments(self, round: str, *, file: str, **parameters: Any) -> JobAnswer:
        """Take judgments of a draft that were given elsewhere, from the upload whose id is ``file``.

        >>> job = client.import_judgments("first", file=client.upload("project.json").id, levels="Yes=1,No=4")
        """
        return self.post(f"/rounds/{round}/imports", JobAnswer, file=file, **parameters)

    def close_round(self, round: str) -> JobAnswer:
        """Close an open round: workers get no more HITs. Or close a draft with imported judgments."""
        return self.post(f"/rounds/{round}/close", JobAnswer)

    def judgments(self, round: str) -> Iterator[JudgmentAnswer]:
        """Yield the judgments of a round, also those that do not count and those on controls."""
        return self.pages(f"/rounds/{round}/judgments", JudgmentAnswer, limit=1000)

    def judgments_frame(self, round: str) -> DataFrame:
        """Return the judgments of a round as a table, read in one call (needs the extra ``pandas``)."""
        import pandas

        answer = self.send("GET", f"/rounds/{round}/judgments", query={"format": "parquet"})
        return pandas.read_parquet(BytesIO(answer.content))

    def aggregations(self, round: str) -> Iterator[AggregationAnswer]:
        """Yield the methods by which the votes of a round were counted, the latest first."""
        return self.pages(f"/rounds/{round}/aggregations", AggregationAnswer)

    def count_votes(self, round: str, **parameters: Any) -> JobAnswer:
        """Count the votes of a round by a ``method=``: a verdict on every pair."""
        return self.post(f"/rounds/{round}/aggregations", JobAnswer, **parameters)

    def verdicts(self, round: str, **query: Any) -> Iterator[VerdictAnswer]:
        """Yield the verdict of a round's votes on each pair; with ``method=`` counted by it, not by the latest."""
        return self.pages("/verdicts", VerdictAnswer, round=round, **query)

    def reviews(self, **query: Any) -> Iterator[ReviewAnswer]:
        """Yield the reviews as they were made; with ``collection=`` those of one."""
        return self.pages("/reviews", ReviewAnswer, **query)

    def review(self, collection: str, conclusion: str, **parameters: Any) -> list[ReviewAnswer]:
        """Review a pair, an image or a caption: reviews are only added; judgments never change.

        >>> client.review("zoo", "level", image="17", caption="17a", level=1)
        """
        return self.post("/reviews", ReviewsMade, collection=collection, conclusion=conclusion, **parameters).results

    # Versions

    def versions(self) -> Iterator[VersionLine]:
        """Yield the versions, the newest first."""
        return self.pages("/versions", VersionLine)

    def version(self, name: str) -> VersionAnswer:
        """Return the contents of a version, who made it, and its files."""
        return self.get(f"/versions/{name}", VersionAnswer)

    def release_version(self, version: str, collection: str, queries: str, **parameters: Any) -> JobAnswer:
        """Release a version, which never changes, with the queries of a sample.

        >>> job = client.release_version("v1", "zoo", client.round("first").sample, rounds=["first"])
        """
        body = {"version": version, "collection": collection, "queries": queries, **parameters}
        return self.post("/versions", JobAnswer, **body)

    def verify_version(self, name: str) -> JobAnswer:
        """Rebuild a version from its judgments and compare everything with what was released."""
        return self.post(f"/versions/{name}/verifications", JobAnswer)

    def download(self, version: str, path: str | None = None, *, to: Path | str = ".") -> list[Path]:
        """Download a file of a version into a folder, or all of them with its manifest; return where they are.

        What is there already is not sent again, and the checksum of each file is compared with that of the version. Of
        all files, a warning names those that the site refuses, with its reasons.
        """
        found = self.version(version)
        checksums = {one.path: one.sha256 for one in found.files} | {"manifest.json": found.manifest_sha256}
        if path is not None and path not in checksums:
            raise ClientError(f"Version {version} has no file {path!r}; it has {', '.join(checksums)}.")
        arrived = []
        refused = []
        for name in checksums if path is None else [path]:
            try:
                arrived.append(self.fetch(f"/versions/{version}/files/{name}", Path(to) / name, checksums[name]))
            except ApiError as error:
                if path is not None or error.status != 409:  # what the state of the site forbids
                    raise
                refused.append(f"{name}: {error.detail}")
        if refused:
            warnings.warn(f"{len(refused)} of {len(checksums)} files were not sent. {' '.join(refused)}", stacklevel=2)
        return arrived

    def export_version(self, name: str, what: str) -> JobAnswer:
        """Make a download of a version in another format, for ``download_export``."""
        return self.post(f"/versions/{name}/exports", JobAnswer, what=what)

    def version_exports(self, name: str) -> Iterator[ExportLine]:
        """Yield the downloads of a version that were made."""
        return self.pages(f"/versions/{name}/exports", ExportLine)

    def download_export(self, version: str, what: str, *, to: Path | str = ".") -> Path:
        """Download an export that was made, a zip archive, into a folder; return where it is.

        >>> client.wait(client.export_version("v1", "coco_strict"))
        >>> client.download_export("v1", "coco_strict")
        """
        checksums = {one.what: one.sha256 for one in self.version_exports(version)}
        if what not in checksums:
            raise ClientError(f"Version {version} was not exported as {what!r}. Call export_version, and wait.")
        path = f"/versions/{version}/exports/{what}"
        return self.fetch(path, Path(to) / f"{version}-{what}.zip", checksums[what])

    # Models

    def runs(self, **query: Any) -> Iterator[RunLine]:
        """Yield the runs, the latest first; with ``collection=`` or ``version=`` those of one."""
        return self.pages("/runs", RunLine, **query)

    def register_run(self, collection: str, rankings: Path | str | dict[str, Any], *, model: str) -> JobAnswer:
        """Score a model's rankings of a collection on all versions of it: a file, or as JSON has them.

        >>> client.register_run("zoo", {"i2t": {"17": ["17a", "3b"]}, "t2i": {"17a": ["17", "3"]}}, model="mine")
        """
        if isinstance(rankings, dict):
            with TemporaryDirectory() as folder:
                file = Path(folder) / "rankings.json"
                file.write_text(json.dumps(rankings))
                sent = self.upload(file)
        else:
            sent = self.upload(rankings)
        return self.post("/runs", JobAnswer, collection=collection, upload=sent.id, model=model)

    def leaderboard(self, version: str) -> Leaderboard:
        """Return the scores of all models on a version, with their 95% intervals."""
        return self.get(f"/versions/{version}/leaderboard", Leaderboard)

    def leaderboard_frame(self, version: str) -> DataFrame:
        """Return the leaderboard as a table, a row for each figure of each model (needs the extra ``pandas``)."""
        import pandas

        rows = self.leaderboard(version).rows
        return pandas.DataFrame([{"model": row.model, **one.model_dump()} for row in rows for one in row.figures])


def frame(rows: Iterable[BaseModel]) -> DataFrame:
    """Return the rows of a list as a table, a column for each field (needs the extra ``pandas``).

    >>> frame(client.rounds(collection="zoo"))
    """
    import pandas

    return pandas.DataFrame([row.model_dump() for row in rows])
