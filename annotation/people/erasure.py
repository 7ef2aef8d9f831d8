"""Erase what ties a worker to a person. Their judgments stay, under a pseudonym without any link to the person."""

import json
import re
from typing import Any

from django.apps import apps
from django.db import transaction
from django.db.models import Model, TextField
from django.db.models.functions import Cast

from annotation.models import Assignment, Payment, Worker, WorkerIdentity
from core import clock
from core.errors import CounterpartError
from core.events import record
from core.text import counted

ERASED = "[erased]"
SHORTEST_ID = 8  # of real platforms' worker ids; a shorter one could be an ordinary word


def forget_worker(pseudonym: str, *, actor: str) -> int:
    """Delete the platform ids of a worker and replace them in free text; returns how many ids there were. Cannot be
    undone.

    A model names its columns of free text in ``free_text``, and those about one worker, which are emptied whole, in
    ``personal_text``, a path to the worker with the columns. Nothing else is touched: no name, slug, key, folder,
    version or id. The platform's ids of the worker's assignments stay: without them the next listing would take the
    work for another worker's, and they lead to a person only through our account on the platform.
    Raises CounterpartError for an unknown pseudonym, while the worker is owed money that could then no longer reach
    them, and while submissions of theirs wait to be stored.
    """
    with transaction.atomic():
        worker = check_forgettable(pseudonym)
        ids = [one.external_id for one in worker.identities.exclude(channel__in=WorkerIdentity.OURS)]
        deleted, _ = WorkerIdentity.objects.filter(worker=worker).delete()
        for model in apps.get_models():
            # Empty what may name the person in words that no search would find.
            path, *columns = getattr(model, "personal_text", [""])
            for column in columns:
                model._base_manager.filter(**{path: worker}).exclude(**{column: ""}).update(**{column: ERASED})
            for external_id in ids:
                _replace_in_free_text(model, external_id)
        Worker.objects.filter(pk=worker.pk).update(forgotten_at=clock.now())
        record("forgotten", worker, actor=actor, identities=deleted)
    return deleted


def check_forgettable(pseudonym: str) -> Worker:
    """Return the worker who may be forgotten. Raises CounterpartError as ``forget_worker`` does."""
    worker = Worker.objects.filter(pseudonym=pseudonym).first()
    if worker is None:
        raise CounterpartError(f"Unknown worker {pseudonym!r}; give the pseudonym, not the platform's id.")
    owed = Payment.objects.filter(assignment__worker=worker, state=Payment.State.OWED).count()
    if owed:
        raise CounterpartError(
            f"Worker {worker} is still owed {counted(owed, 'payment')}, which could not reach them any more; "
            "mark them paid or withdraw them first."
        )
    waiting = Assignment.objects.waiting().filter(worker=worker).count()
    if waiting:
        raise CounterpartError(
            f"{counted(waiting, 'submission')} of worker {worker} must be stored first: sync their rounds, or "
            "pay outage."
        )
    return worker


def _replace_in_free_text(model: type[Model], external_id: str) -> None:
    """Replace the id by ERASED where it is a whole word."""
    if len(external_id) < SHORTEST_ID:
        return
    word = re.compile(rf"(?<![A-Za-z0-9]){re.escape(external_id)}(?![A-Za-z0-9])")
    for column in getattr(model, "free_text", ()):
        rows = model._base_manager.annotate(_text=Cast(column, TextField())).filter(_text__contains=external_id)
        for key, value in list(rows.values_list("pk", column)):
            model._base_manager.filter(pk=key).update(**{column: _without(value, word)})


def _without(value: Any, word: re.Pattern[str]) -> Any:
    return word.sub(ERASED, value) if isinstance(value, str) else json.loads(word.sub(ERASED, json.dumps(value)))
