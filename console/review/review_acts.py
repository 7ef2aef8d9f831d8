"""Acts on submitted work: bonuses, requests to return it, agreement to rejections, and appeals."""

from django import forms
from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404

from annotation.models import Appeal, Assignment, Payment, Rejection
from annotation.money.payments import BonusParameters, owe_bonus
from annotation.review import appeals
from annotation.review.decisions import second
from console.acts import Chosen, act, acts_of
from console.fields import ParametersForm, asking, text_field
from console.permissions import reviewers_only
from crowd.messages import LONGEST_REQUEST, can_be_returned, request_return


def assignment_or_404(assignment_id: int) -> Assignment:
    return get_object_or_404(Assignment.objects.select_related("hit__round", "worker", "seat"), pk=assignment_id)


def rejection_or_404(rejection_id: int) -> Rejection:
    return get_object_or_404(Rejection.objects.select_related("assignment__hit__round"), pk=rejection_id)


def appeal_or_404(appeal_id: int) -> Appeal:
    return get_object_or_404(Appeal.objects.select_related("rejection", "assignment__hit__round"), pk=appeal_id)


work_act = acts_of(Assignment, "review/<int:assignment_id>/", assignment_or_404, reviewers_only)


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


@work_act(
    "bonus",
    "Give a bonus for {}",
    label="Give a bonus",
    form=lambda data, work: BonusForm(data),
    asks=_bonus_rules,
    offered=lambda work: work.submitted_at is not None,
)
def assignment_bonus(work: Assignment, chosen: Chosen, by: User) -> str:
    payment = owe_bonus(work, **chosen, actor=by.get_username())
    return f"Worker {work.worker}: a bonus of ${payment.amount} is {payment.state}."


@work_act(
    "return",
    "Ask the worker to return {}?",
    form=asking(reason=text_field("Reason", at_most=LONGEST_REQUEST, help_text="The worker reads it.")),
    offered=can_be_returned,
)
def assignment_return(work: Assignment, chosen: Chosen, by: User) -> str:
    """The platform sends them your reason, once. Returned work is not paid and does not count against them. The worker
    may refuse. Submitted answers stay, and are paid if a person decides so."""
    request_return(work, reason=chosen["reason"], by=by.get_username())
    return f"Worker {work.worker} was asked to return it."


@act(
    "rejections/<int:rejection_id>/second/",
    rejection_or_404,
    reviewers_only,
    label="Agree: do not pay",
    question="Agree to the {}?",
    offered=lambda rejection: rejection.is_proposal,
)
def rejection_second(rejection: Rejection, chosen: Chosen, by: User) -> str:
    """The work stays unpaid. The worker may appeal."""
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
    """A reviewer answers it, and the worker reads the answer."""
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
