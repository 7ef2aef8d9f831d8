"""Acts on the pairs of a collection that wait for a review."""

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404

from console.acts import Chosen, acts_of
from console.fields import ParametersForm
from console.permissions import researchers_only, stewards_only
from core.models import Job
from core.work.jobs import open_once
from corpus.models import Collection
from dataset import jobs
from dataset.reviews.cleanup import CleanupParameters
from dataset.reviews.reviews import require_two_reviewers


def collection_or_404(name: str) -> Collection:
    return get_object_or_404(Collection, name=name)


collection_act = acts_of(Collection, "collections/<slug:name>/", collection_or_404, stewards_only)


class CleanupForm(ParametersForm):
    act = CleanupParameters


@collection_act(
    "clean-up",
    "Look for pairs of {} to review?",
    label="Look for pairs to review",
    form=lambda data, collection: CleanupForm(data, initial={"below": collection.doubted_below}),
)
def clean_up(collection: Collection, chosen: Chosen, by: User) -> Job:
    """Pairs that workers disagree on or report, captions that seem to describe no picture and pictures that occur twice
    are added. The list is compared with the votes of each round."""
    title = f"Look for pairs of {collection} to review"
    parameters = CleanupParameters(collection=collection.name, **chosen)
    return open_once(title, jobs.clean_up.name, parameters.as_json(), lock=collection, by=by)


@collection_act(
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
