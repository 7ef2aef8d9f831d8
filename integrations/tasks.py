"""The task that delivers a notification."""

from celery import shared_task

from integrations import deliveries


@shared_task(name="integrations.tasks.deliver")
def deliver(delivery: int) -> None:
    """Deliver one notification to one webhook, if that is due."""
    deliveries.deliver(delivery)
