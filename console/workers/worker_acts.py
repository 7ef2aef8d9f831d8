"""Acts on workers: exclusion, pauses in a round, messages and erasure."""

from django import forms
from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404

from annotation.models import Worker
from annotation.people.admission import is_excluded
from annotation.people.erasure import forget_worker
from annotation.people.workers import exclude, pause_worker, readmit, resume_worker
from console.acts import Chosen, act
from console.fields import asking, text_field
from console.permissions import payers_only, stewards_only
from console.rounds.schemas import round_or_404
from core.errors import CounterpartError
from core.text import counted
from crowd.channels import CHANNELS, market_of
from crowd.messages import LONGEST, address_of, write_once
from hits.models import Round

FOR_STAFF = "Shown to staff only. Do not enter their platform ID."


def worker_or_404(pseudonym: str) -> Worker:
    return get_object_or_404(Worker, pseudonym=pseudonym)


def worker_in_round_or_404(pseudonym: str, name: str) -> tuple[Worker, Round]:
    return worker_or_404(pseudonym), round_or_404(name)


def origins_of(worker: Worker) -> list[str]:
    """Name the environments that a worker came from; for simulated workers, the name of their channel."""
    known = worker.identities.order_by("pk").values_list("channel", "environment")
    return [str(market_of(*place)) if place[0] in CHANNELS else place[0] for place in dict.fromkeys(known)]


@act(
    "workers/<slug:pseudonym>/exclude/",
    worker_or_404,
    stewards_only,
    label="Exclude",
    question="Exclude worker {}?",
    form=asking(reason=text_field("Reason", help_text=FOR_STAFF)),
    asks=lambda worker: [
        "They get no more HITs in any round, and no platform notifies them. They may finish the HITs that they have, "
        "and their work is reviewed and paid as usual. You can lift the exclusion at any time."
    ],
    offered=lambda worker: not is_excluded(worker),
    menu=Worker,
)
def worker_exclude(worker: Worker, chosen: Chosen, by: User) -> str:
    exclude(worker, reason=chosen["reason"], by=by.get_username())
    return f"Worker {worker} is excluded and gets no more HITs."


@act(
    "workers/<slug:pseudonym>/readmit/",
    worker_or_404,
    stewards_only,
    label="Lift the exclusion",
    question="Lift the exclusion of worker {}?",
    offered=is_excluded,
    menu=Worker,
)
def worker_readmit(worker: Worker, chosen: Chosen, by: User) -> str:
    readmit(worker, by=by.get_username())
    return f"Worker {worker} can take HITs again."


@act(
    "workers/<slug:pseudonym>/pause/<slug:name>/",
    worker_in_round_or_404,
    stewards_only,
    label="Pause",
    question="Pause worker {} in {}?",
    form=asking(reason=text_field("Reason", help_text=FOR_STAFF)),
    asks=lambda found: [
        "They get no more HITs of the round until you resume them, and their page says so. They may finish the HIT "
        "that they have, and their work is reviewed and paid as usual. Other rounds stay open to them."
    ],
)
def worker_pause(found: tuple[Worker, Round], chosen: Chosen, by: User) -> str:
    worker, round = found
    pause_worker(worker, round=round, reason=chosen["reason"], by=by.get_username())
    return f"Worker {worker} is paused and gets no more HITs of {round}."


@act(
    "workers/<slug:pseudonym>/resume/<slug:name>/",
    worker_in_round_or_404,
    stewards_only,
    label="Resume",
    question="Resume worker {} in {}?",
)
def worker_resume(found: tuple[Worker, Round], chosen: Chosen, by: User) -> str:
    worker, round = found
    resume_worker(worker, round=round, by=by.get_username())
    return f"Worker {worker} can take HITs of {round} again."


@act(
    "workers/<slug:pseudonym>/write/",
    worker_or_404,
    stewards_only,
    label="Message",
    question="Message worker {}",
    button="Send",
    form=asking(
        subject=forms.CharField(max_length=LONGEST["subject"]),
        text=text_field("Message", at_most=LONGEST["text"], rows=8, help_text="Do not ask for personal data."),
    ),
    asks=lambda worker: [f"{' or '.join(origins_of(worker))} sends it in our name. It cannot be undone."],
    offered=lambda worker: address_of(worker) is not None,
    menu=Worker,
)
def worker_write(worker: Worker, chosen: Chosen, by: User) -> str:
    _, is_new = write_once(worker, **chosen, by=by.get_username())
    return "The message is being sent." if is_new else "This message was sent a moment ago; it is sent only once."


@act(
    "workers/<slug:pseudonym>/forget/",
    worker_or_404,
    payers_only,
    label="Forget",
    question="Forget worker {}?",
    form=asking(typed=forms.CharField(label="Type the pseudonym to confirm")),
    asks=lambda worker: [
        "This cannot be undone. It erases everything that links them to a person: their platform IDs, the messages to "
        "them, notes on them and their appeals. Their judgments stay under the pseudonym. They can no longer be "
        "messaged or paid; if they return, they count as a new worker."
    ],
    offered=lambda worker: worker.identities.exists(),
    menu=Worker,
)
def worker_forget(worker: Worker, chosen: Chosen, by: User) -> str:
    if chosen["typed"].strip() != worker.pseudonym:
        raise CounterpartError(f"Type the pseudonym {worker} to erase this worker's identity.")
    erased = forget_worker(worker.pseudonym, actor=by.get_username())
    return f"{counted(erased, 'platform id')} of worker {worker} erased."
