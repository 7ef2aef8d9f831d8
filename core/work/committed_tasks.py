"""Tasks that are sent to the queue once the rows which they are about are committed."""

from celery import current_app
from django.db import transaction


def send_on_commit(task: str, *args: object, **options: object) -> None:
    """Send a task, by its name, when the transaction commits; ``options`` are those of ``apply_async``.

    Robust: the change is committed by then. A failure here is logged, and the reconciler finds the rows.
    """
    transaction.on_commit(current_app.signature(task, args=args, **options).apply_async, robust=True)
