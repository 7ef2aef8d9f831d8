"""Rounds that ask whether captions are determinate, and votes in them."""

from django.utils import timezone

from annotation.work.answers import Answer
from annotation.work.submissions import submit_answers
from hits.models import Item, Round
from tests.factories import make_assignment, make_worker
from tests.hits.pools import pack, pool_of


def make_asked(pairs: int = 25, name: str = "captions", **parameters: object) -> Round:
    packed = pack(name, pool_of(pairs, name=f"pool-{name}"), task="determinate", **parameters)
    Round.objects.filter(pk=packed.pk).update(channel="browser", published_at=timezone.now())
    packed.refresh_from_db()
    return packed


def say(made: Round, *votes: str) -> Item:
    """Have the first HIT answered by a worker for each of ``votes``: "y" or "n" about its first caption, else no."""
    hit = made.hits.first()
    item = hit.items.first()
    for number, vote in enumerate(votes, 1):
        assignment = make_assignment(hit.seats.get(number=number), make_worker())
        answers = [Answer(one.pk, 1 if one == item and vote == "y" else 4) for one in hit.items.all()]
        submit_answers(assignment, answers=answers, active_seconds=60)
    return item
