"""What the site answers: written by tests/client/write_models.py from the description of its API."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel


class Me(BaseModel):
    """The account and the token of a call."""

    user: str
    token: str
    scopes: list[str]
    expires_at: AwareDatetime


class JobAnswer(BaseModel):
    """Long work: ``done`` of ``total`` counts the current ``step``; ``message`` is the outcome, or why it failed."""

    id: UUID
    url: str
    title: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    step: str
    done: int
    total: int | None
    message: str
    created_at: AwareDatetime
    finished_at: AwareDatetime | None


class Jobs(BaseModel):
    """A part of the list of jobs, the latest first."""

    results: list[JobAnswer]
    next: str | None


class SignedPut(BaseModel):
    """Where the bytes go: send them there with PUT and these headers within an hour."""

    url: str
    headers: dict[str, str]


class UploadAnswer(BaseModel):
    """A file that can be imported under its ``id``. Where ``put`` is not null, its bytes are still to be sent there."""

    id: str
    sha256: str
    size: int
    put: SignedPut | None


class SourceAnswer(BaseModel):
    """How many matches a source knows, and how many of these it judged to be none."""

    source: str
    matches: int
    rejected: int


class ImageAnswer(BaseModel):
    """
    An image. ``picture`` is an address that shows it for an hour, without a token: null where it was not imported.
    ``excluded``: reviewers took it out of the dataset.
    """

    key: str
    file_name: str
    width: int | None
    height: int | None
    split: str
    excluded: bool
    picture: str | None


class Images(BaseModel):
    """A part of the images of a collection, by key."""

    results: list[ImageAnswer]
    next: str | None


class CaptionAnswer(BaseModel):
    """A caption, and the key of the image it was written for. ``excluded``: reviewers took it out of the dataset."""

    key: str
    image: str
    text: str
    excluded: bool


class Captions(BaseModel):
    """A part of the captions of a collection, by key."""

    results: list[CaptionAnswer]
    next: str | None


class MatchAnswer(BaseModel):
    """A pair that a source knows, with its own score, and its level from 1 (100% YES) to 4 if it has levels."""

    id: int
    source: str
    image: str
    caption: str
    score: float | None
    grade: int | None


class Matches(BaseModel):
    """A part of the matches of a collection."""

    results: list[MatchAnswer]
    next: str | None


class Ledger(BaseModel):
    """US dollars as decimal text, fees included: the accounts of the round, which sum to zero with ``ceiling``."""

    ceiling: str
    free: str
    planned: str
    held: str
    owed: str
    paid: str
    fees: str


class Progress(BaseModel):
    """
    Answer sets: ``wanted`` in all; of these ``filled`` count, ``flagged`` wait for a person, ``at_work`` are with a
    worker and ``open`` with nobody.
    """

    wanted: int
    filled: int
    flagged: int
    at_work: int
    open: int


class RoundAnswer(BaseModel):
    """A round: a pool packed into HITs, and how far its judging is."""

    name: str
    url: str
    collection: str
    pool: str
    sample: str
    task: str
    state: Literal["draft", "open", "closed"]
    paused: bool
    channel: str
    environment: str
    reward: str
    replication: int
    hits: int
    created_at: AwareDatetime
    published_at: AwareDatetime | None
    closed_at: AwareDatetime | None
    progress: Progress
    ledger: Ledger
    join_link: str | None
    """where workers join an open round of the browser pool"""


class Rounds(BaseModel):
    """A part of the list of rounds, the latest first."""

    results: list[RoundAnswer]
    next: str | None


class JudgmentAnswer(BaseModel):
    """
    What one worker answered on one pair. ``worker`` is a pseudonym. ``counted`` is whether the answer set was
    accepted. ``control`` is null until the round is closed; then empty for a candidate, or the polarity of the gold
    control.
    """

    id: int
    hit: int
    place: int
    image: str | None
    caption: str | None
    level: int
    shortcoming: str
    wrong_way: str
    text: str
    seconds: int | None
    at: str
    worker: str
    simulated: bool
    counted: bool
    control: str | None


class Judgments(BaseModel):
    """A part of the judgments of a round, by HIT, answer set and place."""

    results: list[JudgmentAnswer]
    next: str | None


class AggregationAnswer(BaseModel):
    """
    The votes of a round counted by one method: ``verdicts`` from ``judgments``; ``certainty`` has what is estimated
    of the verdicts, such as how many are expected to be wrong.
    """

    method: str
    ties: str
    seed: int
    judgments: int
    verdicts: int
    certainty: dict[str, Any] | None
    at: AwareDatetime


class Aggregations(BaseModel):
    """The counts of a round, one a method, the latest first."""

    results: list[AggregationAnswer]
    next: str | None


class VersionLine(BaseModel):
    """
    A released dataset, which never changes.

    ``software`` released it. ``counts`` are those of its manifest: queries, positives, judged pairs, votes.
    """

    name: str
    url: str
    collection: str
    sample: str
    rounds: list[str]
    released_at: AwareDatetime
    software: str
    title: str
    doi_or_url: str
    licence: str
    counts: dict[str, int | dict[str, int]]


class Versions(BaseModel):
    """A part of the list of versions, the newest first."""

    results: list[VersionLine]
    next: str | None


class Author(BaseModel):
    """An author, with their ORCID iD (``0000-0001-5000-0007``) if it is known."""

    name: str
    orcid: str | None = ""


class FileLine(BaseModel):
    """A file of a version."""

    path: str
    url: str
    size: int
    sha256: str


class VersionAnswer(BaseModel):
    """
    A version with its files; ``manifest.json`` tells how they were made.

    ``caution`` says why scores on it are biased, if they are; ``verification`` is the job that last rebuilt it.
    """

    name: str
    url: str
    collection: str
    sample: str
    rounds: list[str]
    released_at: AwareDatetime
    software: str
    title: str
    doi_or_url: str
    licence: str
    counts: dict[str, int | dict[str, int]]
    authors: list[Author]
    description: str
    citation: str
    manifest_sha256: str
    files: list[FileLine]
    caution: str
    verification: JobAnswer | None


class ExportLine(BaseModel):
    """A download that was made: an archive (zip) of a version's files in a format."""

    what: str
    url: str
    sha256: str


class Exports(BaseModel):
    """The downloads of a version that were made."""

    results: list[ExportLine]


class CollectionAnswer(BaseModel):
    """Captioned images that were imported together: counts of what it has."""

    name: str
    url: str
    description: str
    images: int
    captions: int
    samples: int
    matches: list[SourceAnswer]
    created_at: AwareDatetime


class Collections(BaseModel):
    """A part of the list of collections, by name."""

    results: list[CollectionAnswer]
    next: str | None
