"""How long the answers to calls are kept (``console.api.idempotency``)."""

from datetime import timedelta

from core import clock
from integrations.models import KeptAnswer

KEPT = timedelta(hours=24)


def purge_answers() -> int:
    """Remove the expired answers; return how many."""
    return KeptAnswer.objects.filter(at__lt=clock.now() - KEPT).delete()[0]
