"""The list of rounds; and the Overview of one: its progress, which follows the work, its next step, what needs a
person."""

from functools import partial
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache

from annotation.judging.wage_terms import wage_terms
from annotation.money.ledger import owed_to_simulated
from annotation.people.consent import empty_words, words_of
from annotation.work.judgments import votes_in
from annotation.work.pair_status import unfinished_pairs
from annotation.work.standing import forecast_of, standing_of, standings
from annotation.work.worker_records import workers_of
from console.home.needs import needs_of
from console.kept_figures import Kept, kept_if_slow
from console.money.platform_status import is_on_platform
from console.pagination import page_of
from console.permissions import StaffRequest, members_only
from console.places import show
from console.rounds.activity import activity_of
from console.rounds.figures import level_bar, newest_answers, seat_bar, workers_to_look_at
from console.rounds.next_steps import holds_of_page, is_joined_by_link, next_step
from console.rounds.rehearsal import rehearsal_figures
from console.rounds.schemas import counted_rounds, round_or_404
from crowd.channels import market_of
from crowd.posting.publication import join_link
from dataset.judged.verdict_files import count_verdicts
from dataset.models import Aggregation
from dataset.secret_controls import are_pairs_secret
from dataset.turns import turn_of
from dataset.verdicts import rejections_so_far
from evaluation.asking.greedy_rounds import why_stopped
from evaluation.round_quality import quality_of
from hits.judge_designs import queries_of
from hits.models import Round
from hits.rounds.top_ups import design_of
from hits.task_types import task_type_of

MANY = 5_000  # answer sets whose figures take about a second


@members_only.reads("rounds/")
def rounds(request: HttpRequest) -> HttpResponse:
    rows = page_of(request, counted_rounds())
    shown = list(rows)
    known = standings(shown)
    lines = [(one, known[one.pk]) for one in shown]
    return render(request, "console/rounds/rounds.html", {"rows": rows, "lines": lines, "things": "rounds"})


@members_only.reads("rounds/<slug:name>/")
def round(request: StaffRequest, name: str) -> HttpResponse:
    """A round. live.js fetches the part that changes while people work, and figures that take long; ``?count`` computes
    them at once."""
    round = get_object_or_404(counted_rounds(), name=name)
    live = _live(round, request.user, waits="count" in request.GET)
    aggregation = round.aggregations.first()
    context = live | {
        "next": next_step(round, live["standing"], live["needs"], request.user),
        "environment": market_of(round.channel, round.environment) if round.channel else None,
        "platform": is_on_platform(round),
        "aggregation": aggregation,
        "verdict_count": _verdict_count(aggregation) if aggregation else 0,
        "added_for": [(one.purpose, one.n_hits) for one in round.top_ups.of_new_pairs().annotate(n_hits=Count("hits"))],
        **_stops(round),
        "turn": turn_of(round.pool),
    }
    if round.state == "draft":
        context["empty_words"] = empty_words(round).values() if round.reward else ()
        context["rehearsed"] = rehearsal_figures(round)
    if is_joined_by_link(round):
        context |= _joining(round)
    return show(request, "console/rounds/round.html", round, context)


def _verdict_count(aggregation: Aggregation) -> int:
    key = f"verdicts:{aggregation.pk}:{aggregation.at.isoformat()}"
    return kept_if_slow(key, partial(count_verdicts, aggregation)).figures


def _joining(round: Round) -> dict[str, Any]:
    """Return the join link, what a HIT takes, and the text of a mail."""
    link = join_link(round)
    terms = wage_terms(round)
    mail = render_to_string("console/rounds/join_mail.txt", {"link": link, "terms": terms, "asks": words_of(round)})
    subject, _, body = mail.partition("\n")
    return {"link": link, "terms": terms, "mail": {"subject": subject, "body": body.strip()}}


def _stops(round: Round) -> dict[str, str]:
    """Return when a greedy round stops, why it stopped, and a note if only few queries guard its scores."""
    design = design_of(round)
    if not design.greedy:
        return {}
    note = design.guard_note(queries_of(round.pool))
    return {"stops_at": design.stop_text, "why_stopped": why_stopped(round), "guard_note": note}


@members_only.reads("rounds/<slug:name>/live/")
@never_cache
def round_live(request: StaffRequest, name: str) -> JsonResponse:
    """Polled by live.js: whether the round is open, and the part of its page that changes while people work."""
    round = round_or_404(name)
    context = _live(round, request.user, waits=True)
    html = render_to_string("console/rounds/_round_live.html", context, request)
    return JsonResponse({"live": round.state == "open" or context["counting"], "html": html})


def _live(round: Round, user: User, *, waits: bool) -> dict[str, Any]:
    """Return the context of the live part, with a constant number of queries. Unless the request ``waits``, figures of
    MANY answer sets are left out (``counting``) if they were not computed lately."""
    standing = kept_if_slow(f"standing-of-round:{round.pk}", partial(standing_of, round)).figures
    forecast = kept_if_slow(
        f"forecast-of-round:{round.pk}:{round.takes_workers}", partial(forecast_of, round, standing)
    )
    key = f"figures-of-round:{round.pk}"
    kept: Kept[dict[str, object]] | None = (
        kept_if_slow(key, partial(_figures, round)) if waits or standing.arrived < MANY else cache.get(key)
    )
    context: dict[str, Any] = {
        "round": round,
        "task": task_type_of(round),
        "standing": standing,
        "seats": seat_bar(standing),
        "forecast": forecast.figures,
        "needs": needs_of(round, user),
        "holds": holds_of_page(round, standing),
        "n_joined": round.participants.count(),
        "newest": []
        if are_pairs_secret(round, user)
        else kept_if_slow(f"newest-of-round:{round.pk}", partial(newest_answers, round)).figures,
        "counting": kept is None,
    }
    return context | ({**kept.figures, "old_since": kept.old_since} if kept else {})


def _figures(round: Round) -> dict[str, object]:
    """Return the figures that read all answer sets, judgments and items."""
    quality = quality_of(round)
    task = task_type_of(round)
    votes = np.array(list(quality.levels.values()))
    workers = workers_of(round)
    some_simulated = round.rehearsal or any(line.simulated for line in workers)
    simulated = votes_in(round).simulated().count() if some_simulated else 0
    return {
        "quality": quality,
        "levels": level_bar(quality.levels, task.labels),
        "score": task.score(votes / votes.sum()) if task.score_label and votes.any() else None,
        "simulated": simulated,
        "owed_to_simulated": owed_to_simulated(round) if simulated else None,
        "unfinished": unfinished_pairs(round),
        "rejections": rejections_so_far(round),
        "looks": workers_to_look_at(round, workers),
        "n_workers": len(workers),
        **activity_of(round),
    }
