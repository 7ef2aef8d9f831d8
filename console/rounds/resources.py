"""Rounds for programs: plan, publish and close them; how far they are, what they cost, what was judged."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Field, Query, Schema

from annotation.money.ledger import Balance, balances_of
from annotation.work.standing import Standing, standings
from console import upload_jobs
from console.api.bearer import ApiRequest
from console.api.keysets import Place, cut, part_of
from console.api.operations import Resources
from console.api.problems import Problem
from console.api.row_files import FILES, Format, as_file
from console.home.resources import JobAnswer
from console.pagination import count_of
from console.permissions import is_admin
from console.rounds.judgment_lists import COLUMNS, judgment_lines, judgments_of
from console.uploads import start_with_sent
from core.errors import CounterpartError
from core.jobs import open_once
from core.models import Job
from core.text import NameField
from crowd import channels
from crowd import jobs as crowd_jobs
from crowd.channels import find_market, market_of
from crowd.offers import Offer, offer_of
from crowd.publication import join_link
from crowd.publish_parameters import AdmissionParameters, PublishParameters, TimeParameters
from dataset import jobs as dataset_jobs
from dataset.models import Aggregation
from dataset.outside_judgments.judgment_parameters import JudgmentParameters
from dataset.release_parameters import AggregateParameters
from dataset.verdict_files import count_verdicts
from hits.jobs import start_packing
from hits.models import HIT, Round, Seat
from hits.pipeline import start_pipeline
from hits.prices import cents
from hits.round_parameters import DollarField, PackParameters, RoundParameters
from mitl.models import Pool

resources = Resources("Rounds")


class Progress(Schema):
    """Answer sets: ``wanted`` in all; of these ``filled`` count, ``flagged`` wait for a person, ``at_work`` are with a
    worker and ``open`` with nobody."""

    wanted: int
    filled: int
    flagged: int
    at_work: int
    open: int


class Ledger(Schema):
    """US dollars as decimal text, fees included: the accounts of the round, which sum to zero with ``ceiling``."""

    ceiling: str
    free: str
    planned: str
    held: str
    owed: str
    paid: str
    fees: str


class RoundAnswer(Schema):
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
    expected_cost: Annotated[str, Field(description="cost once all answer sets are in, fees included")]
    replication: int
    hits: int
    created_at: datetime
    published_at: datetime | None
    closed_at: datetime | None
    progress: Progress
    ledger: Ledger
    join_link: Annotated[str | None, Field(description="where workers join an open round of the browser pool")]


class Rounds(Schema):
    """A part of the list of rounds, the latest first."""

    results: list[RoundAnswer]
    next: str | None


class JudgmentAnswer(Schema):
    """What one worker answered on one pair. ``worker`` is a pseudonym. ``counted`` is whether the answer set was
    accepted. ``control`` is null until the round is closed; then empty for a candidate, or the polarity of the gold
    control."""

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


class Judgments(Schema):
    """A part of the judgments of a round, by HIT, answer set and place."""

    results: list[JudgmentAnswer]
    next: str | None


class AggregationAnswer(Schema):
    """The votes of a round counted by one method: ``verdicts`` from ``judgments``; ``certainty`` has what is estimated
    of the verdicts, such as how many are expected to be wrong."""

    method: str
    ties: str
    seed: int
    judgments: int
    verdicts: int
    certainty: dict[str, Any] | None
    at: datetime


class Aggregations(Schema):
    """The counts of a round, one a method, the latest first."""

    results: list[AggregationAnswer]
    next: str | None


@dataclass(frozen=True, kw_only=True)
class PublishCall(PublishParameters, Offer, AdmissionParameters, TimeParameters):
    """Where a round is published, for whom, and at which cost at most."""

    ceiling: Annotated[Decimal, DollarField(max_digits=12, help_text="the round's ceiling, to confirm it")]


@dataclass(frozen=True, kw_only=True)
class PackCall(PackParameters):
    """The round that a pool is packed into."""

    round: Annotated[str, NameField(help_text="name of the new round")]


@dataclass(frozen=True, kw_only=True)
class SentJudgments(JudgmentParameters):
    """Uploaded judgments that were given elsewhere, by the id of their file."""

    file: Annotated[str, "id of the upload with the judgments: of ours, Label Studio, Potato or Argilla; or a zip file"]
    items_file: Annotated[str, "of Potato: id of the upload with the project's data file"] = ""


@resources.reads("/rounds", "rounds:read", Rounds)
def rounds(request: ApiRequest, place: Query[Place], collection: str = "") -> dict[str, Any]:
    """List the rounds, the latest first; of one collection, if it is named."""
    rows = Round.objects.select_related("pool__collection", "pool__sample").annotate(n_hits=count_of(HIT, "round"))
    found = part_of(
        rows.filter(pool__collection__name=collection) if collection else rows, place, key="name", newest="created_at"
    )
    return found | {"results": _told(found["results"])}


@resources.acts("/rounds", "rounds:write", JobAnswer)
def plan_round(request: ApiRequest, parameters: RoundParameters) -> Job:
    """Plan a round: draw queries, search, pool the proposals and pack them into a draft. Nothing is published."""
    _check_free(parameters.round)
    return start_pipeline(parameters, by=request.user)


@resources.acts("/pools/{pool}/rounds", "rounds:write", JobAnswer)
def pack_pool(request: ApiRequest, pool: str, parameters: PackCall) -> Job:
    """Pack the pairs of a pool into HITs of a draft round. Nothing is published."""
    found = get_object_or_404(Pool, name=pool)
    _check_free(parameters.round)
    return start_packing(parameters.round, found, parameters.part(PackParameters), by=request.user)


@resources.reads("/rounds/{round}", "rounds:read", RoundAnswer, url_name="round")
def round(request: ApiRequest, round: str) -> dict[str, Any]:
    """Tell how far a round is, and what it costs."""
    return _told([_found(round)])[0]


@resources.acts("/rounds/{round}/publish", "rounds:spend", JobAnswer)
def publish_round(request: ApiRequest, round: str, parameters: PublishCall) -> Job:
    """Open a draft to workers. The body repeats the round's ceiling: nothing is published where it is another one, and
    nothing costs more. Where publishing spends real money, `yes_spend_money` is needed too."""
    found = _found(round)
    if found.state != "draft":
        raise Problem(409, f"Round {found} is already {found.state}.")
    if parameters.ceiling != found.ceiling:
        raise Problem(409, f"The ceiling of round {found} is ${found.ceiling}, not ${parameters.ceiling}.")
    environment = parameters.environment or next(iter(channels.get(parameters.channel).environments), "")
    market = find_market(market_of(parameters.channel, environment).key)
    if market.spends and not parameters.yes_spend_money:
        raise CounterpartError(f"Publishing on {market} spends real money: set yes_spend_money.")
    if parameters.below_floor and not is_admin(request.user):
        raise Problem(403, "Only an admin may publish below the wage floor.")
    params = {
        **{"round": found.name, "channel": market.channel, "environment": market.environment},
        "offer": offer_of(found, parameters.part(Offer)).as_json(),
        "admission": parameters.part(AdmissionParameters).as_json(),
        **parameters.part(TimeParameters).as_json(),
        "skip_missing": parameters.skip_missing,
    }
    title = f"Publish {found} on {market}"
    return open_once(title, crowd_jobs.publish.name, params, lock=found, same=["round"], by=request.user)


@resources.acts("/rounds/{round}/close", "rounds:spend", JobAnswer)
def close_round(request: ApiRequest, round: str) -> Job:
    """Close an open round: nobody gets a HIT any more, and what workers have begun may still be submitted."""
    found = _found(round)
    if found.state != "open":
        raise Problem(409, f"Round {found} is not open: it is {found.state}.")
    params = {"round": found.name}
    return open_once(f"Close {found}", dataset_jobs.close.name, params, lock=found, by=request.user)


@resources.reads("/rounds/{round}/judgments", "judgments:read", Judgments, files=FILES)
def judgments(request: ApiRequest, round: str, place: Query[Place], format: Format = "json") -> HttpResponseBase:
    """List the judgments of a round, also those that do not count and those on controls; with a `format`, all of them
    in one file. While the round is open, later answers may come at any place: read it again."""
    found = _found(round)
    if format != "json":
        return as_file(judgment_lines(found, judgments_of(found)), COLUMNS, format, f"{found}-judgments")
    rows = judgments_of(found, place.after)[: place.limit + 1]
    part = cut([*judgment_lines(found, rows)], place.limit, key="id")
    return HttpResponse(json.dumps(part), content_type="application/json")


@resources.acts("/rounds/{round}/imports", "rounds:write", JobAnswer)
def import_judgments(request: ApiRequest, round: str, parameters: SentJudgments) -> Job:
    """Take judgments of the round's pairs that were given elsewhere, all or none. The round must not be open."""
    found = _found(round)
    if found.state == "open":
        raise Problem(409, f"Round {found} is open: close it first, or import into a draft.")
    params = {"round": found.name, **parameters.part(JudgmentParameters).as_json()}
    sent = {"file": parameters.file, "items": parameters.items_file}
    return start_with_sent(
        f"Import judgments into {found}", upload_jobs.import_judgments.name, params, sent, by=request.user
    )


@resources.reads("/rounds/{round}/aggregations", "dataset:read", Aggregations)
def aggregations(request: ApiRequest, round: str, place: Query[Place]) -> dict[str, Any]:
    """List the methods by which the votes of a round were counted."""
    found = part_of(_found(round).aggregations.all(), place, key="method", newest="at")
    return found | {"results": [_of_aggregation(one) for one in found["results"]]}


@resources.acts("/rounds/{round}/aggregations", "dataset:write", JobAnswer)
def count_votes(request: ApiRequest, round: str, parameters: AggregateParameters) -> Job:
    """Count the votes of a round: a verdict on every pair. The verdicts of the same method are replaced."""
    _found(round)
    return dataset_jobs.start_aggregation(parameters, by=request.user)


def _check_free(name: str) -> None:
    if Round.objects.filter(name=name).exists():
        raise Problem(409, f"There is a round {name} already. Choose another name.")


def _found(name: str) -> Round:
    rows = Round.objects.select_related("pool__collection", "pool__sample").annotate(n_hits=count_of(HIT, "round"))
    return get_object_or_404(rows, name=name)


def _told(rounds: Sequence[Round]) -> list[dict[str, Any]]:
    """Return rounds as they are answered, with as many queries for many as for one."""
    standing, balances = standings(rounds), balances_of(rounds)
    return [_of_round(one, standing[one.pk], balances[one.pk]) for one in rounds]


def _of_round(round: Round, standing: Standing, balance: Balance) -> dict[str, Any]:
    accounts = balance.accounts()
    seats = standing.seats
    names = (
        "name",
        "task",
        "state",
        "channel",
        "environment",
        "replication",
        "created_at",
        "published_at",
        "closed_at",
    )
    is_joined_here = round.state == "open" and round.channel == "browser"
    return {name: getattr(round, name) for name in names} | {
        "url": reverse("api:round", args=[round.name]),
        "collection": round.pool.collection.name,
        "pool": round.pool.name,
        "sample": round.pool.sample.name,
        "paused": round.paused_at is not None,
        "reward": str(round.reward),
        "expected_cost": str(cents(standing.expected_cost)),
        "hits": round.n_hits,  # type: ignore[attr-defined]
        "progress": {
            "wanted": standing.wanted,
            "filled": standing.filled,
            "flagged": standing.waiting,
            "at_work": max(seats[Seat.State.TAKEN] - standing.waiting, 0),
            "open": seats[Seat.State.OPEN],
        },
        "ledger": {name: str(cents(amount)) for name, amount in accounts.items() if name != "outside"}
        | {"ceiling": str(round.ceiling)},
        "join_link": join_link(round) if is_joined_here else None,
    }


def _of_aggregation(aggregation: Aggregation) -> dict[str, Any]:
    names = ("method", "ties", "seed", "judgments", "certainty", "at")
    return {name: getattr(aggregation, name) for name in names} | {"verdicts": count_verdicts(aggregation)}
