"""The page of a HIT, at whichever address its worker has it."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from annotation.answers import drafted_answers, places_among
from annotation.consent import contact
from annotation.judging.links import address_of_pictures, copy_key, visit_behind
from annotation.judging.sheet import milliseconds, sheet_of, shown_in
from annotation.leases import can_extend, longest_lease
from annotation.models import Assignment
from annotation.reports import reported_problems
from hits.task_types import task_type_of


def hit_page(request: HttpRequest, assignment: Assignment, *, address: str, problem: str = "") -> HttpResponse:
    """Show the pairs and what was answered so far. Its form goes to ``address``; ``problem`` says why a submission was
    not taken."""
    round = assignment.hit.round
    task = task_type_of(round)
    rows = shown_in(assignment.hit_id)
    shown = sheet_of(
        rows,
        places_among(assignment, [row.item for row in rows]),
        drafted_answers(assignment),
        task=task,
        wording=round.wording,
        reasons=round.reasons,
        problem=problem,
        pictures=address_of_pictures(assignment),
        reported=reported_problems(assignment) if task.has_picture else None,
        until=longest_lease(assignment),
    )
    # The name of the copy of the answers that the browser keeps, and our time for it.
    copy = {"copy": copy_key(assignment), "now": milliseconds(timezone.now())}
    context = shown | {"round": round, "address": address, "can_report": task.has_picture, **copy, **contact()}
    if not assignment.external_id:
        context |= {
            "visit": visit_behind(assignment),
            "deadline": assignment.deadline,
            "can_extend": can_extend(assignment),
            "lease_minutes": settings.LEASE_MINUTES,
            "seconds_left": max(0, int((assignment.deadline - timezone.now()).total_seconds())),
        }
    return render(request, "judging/task.html", context, status=422 if problem else 200)
