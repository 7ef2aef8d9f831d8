"""Answers to a whole HIT, as acts and as pages take them, and the addresses of those pages."""

from django.db.models import QuerySet
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation.judging.links import address_of_pictures, assignment_token, form_token, worker_token
from annotation.models import Admission, Assignment, Draft, Judgment, Worker
from annotation.people.consent import current_sheet
from annotation.work.answers import places_of, save_drafts
from annotation.work.leases import expire_leases, lease_seat
from annotation.work.submissions import Answer
from hits.models import Control, Item, Round, Seat
from tests.factories import make_assignment, make_worker

SURE = {Control.Polarity.POSITIVE: 1, Control.Polarity.NEGATIVE: 4}


def leased(made: Round, *, worker: Worker | None = None, minutes: int = 45) -> Assignment:
    """A lease on the round's first seat."""
    return make_assignment(Seat.objects.filter(hit__round=made).first(), worker, minutes=minutes)


def lost(made: Round, *, drafts: int = 1) -> Assignment:
    """A lease that ran out after ``drafts`` answers and whose HIT another worker was given."""
    late = leased(made, minutes=-1)
    for answer in right_answers(late)[:drafts]:
        save_drafts(late, [answer])
    expire_leases()
    assert lease_seat(made, worker=make_worker())
    late.refresh_from_db()
    return late


def right_answers(assignment: Assignment, *, level: int = 1) -> list[Answer]:
    """``level`` for every candidate, the sure right level for every control."""
    items = assignment.hit.items.select_related("control").order_by("place")
    return [Answer(item.pk, SURE[item.control.polarity] if item.control else level) for item in items]


def shown(assignment: Assignment) -> list[Item]:
    """The items of the HIT in the order of its page."""
    items = assignment.hit.items.in_bulk()
    return [items[pk] for _, pk in sorted(places_of(assignment).items())]


def levels_by_place(answers: QuerySet[Judgment] | QuerySet[Draft]) -> dict[int, int]:
    """The levels by the place at which the page showed the pair."""
    levels = {}
    for answer in answers.select_related("assignment"):
        place_of = {item: place for place, item in places_of(answer.assignment).items()}
        levels[place_of[answer.item_id]] = answer.level
    return dict(sorted(levels.items()))


def as_form(assignment: Assignment, answers: list[Answer]) -> dict[str, str]:
    """The fields that the judging page sends for these answers."""
    place_of = {item: place for place, item in places_of(assignment).items()}
    fields = {}
    for answer in answers:
        place = place_of[answer.item_id]
        fields[f"level-{place}"] = str(answer.level)
        fields |= {f"shortcoming-{place}": answer.shortcoming} if answer.shortcoming else {}
        fields |= {f"wrong_way-{place}": answer.wrong_way} if answer.wrong_way else {}
    return fields


def address(name: str, assignment: Assignment, *rest: object) -> str:
    if name == "picture":
        return f"{address_of_pictures(assignment)}{rest[0]}/"
    return reverse(f"judging:{name}", args=[assignment_token(assignment), *rest])


def agreement(form: str = "") -> dict[str, object]:
    """The consent form as a person sends it who has read the current sheet."""
    return {"form": form or form_token(), "sheet": current_sheet().pk, "consent": "yes"}


def home_of(worker: Worker, made: Round) -> str:
    return reverse("judging:home", args=[worker_token(worker, made)])


def submit(client: Client, assignment: Assignment, **changes: object) -> HttpResponse:
    """Post the right answers, with these fields changed."""
    return client.post(address("task", assignment), as_form(assignment, right_answers(assignment)) | changes)


def join_page(made: Round) -> str:
    return reverse("judging:join", args=[made.join_key])


def consent(client: Client, made: Round) -> HttpResponse:
    """Join the round as a new worker."""
    return client.post(join_page(made), agreement())


def limit(made: Round, **terms: object) -> Round:
    """Set who may join the round."""
    Admission.objects.update_or_create(round=made, defaults=terms)
    made.refresh_from_db()
    return made
