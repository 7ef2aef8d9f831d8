"""Rounds for programs: plan, publish and close them; their progress, cost and judgments."""

import json
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from ninja import Query, Schema

from console import upload_jobs
from console.api.bearer import ApiRequest
from console.api.file_answers import FILES, Format, as_file
from console.api.keysets import Place, cut, part_of
from console.api.operations import Resources
from console.api.problems import Problem
from console.home.resources import JobAnswer
from console.rounds.schemas import RoundAnswer, RoundDetail, RoundState, counted_rounds, round_or_404, with_states
from console.uploads import start_with_sent
from core.errors import CounterpartError
from core.models import Job
from core.work.jobs import open_once
from crowd import channels
from crowd import jobs as crowd_jobs
from crowd.channels import find_market, market_of
from crowd.offers import Offer, offer_of
from crowd.posting.publication import BELOW_FLOOR, can_close
from crowd.posting.publish_parameters import AdmissionParameters, PublishParameters, TimeParameters
from dataset import jobs as dataset_jobs
from dataset.judged.listed_answers import COLUMNS, judgment_lines, judgments_of
from dataset.judged.verdict_files import count_verdicts
from dataset.outside_judgments.judgment_parameters import JudgmentParameters
from dataset.releases.release_parameters import AggregateParameters
from dataset.secret_controls import refuse_secret_pairs
from hits.jobs import start_packing
from hits.models import Round
from hits.rounds.pipeline import start_pipeline
from hits.rounds.round_parameters import DollarField, NewRoundParameters, RoundParameters
from mitl.models import Pool

resources = Resources("Rounds")


class JudgmentAnswer(Schema):
    """The answer of a worker on a pair. ``worker`` is a pseudonym. ``counted`` is whether the answer set was
    accepted. ``control`` is null until the round is closed; then empty for a candidate, or the polarity of the gold
    control. Before, judgments on controls are left out."""

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


class AggregationAnswer(Schema):
    """The votes of a round counted by one method: ``verdicts`` from ``judgments``; ``certainty`` has what is known of
    how sure they are; how many are wrong is null where ``silent`` says why no number may be said."""

    method: str
    ties: str
    seed: int
    judgments: int
    verdicts: int
    certainty: dict[str, Any] | None
    at: datetime

    resolve_verdicts = staticmethod(count_verdicts)


class PublishCall(PublishParameters, Offer, AdmissionParameters, TimeParameters):
    """Where a round is published, for whom, and the ceiling of its cost."""

    ceiling: Annotated[Decimal, DollarField(max_digits=12, help_text="the round's ceiling, to confirm it")]


class SentJudgments(JudgmentParameters):
    """Uploaded judgments that were given elsewhere, by the id of their file."""

    file: Annotated[str, "id of the upload with the judgments: a table, of ours, or of another tool; or a zip file"]
    items_file: Annotated[str, "of Potato and tables: id of the upload with the project's data file"] = ""


@resources.lists("/rounds", "rounds:read", RoundAnswer, "A part of the list of rounds, the latest first.")
def rounds(request: ApiRequest, place: Query[Place], collection: str = "") -> dict[str, Any]:
    """List the rounds, the latest first; of one collection, if it is named."""
    rows = counted_rounds()
    named = rows.filter(pool__collection__name=collection) if collection else rows
    return part_of(named, place, key="name", newest="created_at", read=with_states)


@resources.acts("/rounds", "rounds:write", JobAnswer)
def plan_round(request: ApiRequest, parameters: RoundParameters) -> Job:
    """Plan a round: draw queries, search, pool the proposals and pack them into a draft. Nothing is published."""
    _check_free(parameters.round)
    return start_pipeline(parameters, by=request.user)


@resources.acts("/pools/{pool}/rounds", "rounds:write", JobAnswer)
def pack_pool(request: ApiRequest, pool: str, parameters: NewRoundParameters) -> Job:
    """Pack the pairs of a pool into HITs of a draft round. Nothing is published."""
    found = get_object_or_404(Pool, name=pool)
    _check_free(parameters.round)
    return start_packing(found, parameters, by=request.user)


@resources.reads("/rounds/{round}", "rounds:read", RoundDetail, url_name="round")
def round(request: ApiRequest, round: str) -> RoundState:
    """Describe a round: its progress, its cost, and its holds."""
    (found,) = with_states([get_object_or_404(counted_rounds(), name=round)])
    return found


@resources.acts("/rounds/{round}/publish", "rounds:spend", JobAnswer)
def publish_round(request: ApiRequest, round: str, parameters: PublishCall) -> Job:
    """Open a draft to workers. The body repeats the round's ceiling: with another ceiling the call is refused, and the
    round never costs more. Where publishing spends real money, `yes_spend_money` is needed too."""
    found = round_or_404(round)
    if found.state != "draft":
        raise Problem(409, f"Round {found} is already {found.state}.")
    if parameters.ceiling != found.ceiling:
        raise Problem(409, f"The ceiling of round {found} is ${found.ceiling}, not ${parameters.ceiling}.")
    environment = parameters.environment or next(iter(channels.get(parameters.channel).environments), "")
    market = find_market(market_of(parameters.channel, environment).key)
    if market.spends and not parameters.yes_spend_money:
        raise CounterpartError(f"Publishing on {market} spends real money: set yes_spend_money.")
    if parameters.below_floor and not request.user.has_perm(BELOW_FLOOR):
        raise Problem(403, "Only an admin may publish below the wage floor.")
    params = {
        "round": found.name,
        "channel": market.channel,
        "environment": market.environment,
        "ceiling": str(parameters.ceiling),
        "offer": offer_of(found, parameters.part(Offer)).as_json(),
        "admission": parameters.part(AdmissionParameters).as_json(),
        **parameters.part(TimeParameters).as_json(),
        "skip_missing": parameters.skip_missing,
    }
    title = f"Publish {found} on {market}"
    return open_once(title, crowd_jobs.publish.name, params, lock=found, same=["round"], by=request.user)


@resources.acts("/rounds/{round}/close", "rounds:spend", JobAnswer)
def close_round(request: ApiRequest, round: str) -> Job:
    """Close an open round: no more HITs are given out, and workers may still submit HITs that they have begun. Or close
    a draft with judgments that were given elsewhere: it can no longer be published."""
    found = round_or_404(round)
    if not can_close(found):
        why = "has no judgments" if found.state == "draft" else "is already closed"
        raise Problem(409, f"Round {found} cannot be closed: it {why}.")
    params = {"round": found.name}
    return open_once(f"Close {found}", dataset_jobs.close.name, params, lock=found, by=request.user)


@resources.lists(
    "/rounds/{round}/judgments",
    "judgments:read",
    JudgmentAnswer,
    "A part of the judgments of a round, by HIT, answer set and place.",
    files=FILES,
)
def judgments(request: ApiRequest, round: str, place: Query[Place], format: Format = "json") -> HttpResponseBase:
    """List the judgments of a round, also those that do not count, and once it is closed those on controls; with a
    `format`, all of them in one file. While the round is open, new answers may appear at any place: read it again."""
    found = round_or_404(round)
    refuse_secret_pairs(found, request.user)
    if format != "json":
        return as_file(judgment_lines(found, judgments_of(found)), COLUMNS, format, f"{found}-judgments")
    rows = judgments_of(found, place.after)[: place.limit + 1]
    part = cut([*judgment_lines(found, rows)], place.limit, key="id")
    return HttpResponse(json.dumps(part), content_type="application/json")


@resources.acts("/rounds/{round}/imports", "rounds:write", JobAnswer)
def import_judgments(request: ApiRequest, round: str, parameters: SentJudgments) -> Job:
    """Take judgments of the round's pairs that were given elsewhere, all or none. The round must not be open."""
    found = round_or_404(round)
    if found.state == "open":
        raise Problem(409, f"Round {found} is open: close it first, or import into a draft.")
    params = {"round": found.name, **parameters.part(JudgmentParameters).as_json()}
    sent = {"file": parameters.file, "items": parameters.items_file}
    return start_with_sent(
        f"Import judgments into {found}", upload_jobs.import_judgments.name, params, sent, by=request.user
    )


@resources.lists(
    "/rounds/{round}/aggregations",
    "dataset:read",
    AggregationAnswer,
    "The counts of a round, one a method, the latest first.",
)
def aggregations(request: ApiRequest, round: str, place: Query[Place]) -> dict[str, Any]:
    """List the methods by which the votes of a round were counted."""
    return part_of(round_or_404(round).aggregations.all(), place, key="method", newest="at")


@resources.acts("/rounds/{round}/aggregations", "dataset:write", JobAnswer)
def count_votes(request: ApiRequest, round: str, parameters: AggregateParameters) -> Job:
    """Count the votes of a round: a verdict on every pair. Earlier verdicts by the same method are replaced."""
    round_or_404(round)
    return dataset_jobs.start_aggregation(parameters, by=request.user)


def _check_free(name: str) -> None:
    if Round.objects.filter(name=name).exists():
        raise Problem(409, f"Round {name} already exists. Choose another name.")
