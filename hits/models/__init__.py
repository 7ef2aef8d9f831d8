"""What is asked of whom, and paid: rounds and their HITs, people, work, platforms and money."""

from hits.models.money import LedgerEntry, Outbox, Payment
from hits.models.platforms import Exclusion, Message, PlatformAssignment, PlatformHIT
from hits.models.qualifying import Participant, QualificationTest, TestAttempt, TestItem
from hits.models.rounds import HIT, Control, Item, Round, Seat
from hits.models.work import Appeal, Assignment, Decision, Rejection, Worker, WorkerIdentity

__all__ = [
    "HIT",
    "Appeal",
    "Assignment",
    "Control",
    "Decision",
    "Exclusion",
    "Item",
    "LedgerEntry",
    "Message",
    "Outbox",
    "Participant",
    "Payment",
    "PlatformAssignment",
    "PlatformHIT",
    "QualificationTest",
    "Rejection",
    "Round",
    "Seat",
    "TestAttempt",
    "TestItem",
    "Worker",
    "WorkerIdentity",
]
