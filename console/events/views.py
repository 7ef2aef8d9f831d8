"""The event log."""

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import render

from console.events.event_subjects import describe_events, events_of
from console.pagination import page_of
from console.permissions import StaffRequest, members_only
from core.models import Event
from dataset.secret_controls import are_pairs_secret
from hits.models import Round


@members_only.reads
def events(request: StaffRequest) -> HttpResponse:
    """Events, newest first; ``?subject=`` shows only one row's, ``?by=`` a person's, ``?round=`` those of a round."""
    subject, by, name = (request.GET.get(word, "").strip() for word in ("subject", "by", "round"))
    found = Round.objects.filter(name=name).first() if name else None
    rows = events_of(Event.objects.filter(subject=subject) if subject else Event.objects.all(), by=by, round=found)
    if are_pairs_secret(None, request.user):
        rows = rows.exclude(subject__startswith="dataset.review:").exclude(subject__startswith="hits.control:")
    page = page_of(request, rows.none() if name and found is None else rows)
    context = {
        "rows": page,
        "lines": describe_events(page),
        "subject": subject,
        "by": by,
        "round": name,
        "people": User.objects.order_by("username").values_list("username", flat=True),
        "rounds": Round.objects.values_list("name", flat=True),
    }
    return render(request, "console/events/events.html", context)
