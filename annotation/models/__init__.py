"""Who works, what they answered, what was decided about it and what it earned."""

from annotation.models.answers import Draft, Judgment, JudgmentQuerySet
from annotation.models.money import Payment
from annotation.models.qualifying import Participant, QualificationTest, TestAttempt, TestItem
from annotation.models.work import (
    Appeal,
    Assignment,
    Decision,
    Exclusion,
    Rejection,
    WantsCall,
    Worker,
    WorkerIdentity,
    new_pseudonym,
)

__all__ = [
    "Appeal",
    "Assignment",
    "Decision",
    "Draft",
    "Exclusion",
    "Judgment",
    "JudgmentQuerySet",
    "Participant",
    "Payment",
    "QualificationTest",
    "Rejection",
    "TestAttempt",
    "TestItem",
    "WantsCall",
    "Worker",
    "WorkerIdentity",
    "new_pseudonym",
]
