"""What a plan predicted of a round, kept in its summary; who plans knows what it means."""

from typing import Any

from django.db import transaction

from core.events import record
from hits.models import Round

PREDICTED = "predicted"
"""The key in a round's summary."""


@transaction.atomic
def keep_prediction(round: Round, predicted: dict[str, Any], *, actor: str) -> dict[str, Any]:
    """Keep the prediction, JSON, with a round that has none; return the one that it has then."""
    held = Round.objects.select_for_update(no_key=True).get(pk=round.pk)
    if PREDICTED not in held.summary:
        held.summary[PREDICTED] = predicted
        held.save(update_fields=["summary"])
        record("predicted", held, actor=actor)
    round.summary = held.summary
    kept: dict[str, Any] = held.summary[PREDICTED]
    return kept
