"""Acts on workers: exclusion, pauses in a round, messages, a reviewer and notes for their case, and erasure."""

from django import forms
from django.contrib.auth.models import User
from django.db.models import Q
from django.shortcuts import get_object_or_404

from annotation.models import Worker
from annotation.people.admission import is_excluded
from annotation.people.erasure import forget_worker
from annotation.people.workers import exclude, pause_worker, readmit, resume_worker
from annotation.review.worker_cases import LONGEST_NOTE, assign_case, note_on
from console.acts import Chosen, act, acts_of
from console.fields import asking, text_field
from console.permissions import ADMIN, REVIEWER, payers_only, reviewers_only, stewards_only
from console.rounds.schemas import round_or_404
from core.errors import CounterpartError
from core.text import counted
from crowd.channels import CHANNELS, market_of
from crowd.messages import LONGEST, address_of, write_once
from hits.models import Round


def worker_or_404(pseudonym: str) -> Worker:
    return get_object_or_404(Worker, pseudonym=pseudonym)


def worker_in_round_or_404(pseudonym: str, name: str) -> tuple[Worker, Round]:
    return worker_or_404(pseudonym), round_or_404(name)


worker_act = acts_of(Worker, "workers/<slug:pseudonym>/", worker_or_404, stewards_only)
FOR_STAFF = "Shown to staff only. Do not enter their platform ID."
asking_why = asking(reason=text_field("Reason", help_text=FOR_STAFF))


def origins_of(worker: Worker) -> list[str]:
    """Name the environments that a worker came from; for simulated workers, the name of their channel."""
    known = worker.identities.order_by("pk").values_list("channel", "environment")
    return [str(market_of(*place)) if place[0] in CHANNELS else place[0] for place in dict.fromkeys(known)]


@worker_act("exclude", "Exclude worker {}?", form=asking_why, offered=lambda worker: not is_excluded(worker))
def worker_exclude(worker: Worker, chosen: Chosen, by: User) -> str:
    """They get no more HITs in any round, and no platform notifies them. They may finish the HITs that they have, and
    their work is reviewed and paid as usual. You can lift the exclusion at any time."""
    exclude(worker, reason=chosen["reason"], by=by.get_username())
    return f"Worker {worker} is excluded and gets no more HITs."


@worker_act("readmit", "Lift the exclusion of worker {}?", label="Lift the exclusion", offered=is_excluded)
def worker_readmit(worker: Worker, chosen: Chosen, by: User) -> str:
    """They can take HITs again."""
    readmit(worker, by=by.get_username())
    return f"Worker {worker} can take HITs again."


@act(
    "workers/<slug:pseudonym>/pause/<slug:name>/",
    worker_in_round_or_404,
    stewards_only,
    question="Pause worker {} in {}?",
    form=asking_why,
)
def worker_pause(found: tuple[Worker, Round], chosen: Chosen, by: User) -> str:
    """They get no more HITs of the round until you resume them, and their page says so. They may finish the HIT that
    they have, and their work is reviewed and paid as usual. Other rounds stay open to them."""
    worker, round = found
    pause_worker(worker, round=round, reason=chosen["reason"], by=by.get_username())
    return f"Worker {worker} is paused and gets no more HITs of {round}."


@act(
    "workers/<slug:pseudonym>/resume/<slug:name>/",
    worker_in_round_or_404,
    stewards_only,
    question="Resume worker {} in {}?",
)
def worker_resume(found: tuple[Worker, Round], chosen: Chosen, by: User) -> str:
    """They can take HITs of the round again."""
    worker, round = found
    resume_worker(worker, round=round, by=by.get_username())
    return f"Worker {worker} can take HITs of {round} again."


@worker_act(
    "write",
    "Message worker {}",
    button="Send",
    form=asking(
        subject=forms.CharField(max_length=LONGEST["subject"]),
        text=text_field("Message", at_most=LONGEST["text"], rows=8, help_text="Do not ask for personal data."),
    ),
    asks=lambda worker: [f"{' or '.join(origins_of(worker))} sends it in our name. It cannot be undone."],
    offered=lambda worker: address_of(worker) is not None,
)
def worker_write(worker: Worker, chosen: Chosen, by: User) -> str:
    _, is_new = write_once(worker, **chosen, by=by.get_username())
    return "The message is being sent." if is_new else "This message was sent a moment ago; it is sent only once."


@worker_act(
    "assign",
    "Assign the case of worker {}",
    guard=reviewers_only,
    label="Assign a reviewer",
    form=asking(
        lambda worker: {"to": worker.reviewer_id},
        to=forms.ModelChoiceField(
            User.objects.filter(
                Q(groups__name__in=[REVIEWER, ADMIN]) | Q(is_superuser=True), is_active=True
            ).distinct(),
            required=False,
            label="Assigned to",
            empty_label="no person",
        ),
    ),
)
def worker_assign(worker: Worker, chosen: Chosen, by: User) -> str:
    """The reviewer finds the case in the inbox under “Mine”. Other reviewers may still decide."""
    assign_case(worker, to=chosen["to"], by=by.get_username())
    return f"The case of worker {worker} is assigned to {chosen['to'] or 'no person'}."


@worker_act("note", "Note on worker {}", label="Add a note", form=asking(text=text_field("Note", at_most=LONGEST_NOTE)))
def worker_note(worker: Worker, chosen: Chosen, by: User) -> str:
    """Only staff read it. Do not enter their platform ID."""
    note_on(worker, text=chosen["text"], by=by.get_username())
    return "The note is saved."


@worker_act(
    "forget",
    "Forget worker {}?",
    guard=payers_only,
    form=asking(typed=forms.CharField(label="Type the pseudonym to confirm")),
    offered=lambda worker: worker.identities.exists(),
)
def worker_forget(worker: Worker, chosen: Chosen, by: User) -> str:
    """This cannot be undone. It erases everything that links them to a person: their platform IDs, the messages to
    them, notes on them and their appeals. Their judgments stay under the pseudonym. They can no longer be messaged or
    paid; if they return, they count as a new worker."""
    if chosen["typed"].strip() != worker.pseudonym:
        raise CounterpartError(f"Type the pseudonym {worker} to erase this worker's identity.")
    erased = forget_worker(worker.pseudonym, actor=by.get_username())
    return f"{counted(erased, 'platform id')} of worker {worker} erased."
