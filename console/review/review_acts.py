"""Acts on a worker's case: notes, assignment to a person, bonuses, requests to return work, rejections, appeals."""

from django import forms
from django.contrib.auth.models import User
from django.db.models import Q
from django.shortcuts import get_object_or_404

from annotation.models import Appeal, Assignment, Payment, Rejection, Worker
from annotation.money.payments import BonusParameters, owe_bonus
from annotation.review import appeals
from annotation.review.decisions import second
from annotation.review.worker_cases import LONGEST_NOTE, assign_case, note_on
from console.acts import Chosen, act
from console.fields import ParametersForm, asking, text_field
from console.permissions import ADMIN, REVIEWER, reviewers_only, stewards_only
from console.workers.worker_acts import FOR_STAFF, worker_or_404
from crowd.messages import LONGEST_REQUEST, can_be_returned, request_return


def assignment_or_404(assignment_id: int) -> Assignment:
    return get_object_or_404(Assignment.objects.select_related("hit__round", "worker", "seat"), pk=assignment_id)


def rejection_or_404(rejection_id: int) -> Rejection:
    return get_object_or_404(Rejection.objects.select_related("assignment__hit__round"), pk=rejection_id)


def appeal_or_404(appeal_id: int) -> Appeal:
    return get_object_or_404(Appeal.objects.select_related("rejection", "assignment__hit__round"), pk=appeal_id)


class ReviewerForm(forms.Form):
    """To whom a case is assigned."""

    to = forms.ModelChoiceField(
        User.objects.filter(Q(groups__name__in=[REVIEWER, ADMIN]) | Q(is_superuser=True), is_active=True).distinct(),
        required=False,
        label="Assigned to",
        empty_label="no person",
        help_text="They find it in the inbox under “Mine”. Other reviewers may still decide.",
    )


@act(
    "workers/<slug:pseudonym>/assign/",
    worker_or_404,
    reviewers_only,
    label="Assign a reviewer",
    question="Assign the case of worker {}",
    form=lambda data, worker: ReviewerForm(data, initial={"to": worker.reviewer_id}),
    menu=Worker,
)
def worker_assign(worker: Worker, chosen: Chosen, by: User) -> str:
    assign_case(worker, to=chosen["to"], by=by.get_username())
    return f"The case of worker {worker} is assigned to {chosen['to'] or 'no person'}."


@act(
    "workers/<slug:pseudonym>/note/",
    worker_or_404,
    stewards_only,
    label="Add a note",
    question="A note on worker {}",
    menu=Worker,
    form=asking(text=text_field("Note", at_most=LONGEST_NOTE, help_text=FOR_STAFF)),
)
def worker_note(worker: Worker, chosen: Chosen, by: User) -> str:
    note_on(worker, text=chosen["text"], by=by.get_username())
    return "The note is saved."


class BonusForm(ParametersForm):
    """What a worker is paid on top of the reward, and why."""

    act = BonusParameters


def _bonus_rules(work: Assignment) -> list[str]:
    settles = ", by the platform, and cannot be taken back" if work.hit.round.settles else ""
    given = work.payments.filter(kind=Payment.Kind.BONUS)
    return [
        f"The bonus is paid on top of the reward{settles}. It must fit under the round’s ceiling.",
        "The same reason again gives no second bonus.",
        *(f"Given already: ${one.amount} ({one.state}), {one.reason}" for one in given),
    ]


@act(
    "review/<int:assignment_id>/bonus/",
    assignment_or_404,
    reviewers_only,
    label="Give a bonus",
    question="Give a bonus for {}",
    form=lambda data, work: BonusForm(data),
    asks=_bonus_rules,
    offered=lambda work: work.submitted_at is not None,
    menu=Assignment,
)
def assignment_bonus(work: Assignment, chosen: Chosen, by: User) -> str:
    payment = owe_bonus(work, **chosen, actor=by.get_username())
    return f"Worker {work.worker}: a bonus of ${payment.amount} is {payment.state}."


@act(
    "review/<int:assignment_id>/return/",
    assignment_or_404,
    reviewers_only,
    label="Ask to return it",
    question="Ask the worker to return {}?",
    form=asking(reason=text_field("Reason", at_most=LONGEST_REQUEST, help_text="The worker reads it.")),
    asks=lambda work: [
        "The platform sends them your reason, once. Returned work is not paid and does not count against them. The "
        "worker may refuse. Submitted answers stay, and are paid if a person decides so."
    ],
    offered=can_be_returned,
    menu=Assignment,
)
def assignment_return(work: Assignment, chosen: Chosen, by: User) -> str:
    request_return(work, reason=chosen["reason"], by=by.get_username())
    return f"Worker {work.worker} was asked to return it."


@act(
    "rejections/<int:rejection_id>/second/",
    rejection_or_404,
    reviewers_only,
    label="Agree: do not pay",
    question="Agree to the {}?",
    asks=lambda rejection: ["The work stays unpaid. The worker may appeal."],
    offered=lambda rejection: rejection.is_proposal,
)
def rejection_second(rejection: Rejection, chosen: Chosen, by: User) -> str:
    second(rejection, by=by)
    return "Rejected: the work is not paid."


@act(
    "rejections/<int:rejection_id>/appeal/",
    rejection_or_404,
    reviewers_only,
    label="Enter an appeal",
    question="Enter an appeal that came by mail",
    form=asking(text=text_field("The worker’s text, without their platform ID", at_most=appeals.LONGEST["appeal"])),
    offered=lambda rejection: rejection.holds and not hasattr(rejection, "appeal"),
)
def appeal_enter(rejection: Rejection, chosen: Chosen, by: User) -> str:
    appeals.appeal(rejection, text=chosen["text"], actor=by.get_username())
    return "Appeal saved. It waits for an answer."


@act(
    "appeals/<int:appeal_id>/answer/",
    appeal_or_404,
    reviewers_only,
    label="Answer",
    question="Answer the {}",
    form=asking(
        upheld=forms.TypedChoiceField(
            label="Is the worker right?",
            choices=[("yes", "Yes: pay the work"), ("no", "No")],
            coerce=lambda value: value == "yes",
            widget=forms.RadioSelect,
        ),
        answer=text_field("Answer", at_most=appeals.LONGEST["answer"], help_text="The worker reads it."),
    ),
    asks=lambda found: [
        found.text,
        "Who rejected the work cannot deny the appeal." if found.rejection_id else "If you agree, a bonus is paid.",
    ],
    offered=lambda found: found.answered_at is None,
)
def appeal_answer(found: Appeal, chosen: Chosen, by: User) -> str:
    appeals.answer_appeal(found, **chosen, by=by)
    return "Appeal answered. The worker sees the answer on their page."
