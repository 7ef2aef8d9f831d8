"""Acts on the pairs of a collection that wait for a review."""

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404
from django.urls import reverse

from console.acts import Chosen, Landing, act
from console.permissions import researchers_only, stewards_only
from core.models import Job
from core.text import counted
from core.work.jobs import open_once
from corpus.models import Collection
from crowd.posting.publication import BEGUN
from dataset import jobs
from dataset.reviews.cases import check_queue, refresh_queue
from dataset.reviews.reviews import require_two_reviewers
from hits.models import Round


def collection_or_404(name: str) -> Collection:
    return get_object_or_404(Collection, name=name)


@act(
    "collections/<slug:name>/queue/refresh/",
    collection_or_404,
    stewards_only,
    label="Bring up to date",
    question="Bring the pairs to review of {} up to date?",
    asks=lambda collection: ["Pairs that workers disagree on or report are added, and compared with the votes."],
)
def queue_refresh(collection: Collection, chosen: Chosen, by: User) -> Landing:
    waiting = refresh_queue(collection)["waiting"]
    for round in Round.objects.filter(BEGUN, pool__collection=collection):
        check_queue(round)
    text = f"{counted(waiting, 'pair waits', 'pairs wait')} for a review."
    return Landing(text, reverse("queue", args=[collection.name]))


@act(
    "collections/<slug:name>/clean-up/",
    collection_or_404,
    stewards_only,
    label="Look for clean-up",
    question="Look for captions and pictures of {} to clean up?",
    asks=lambda collection: ["Captions that seem to describe no picture, and pictures that occur twice, are added."],
    menu=Collection,
)
def clean_up(collection: Collection, chosen: Chosen, by: User) -> Job:
    params = {"collection": collection.name}
    return open_once(f"Clean up {collection}", jobs.clean_up.name, params, lock=collection, by=by)


@act(
    "collections/<slug:name>/two-reviewers/",
    collection_or_404,
    researchers_only,
    label="Reviewers per pair",
    button="Change it",
    question="Change how many people review a pair of {}?",
    asks=lambda collection: [
        "Now one person decides. Afterwards a review holds only when a second person agrees."
        if not collection.two_reviewers
        else "Now a second person has to agree. Afterwards a review holds at once."
    ],
    menu=Collection,
)
def two_reviewers(collection: Collection, chosen: Chosen, by: User) -> str:
    require_two_reviewers(collection, not collection.two_reviewers, actor=by.get_username())
    return "A second person has to agree." if not collection.two_reviewers else "Reviews hold at once."
