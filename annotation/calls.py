"""Calls that rows of this app want of a platform. ``crowd`` makes them: when asked by name, and periodically."""

from functools import partial

from django.db import transaction

from annotation.models import WantsCall
from config.celery import app
from hits.models import Round

TAKE_WANTED = "crowd.tasks.make_wanted_calls"
POST_SEATS = "crowd.tasks.post_seats"


def want_call(row: WantsCall) -> None:
    """Want the platform to be told of a row; to be called in the transaction of the change."""
    row.call = WantsCall.Call.WANTED
    row.save(update_fields=["call"])
    _send(TAKE_WANTED)


def want_seats_posted(round: Round) -> None:
    """Have the open seats of a round posted where its channel posts them."""
    if round.settles:
        _send(POST_SEATS, round.pk)


def _send(task: str, *args: int) -> None:
    # Robust: the change is committed; a failure here is logged, and crowd's periodic pass finds the rows.
    transaction.on_commit(partial(app.signature(task, args=args).apply_async), robust=True)
