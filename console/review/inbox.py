"""The inbox: what waits for a person, by reason and worker. Flagged work, questions of pay, pairs to review, messages
that were not delivered; and the check of a worker's code."""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import BooleanField, Count, ExpressionWrapper, Min, OuterRef, Q, Subquery, TextField
from django.db.models.functions import Cast
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from annotation.models import Appeal, Assignment, AssignmentQuerySet, Decision, Rejection, Worker
from annotation.people.receipts import verify_code
from annotation.people.workers import with_masked
from annotation.review.decisions import work_to_review
from console.pagination import page_of
from console.permissions import StaffRequest, members_only
from console.review.bench import REASONS, reasons_of
from core import clock
from core.errors import CounterpartError
from corpus.models import Collection
from crowd.models import Message
from dataset.models import Case, QueueCheck, Review
from dataset.reviews.cases import counts_of, queue_of
from dataset.secret_controls import has_role, refuse_secret_pairs

WORK = ("assignment__hit__round", "assignment__worker")
SEVERAL = 5
DECIDED = "decided"  # in the session: the decisions that the person made last
UNDO = timedelta(minutes=10)  # in which pages offer to undo them


@dataclass(frozen=True)
class CaseLine:
    """A worker and their flagged sets that wait, the longest waiting first."""

    worker: Worker
    sets: list[Assignment]

    @property
    def reasons(self) -> list[tuple[str, int]]:
        """The reasons for the flags, in words, each with its number of sets."""
        found = Counter(reason for one in self.sets for reason in reasons_of(one))
        return [(REASONS[reason], found[reason]) for reason in REASONS if found[reason]]

    @property
    def rounds(self) -> list[str]:
        return sorted({one.hit.round.name for one in self.sets})


@members_only.reads("inbox/")
def inbox(request: StaffRequest) -> HttpResponse:
    """What waits, by kind. ``?reason=``, ``?round=`` and ``?mine=`` narrow the flagged work; ``?code=`` is checked."""
    waiting = work_to_review().annotate(found=Cast("signals", TextField()))
    if request.GET.get("round"):
        waiting = waiting.filter(hit__round__name=request.GET["round"])
    if request.GET.get("mine"):
        waiting = waiting.filter(worker__reviewer=request.user)
    reason = request.GET.get("reason", "")
    numbers = waiting.aggregate(all=Count("pk"), **{key: Count("pk", filter=_has(key)) for key in REASONS})
    shown = waiting.filter(_has(reason)) if reason in REASONS else waiting
    rows = page_of(request, shown.order_by().values("worker").annotate(since=Min("submitted_at")).order_by("since"))
    lost = Message.objects.exclude(failure="")
    context = {
        "rows": rows,
        "cases": _cases(shown, [row["worker"] for row in rows]),
        "numbers": numbers,
        "reasons": [(key, label, numbers[key]) for key, label in REASONS.items() if numbers[key]],
        "reason": reason,
        "proposed": Rejection.objects.filter(Rejection.PROPOSED).select_related(*WORK, "by").order_by("pk"),
        "appeals": Appeal.objects.filter(answered_at=None).select_related(*WORK, "rejection").order_by("pk"),
        "queues": _queues(),
        "undelivered": with_masked(lost.select_related("worker").order_by("-pk")[:SEVERAL], "failure"),
        "decided": decided_by(request),
        "sees_controls": has_role(request.user),
        **_checked(request.GET.get("code", "")),
    }
    return render(request, "console/review/inbox.html", context)


def _has(reason: str) -> Q:
    """Match work by one of REASONS."""
    if reason == "control":
        return Q(control_failures__gt=0)
    return ~Q(problem="") if reason == "problem" else Q(found__contains=f'"signal": "{reason}"')


def _cases(waiting: AssignmentQuerySet, workers: list[int]) -> list[CaseLine]:
    """Return the lines of workers, by key, in this order."""
    by_worker: dict[int, list[Assignment]] = {worker: [] for worker in workers}
    related = ("worker__reviewer", "hit__round")
    for one in waiting.filter(worker__in=workers).select_related(*related).order_by("submitted_at", "pk"):
        by_worker[one.worker_id].append(one)
    return [CaseLine(sets[0].worker, sets) for sets in by_worker.values() if sets]


def _queues() -> list[dict[str, Any]]:
    """Return each collection with pairs to review: its name, their number, and the numbers by reason."""
    by_reason = {reason: Count("pk", filter=Q(reasons__has_key=reason)) for reason in Case.Reason.values}
    rows: Any = Case.objects.waiting().order_by("collection__name").values("collection__name")
    counts = rows.annotate(n=Count("pk"), **by_reason)
    return [
        {
            "name": row["collection__name"],
            "n": row["n"],
            "reasons": [(one.value, one.label, row[one.value]) for one in Case.Reason if row[one.value]],
        }
        for row in counts
    ]


def _checked(code: str) -> dict[str, Any]:
    """Return what a receipt or completion code proves, or why it proves nothing."""
    try:
        return {"code": code, "proof": verify_code(code) if code.strip() else None, "trouble": ""}
    except CounterpartError as error:
        return {"code": code, "proof": None, "trouble": str(error)}


def decided_by(request: HttpRequest) -> list[Decision]:
    """Return what the person decided last, if that was a short time ago."""
    made = Decision.objects.filter(pk__in=request.session.get(DECIDED, []), undone_at=None)
    recent = made.filter(at__gt=clock.now() - UNDO)
    return list(recent.select_related("assignment__hit__round", "assignment__worker"))


@members_only.reads("collections/<slug:name>/queue/")
def queue(request: HttpRequest, name: str) -> HttpResponse:
    """The pairs of a collection that wait, most urgent first; ``?reason=`` shows those that have it."""
    collection = get_object_or_404(Collection, name=name)
    refuse_secret_pairs(collection, request.user)
    reason = request.GET.get("reason", "")
    reason = reason if reason in Case.Reason.values else ""
    of_pair = Review.objects.filter(image=OuterRef("image"), caption=OuterRef("caption")).order_by("-pk")
    waits = ExpressionWrapper(Q(needs_second=True, seconded_at=None), BooleanField())
    rows = queue_of(collection, reason).select_related("image", "caption")
    counts = counts_of(collection)
    checks = QueueCheck.objects.filter(round__pool__collection=collection).select_related("round").order_by("-at")
    context = {
        "collection": collection,
        "rows": page_of(request, rows.annotate(proposed=Subquery(of_pair.values_list(waits)[:1]))),
        "reason": reason,
        "tabs": [(one.value, one.label, counts[one.value]) for one in Case.Reason if counts[one.value]],
        "waiting": counts["waiting"],
        "done": Case.objects.filter(collection=collection).exclude(done_at=None).count(),
        "alarms": checks.filter(shown=False),
        "checked": checks.filter(shown=True).first(),
    }
    return render(request, "console/review/queue.html", context)
