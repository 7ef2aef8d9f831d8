"""A bare Django site: views that read and write the rows of a HIT as the judging pages do, and nothing else.

No middleware, links without signatures, no rules and no checks: the first open seat, a plain page, the answers as rows.
"""
# ruff: noqa: E402  the settings come first

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings

settings.MIDDLEWARE = []
settings.ROOT_URLCONF = __name__

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()

from datetime import timedelta

from django.db import transaction
from django.db.models import Count, Sum
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template import Context, Template
from django.urls import path
from django.utils import timezone

from annotation.models import Assignment, Decision, Draft, Exclusion, Judgment, Participant, Payment, Worker
from core.events import record
from hits.models import Item, Round, Seat

PAGE = Template("""<!doctype html><title>{{ round.name }}</title>
<form method="post" id="judging" action="{{ address }}">{% for place, text, width, height in pairs %}<fieldset>
<legend>Pair {{ place }}</legend>
<img src="/picture/{{ place }}/?size=800" width="{{ width }}" height="{{ height }}">
<blockquote id="sentence-{{ place }}">{{ text }}</blockquote>{% for level in levels %}
<label><input type="radio" name="level-{{ place }}" value="{{ level }}"> {{ level }}</label>{% endfor %}
</fieldset>{% endfor %}
<button>Submit</button></form>""")
JOIN = '<form method="post"><input name="form" value="-"><input name="consent" value="yes"></form>'


def join(request: HttpRequest, key: str) -> HttpResponse:
    if request.method != "POST":
        return HttpResponse(JOIN)
    worker = Worker.objects.create(consented_at=timezone.now())
    Participant.objects.create(round=Round.objects.get(join_key=key), worker=worker)
    return redirect(f"/judge/me/{worker.pk}/")


def home(request: HttpRequest, worker: int) -> HttpResponse:
    return HttpResponse(f"Worker {worker}")


@transaction.atomic
def take(request: HttpRequest, worker: int) -> HttpResponse:
    """Read what a lease depends on: the worker, what they hold and saw, whether they may, the money; then lease, and
    show the HIT."""
    person = Worker.objects.select_for_update(no_key=True).get(pk=worker)
    round = Round.objects.get()
    held = list(Assignment.objects.filter(worker=person).values_list("hit", "state"))
    seen = set(Item.objects.filter(hit__in=[hit for hit, _ in held]).values_list("image", "caption"))
    assert not Exclusion.objects.filter(worker=person).exists()
    Payment.objects.filter(round=round).aggregate(Sum("amount"), Sum("fee"))
    Seat.objects.filter(hit__round=round).exclude(state="filled").aggregate(Count("pk"))
    free = Seat.objects.filter(hit__round=round, state="open").exclude(hit__in=[hit for hit, _ in held])
    seat = free.order_by("hit__number").select_for_update(skip_locked=True, of=("self",)).first()
    set(Item.objects.filter(hit=seat.hit_id).values_list("image", "caption")) & seen
    Seat.objects.filter(pk=seat.pk, state="open").update(state="taken")
    deadline = timezone.now() + timedelta(minutes=45)
    made = Assignment.objects.create(seat=seat, hit_id=seat.hit_id, worker=person, deadline=deadline)
    record("leased", made, actor="bare")
    pairs = Item.objects.filter(hit=seat.hit_id)
    pairs = pairs.values_list("place", "caption__text", "image__width", "image__height")
    list(made.drafts.all())
    list(made.reports.all())
    context = {"round": round, "address": f"/judge/task/{made.pk}/", "pairs": pairs, "levels": range(1, 5)}
    return HttpResponse(PAGE.render(Context(context)))


@transaction.atomic
def draft(request: HttpRequest, key: int) -> HttpResponse:
    """Keep the answers of one form or several as drafts."""
    assignment = Assignment.objects.select_for_update().select_related("hit").get(pk=key)
    items = dict(assignment.hit.items.values_list("place", "pk"))
    list(assignment.drafts.all())
    forms = [QueryDict(one) for one in request.POST.getlist("saving")]
    Draft.objects.bulk_create(
        [
            Draft(assignment=assignment, item_id=items[int(form["place"])], level=int(form[f"level-{form['place']}"]))
            for form in forms
        ],
        update_conflicts=True,
        unique_fields=["assignment", "item"],
        update_fields=["level", "saved_at"],
    )
    return HttpResponse("{}")


@transaction.atomic
def task(request: HttpRequest, key: int) -> HttpResponse:
    """Store the answers, accept them and owe the reward."""
    assignment = Assignment.objects.select_related("hit__round", "worker").get(pk=key)
    _submit(request, assignment)
    return redirect(f"/judge/task/{key}/receipt/")


def _submit(request: HttpRequest, assignment: Assignment) -> None:
    items = list(assignment.hit.items.select_related("control"))
    Assignment.objects.filter(pk=assignment.pk, state="leased").update(
        state="accepted", submitted_at=timezone.now(), active_seconds=60, receipt=str(assignment.pk), control_failures=0
    )
    record("submitted", assignment, actor="bare")
    assignment.drafts.all().delete()
    Judgment.objects.bulk_create(
        Judgment(
            assignment=assignment, item=item, worker_id=assignment.worker_id, image_id=item.image_id,
            caption_id=item.caption_id, level=int(request.POST[f"level-{item.place}"]),
        )
        for item in items
    )  # fmt: skip
    Seat.objects.filter(pk=assignment.seat_id).update(state="filled")
    record("accepted", assignment, actor="bare")
    Decision.objects.create(assignment=assignment, votes_count=True, paid=True, reason="-")
    round = assignment.hit.round
    payment = Payment.objects.create(assignment=assignment, round=round, amount=round.reward)
    Payment.objects.filter(round=round).aggregate(Sum("amount"), Sum("fee"))
    record("owed", payment, actor="bare")


def receipt(request: HttpRequest, key: int) -> HttpResponse:
    assignment = Assignment.objects.select_related("hit__round").get(pk=key)
    done = Assignment.objects.filter(worker=assignment.worker_id, hit__round=assignment.hit.round_id).count()
    return HttpResponse(f"Receipt {assignment.receipt}, {done} HITs, {assignment.hit.items.count()} pairs")


urlpatterns = [
    path("judge/join/<str:key>/", join),
    path("judge/me/<int:worker>/", home),
    path("judge/me/<int:worker>/take/", take),
    path("judge/task/<int:key>/", task),
    path("judge/task/<int:key>/draft/", draft),
    path("judge/task/<int:key>/receipt/", receipt),
]
