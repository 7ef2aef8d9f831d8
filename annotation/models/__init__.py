"""Who works, what they answered, what was decided about it and what it earned."""

from annotation.models.outcomes import Appeal, ControlRuling, Decision, Payment, Rejection
from annotation.models.people import (
    Admission,
    ConsentSheet,
    Exclusion,
    Invitation,
    Participant,
    QualificationTest,
    TestAttempt,
    TestItem,
    WantsCall,
    Worker,
    WorkerIdentity,
    new_pseudonym,
)
from annotation.models.work import (
    CLAIM,
    Assignment,
    AssignmentQuerySet,
    Draft,
    Judgment,
    JudgmentQuerySet,
    Report,
)

__all__ = [
    "CLAIM",
    "Admission",
    "Appeal",
    "Assignment",
    "AssignmentQuerySet",
    "ConsentSheet",
    "ControlRuling",
    "Decision",
    "Draft",
    "Exclusion",
    "Invitation",
    "Judgment",
    "JudgmentQuerySet",
    "Participant",
    "Payment",
    "QualificationTest",
    "Rejection",
    "Report",
    "TestAttempt",
    "TestItem",
    "WantsCall",
    "Worker",
    "WorkerIdentity",
    "new_pseudonym",
]
