"""What is asked of whom, and paid: rounds and their HITs, people, work and money."""

from hits.models.money import Outbox, Payment
from hits.models.rounds import HIT, Control, Item, Round, Seat
from hits.models.work import Assignment, Decision, Worker, WorkerIdentity

__all__ = [
    "HIT",
    "Assignment",
    "Control",
    "Decision",
    "Item",
    "Outbox",
    "Payment",
    "Round",
    "Seat",
    "Worker",
    "WorkerIdentity",
]
