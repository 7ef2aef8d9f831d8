"""Acts on submitted work: bonuses, requests to return it, agreement to rejections, and appeals. And on the pairs of a
collection that wait for a review."""

from django import forms
from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404

from annotation.models import Appeal, Assignment, Payment, Rejection
from annotation.money.payments import BonusParameters, owe_bonus
from annotation.review import appeals
from annotation.review.decisions import second
from console.acts import Chosen, act, acts_of
from console.collections.views import collection_or_404
from console.fields import asking, asking_for, text_field
from console.permissions import researchers_only, reviewers_only, stewards_only
from core.models import Job
from core.work.jobs import open_once
from corpus.models import Collection
from crowd.messages import LONGEST_REQUEST, can_be_returned, request_return
from dataset import jobs
from dataset.reviews.cleanup import CleanupParameters
from dataset.reviews.reviews import require_two_reviewers


def assignment_or_404(assignment_id: int) -> Assignment:
    return get_object_or_404(Assignment.objects.select_related("hit__round", "worker", "seat"), pk=assignment_id)


def rejection_or_404(rejection_id: int) -> Rejection:
    return get_object_or_404(Rejection.objects.select_related("assignment__hit__round"), pk=rejection_id)


def appeal_or_404(appeal_id: int) -> Appeal:
    return get_object_or_404(Appeal.objects.select_related("rejection", "assignment__hit__round"), pk=appeal_id)


work_act = acts_of(Assignment, "review/<int:assignment_id>/", assignment_or_404, reviewers_only)
rejection_act = acts_of(None, "rejections/<int:rejection_id>/", rejection_or_404, reviewers_only)
queue_act = acts_of(Collection, "collections/<slug:name>/", collection_or_404, stewards_only)


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
    form=asking_for(BonusParameters),
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


@rejection_act(
    "second",
    "Agree to the {}?",
    label="Agree: do not pay",
    offered=lambda rejection: rejection.is_proposal,
)
def rejection_second(rejection: Rejection, chosen: Chosen, by: User) -> str:
    """The work stays unpaid. The worker may appeal."""
    second(rejection, by=by)
    return "Rejected: the work is not paid."


@rejection_act(
    "appeal",
    "Enter an appeal that came by mail",
    label="Enter an appeal",
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


@queue_act(
    "clean-up",
    "Look for pairs of {} to review?",
    label="Look for pairs to review",
    form=asking_for(CleanupParameters, lambda collection: {"below": collection.doubted_below}),
)
def clean_up(collection: Collection, chosen: Chosen, by: User) -> Job:
    """Pairs that workers disagree on or report, captions that seem to describe no picture and pictures that occur twice
    are added. The list is compared with the votes of each round."""
    title = f"Look for pairs of {collection} to review"
    parameters = CleanupParameters(collection=collection.name, **chosen)
    return open_once(title, jobs.clean_up.name, parameters.as_json(), lock=collection, by=by)


@queue_act(
    "two-reviewers",
    "Change how many people review a pair of {}?",
    guard=researchers_only,
    label="Reviewers per pair",
    button="Change it",
    asks=lambda collection: [
        "Now a second person has to agree. Afterwards a review holds at once."
        if collection.two_reviewers
        else "Now one person decides. Afterwards a review holds only when a second person agrees."
    ],
)
def two_reviewers(collection: Collection, chosen: Chosen, by: User) -> str:
    needed = not collection.two_reviewers
    require_two_reviewers(collection, needed, actor=by.get_username())
    return "A second person now has to agree with reviews." if needed else "Reviews now hold at once."
