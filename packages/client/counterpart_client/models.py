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


class BatchLine(BaseModel):
    """An import: what it brought, from which file, by whom and when. ``undone_at``: when it was taken back."""

    name: str
    kind: str
    brought: str
    source: str
    file: str
    by: str
    created_at: AwareDatetime
    undone_at: AwareDatetime | None
    undone_by: str


class SourceAnswer(BaseModel):
    """How many matches a source has, and how many of these it judged to be no match."""

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


class ExampleLook(BaseModel):
    """A caption and the file of its picture with its size; ``picture`` is a small copy as a ``data:`` address."""

    caption: str
    text: str
    image: str
    file: str
    width: int | None
    height: int | None
    picture: str


class SplitLook(BaseModel):
    """A split with its images and new captions, and whether the images become gallery; None where that is undecided."""

    name: str
    images: int
    captions: int
    gallery: bool | None


class SampleAnswer(BaseModel):
    """A fixed set of queries: images and captions, drawn by the seed or listed."""

    name: str
    collection: str
    images: int
    captions: int
    seed: int
    created_at: AwareDatetime


class Samples(BaseModel):
    """A part of the list of samples, by name."""

    results: list[SampleAnswer]
    next: str | None


class OptionAnswer(BaseModel):
    """
    A setting of a kind of annotators. ``by``: a call sets it among the ``options``, or as a file among the
    ``files``, or only the operator sets it.
    """

    name: str
    default: str | float
    description: str
    values: list[str]
    by: Literal["options", "files", "operator"]


class AnnotatorAnswer(BaseModel):
    """
    A model that proposes pairs: its settings, the SHA-256 of its weights, what it was trained on, and where the
    weights come from. ``learns``: whether it can be trained here.
    """

    name: str
    url: str
    kind: str
    options: dict[str, Any]
    checksum: str
    learns: bool
    trained_on: dict[str, Any]
    architecture: dict[str, Any]
    source: str
    licence: str
    searches: int
    created_at: AwareDatetime


class Annotators(BaseModel):
    """A part of the list of annotators, by name."""

    results: list[AnnotatorAnswer]
    next: str | None


class RetrievalAnswer(BaseModel):
    """
    The lists that one annotator made of a gallery, for the queries of a sample or for all. ``gallery``: what was
    searched beyond the collection's rows. ``report``: by direction, shares of lists with equal scores (``blind``),
    decided by ties, in the order of the rows or alike, and hubs; of embeddings, copies and how alike they are.
    """

    id: int
    url: str
    annotator: str
    collection: str
    sample: str | None
    gallery: str | None
    depth: int
    engine: str
    cascade: str | None
    cascade_depth: int | None
    rerank: str
    sha256: str
    seconds: float
    report: dict[str, Any]
    created_at: AwareDatetime


class Retrievals(BaseModel):
    """A part of the list of searches, the latest first."""

    results: list[RetrievalAnswer]
    next: str | None


class PoolAnswer(BaseModel):
    """
    The pairs of the first ``top_k`` places of several annotators' lists. ``filtered_from``: the pool before unlikely
    pairs were dropped, by ``threshold``; ``beyond``: the match source whose pairs were left out.
    """

    name: str
    url: str
    collection: str
    sample: str
    annotators: list[str]
    top_k: int
    control_depth: int
    directions: list[str]
    seed: int
    filtered_from: str | None
    threshold: float | None
    beyond: str
    pairs: int
    proposals: int
    created_at: AwareDatetime


class Pools(BaseModel):
    """A part of the list of pools, the latest first."""

    results: list[PoolAnswer]
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
    worker and ``open`` are free.
    """

    wanted: int
    filled: int
    flagged: int
    at_work: int
    open: int


class RoundAnswer(BaseModel):
    """A round: a pool packed into HITs, and the progress of its judging."""

    name: str
    url: str
    collection: str
    pool: str
    sample: str
    task: str
    state: Literal["draft", "open", "closed"]
    paused: bool
    """no new worker is given a HIT until the round is resumed"""
    paused_by: str
    """us, a person here, the platform, or on the platform, not from here"""
    channel: str
    environment: str
    reward: str
    expected_cost: str
    """cost once all answer sets are in, fees included"""
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


class HoldAnswer(BaseModel):
    """
    A reason why a round waits, and the command that helps. ``goes_on``: it ends by itself; ``by``: who caused it,
    where that is known.
    """

    kind: str
    text: str
    command: str
    by: str
    goes_on: bool


class RoundDetail(BaseModel):
    """A round, and the reasons why it waits: an empty list if it is complete."""

    name: str
    url: str
    collection: str
    pool: str
    sample: str
    task: str
    state: Literal["draft", "open", "closed"]
    paused: bool
    """no new worker is given a HIT until the round is resumed"""
    paused_by: str
    """us, a person here, the platform, or on the platform, not from here"""
    channel: str
    environment: str
    reward: str
    expected_cost: str
    """cost once all answer sets are in, fees included"""
    replication: int
    hits: int
    created_at: AwareDatetime
    published_at: AwareDatetime | None
    closed_at: AwareDatetime | None
    progress: Progress
    ledger: Ledger
    join_link: str | None
    """where workers join an open round of the browser pool"""
    waits_for: list[HoldAnswer]


class JudgmentAnswer(BaseModel):
    """
    The answer of a worker on a pair. ``worker`` is a pseudonym. ``counted`` is whether the answer set was
    accepted. ``control`` is null until the round is closed; then empty for a candidate, or the polarity of the gold
    control. Before, judgments on controls are left out.
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
    The votes of a round counted by one method: ``verdicts`` from ``judgments``; ``certainty`` has what is known of
    how sure they are; how many are wrong is null where ``silent`` says why no number may be said.
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


class VerdictAnswer(BaseModel):
    """
    The result of a round's votes on a pair: its level from 1, certainly a match, to 4, certainly no match.

    ``distribution`` has the shares of the four levels, ``confidence`` that of ``level``. ``probability`` is that of its
    side, match or no match, being right; null where too little was measured to say it, as the round's aggregation
    says, and where an earlier program counted the votes.
    """

    image: str
    caption: str
    level: int
    distribution: list[float]
    confidence: float
    probability: float | None
    votes: int


class Verdicts(BaseModel):
    """A part of the verdicts of a round by one method."""

    results: list[VerdictAnswer]
    next: str | None


class ReviewAnswer(BaseModel):
    """
    The conclusion of a person: the level of a pair, that an image or a caption leaves the dataset (`excluded`), or
    that a pair is `kept` and its votes hold. The latest one holds, once no second person has to agree any more.
    """

    id: int
    collection: str
    image: str | None
    caption: str | None
    conclusion: Literal["level", "excluded", "kept"]
    level: int | None
    grounds: str
    reason: str
    by: str
    at: AwareDatetime
    needs_second: bool
    seconded_by: str | None
    seconded_at: AwareDatetime | None
    undoes: int | None


class Reviews(BaseModel):
    """A part of the reviews, in the order in which they were made."""

    results: list[ReviewAnswer]
    next: str | None


class ReviewsMade(BaseModel):
    """The reviews that an act has made, or that existed already."""

    results: list[ReviewAnswer]


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
    A version with its files; ``manifest.json`` says how they were made.

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


class FigureLine(BaseModel):
    """
    A metric's mean over queries, from 0 to 1, with its interval, null where there is none.

    ``direction`` is `i2t` (images ask for captions), `t2i`, or the `average` of both. ``kind`` says whether it
    was counted, or estimated from a part of the judgments. ``estimand`` is the quantity that it is the mean of.
    ``question``: the interval is of `these` queries, of queries drawn `like` them, or `wide`: of these, with the first
    items of models outside the pool; ``level`` is its confidence.
    """

    direction: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    queries: int
    kind: Literal["counted", "estimated"]
    estimand: str
    question: str
    level: float
    best: bool
    not_significantly_worse: bool


class RowAnswer(BaseModel):
    """The figures of a model. ``run`` is null for rankings that are not registered."""

    model: str
    run: int | None
    figures: list[FigureLine]
    notes: list[str]


class RunLine(BaseModel):
    """One model's rankings of a collection: a file, or the lists of an annotator's search (`retrieval`)."""

    id: int
    url: str
    collection: str
    model: str
    file_name: str
    sha256: str
    retrieval: int | None
    suspicions: list[str]
    registered_by: str | None
    created_at: AwareDatetime


class Runs(BaseModel):
    """A part of the list of runs, the latest first."""

    results: list[RunLine]
    next: str | None


class EstimatesOnRound(BaseModel):
    """What an audit says of a run: its scores if all pairs of the pool were judged."""

    round: str
    figures: list[FigureLine]


class ScoresOnVersion(BaseModel):
    """The scores of a run on a version."""

    version: str
    caution: str
    figures: list[FigureLine]


class BenchmarkLine(BaseModel):
    """A named benchmark of COCO's test images. ``needs_categories``: with COCO's instances_val2014.json alone."""

    name: str
    metrics: list[str]
    needs_categories: bool


class Benchmarks(BaseModel):
    """The named benchmarks."""

    results: list[BenchmarkLine]


class Measured(BaseModel):
    """A model's figures on one named benchmark."""

    benchmark: str
    model: str
    figures: list[FigureLine]
    notes: list[str]


class EventAnswer(BaseModel):
    """Something that happened: ``id`` is the ``webhook-id`` of its deliveries, ``data`` names it and its address."""

    place: int
    id: UUID
    type: str
    timestamp: AwareDatetime
    data: dict[str, Any]


class Events(BaseModel):
    """A part of the list of events, the oldest first."""

    results: list[EventAnswer]
    next: str | None


class BatchAnswer(BaseModel):
    """An import, its collection, the language of its captions where it is known, and what it brought by kind."""

    name: str
    kind: str
    brought: str
    source: str
    file: str
    by: str
    created_at: AwareDatetime
    undone_at: AwareDatetime | None
    undone_by: str
    collection: str
    language: str
    counts: dict[str, int] | None


class NameAnswer(BaseModel):
    """A kind of thing, and its name from now on."""

    kind: str
    name: str


class WebhookAnswer(BaseModel):
    """
    A webhook: it is ``on``, ``failing`` since its last success, or ``off`` for a ``reason``, empty if its owner
    switched it off.
    """

    id: UUID
    url: str
    address: str
    types: list[str]
    state: Literal["on", "failing", "off"]
    reason: str
    failing_since: AwareDatetime | None
    created_at: AwareDatetime


class Webhooks(BaseModel):
    """A part of the list of webhooks, the latest first."""

    results: list[WebhookAnswer]
    next: str | None


class DeliveryAnswer(BaseModel):
    """
    One notification for one webhook. ``message`` is its ``webhook-id``; ``status`` is that of the last answer, null
    if none came; ``due_at`` is when it is tried next, null if it is not.
    """

    id: int
    message: UUID
    type: str
    state: Literal["waiting", "delivered", "failed"]
    attempts: int
    status: int | None
    error: str
    tried_at: AwareDatetime | None
    due_at: AwareDatetime | None


class CollectionAnswer(BaseModel):
    """Captioned images: counts of what a collection has, and its imports, the first one first."""

    name: str
    url: str
    description: str
    images: int
    captions: int
    samples: int
    matches: list[SourceAnswer]
    batches: list[BatchLine]
    created_at: AwareDatetime


class Collections(BaseModel):
    """A part of the list of collections, by name."""

    results: list[CollectionAnswer]
    next: str | None


class ImportLook(BaseModel):
    """What an import would write into a collection, and what it would leave out; ``troubles`` refuse it."""

    collection: str
    layout: str
    format: str
    files: list[str]
    images: int
    captions: int
    captions_there: int
    pictures: int
    splits: list[SplitLook]
    examples: list[ExampleLook]
    names_found_twice: list[str]
    doubtful_ids: list[str]
    missing_pictures: list[str]
    broken_pictures: list[str]
    bad_rows: list[str]
    left_out: list[str]
    troubles: list[str]


class LookAnswer(BaseModel):
    """
    What a look found in uploaded files: ``trouble`` says why an import of them is refused, if it is; without a
    ``look`` they cannot be read.
    """

    look: ImportLook | None
    """what an import would write and leave out"""
    trouble: str


class KindAnswer(BaseModel):
    """
    A kind of annotators: whether it needs files, can be trained, and scores pair by pair; its losses, the default
    first, and its settings.
    """

    kind: str
    checkpoint: Literal["required", "optional", "none"]
    learns: bool
    pair_by_pair: bool
    losses: list[str]
    options: list[OptionAnswer]


class Kinds(BaseModel):
    """All kinds of annotators."""

    results: list[KindAnswer]
    next: None


class Leaderboard(BaseModel):
    """
    Models on a version, the best average mAP@R first. ``caution`` says why the scores are biased, if they are.
    ``policies``: how ties, and ranks beyond the end of a list, are counted.
    """

    version: str
    caution: str
    policies: dict[str, str]
    rows: list[RowAnswer]


class RunAnswer(BaseModel):
    """A run with its scores on each version, and what audits estimate of it."""

    id: int
    url: str
    collection: str
    model: str
    file_name: str
    sha256: str
    retrieval: int | None
    suspicions: list[str]
    registered_by: str | None
    created_at: AwareDatetime
    policies: dict[str, str]
    scores: list[ScoresOnVersion]
    estimates: list[EstimatesOnRound]


class BenchmarkAnswer(BaseModel):
    """The figures that a job has measured; empty before it is done."""

    job: JobAnswer
    results: list[Measured]


class Deliveries(BaseModel):
    """A part of the list of deliveries, the oldest first."""

    results: list[DeliveryAnswer]
    next: str | None
