"""The activity on the site: jobs, and events of people and programs."""

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import render

from console.events.event_subjects import describe_events, events_of
from console.pagination import page_of
from console.permissions import StaffRequest, members_only
from core.models import Event, Job
from dataset.secret_controls import are_pairs_secret
from hits.models import Round

NEWEST_JOBS = 6


@members_only.reads("activity/")
def activity(request: StaffRequest) -> HttpResponse:
    """The newest jobs, and the events, newest first. ``?subject=`` narrows these to one row's, ``?by=`` to a person's,
    ``?round=`` to those of a round; ``?of=jobs`` lists all jobs instead."""
    jobs = Job.objects.select_related("created_by")
    if request.GET.get("of") == "jobs":
        page = page_of(request, jobs)
        return render(request, "console/events/activity.html", {"rows": page, "jobs": page})
    subject, by, name = (request.GET.get(word, "").strip() for word in ("subject", "by", "round"))
    found = Round.objects.filter(name=name).first() if name else None
    rows = events_of(Event.objects.filter(subject=subject) if subject else Event.objects.all(), by=by, round=found)
    if are_pairs_secret(None, request.user):
        rows = rows.exclude(subject__startswith="dataset.review:").exclude(subject__startswith="hits.control:")
    page = page_of(request, rows.none() if name and found is None else rows)
    is_narrowed = bool(subject or by or name)
    context = {
        "rows": page,
        "lines": describe_events(page),
        "jobs": [] if is_narrowed or page.number > 1 else jobs[:NEWEST_JOBS],
        "subject": subject,
        "by": by,
        "round": name,
        "is_narrowed": is_narrowed,
        "people": User.objects.order_by("username").values_list("username", flat=True),
        "rounds": Round.objects.values_list("name", flat=True),
    }
    return render(request, "console/events/activity.html", context)
