"""Who works, what they answered, what was decided about it and what it earned."""

from annotation.models.outcomes import Appeal, ControlRuling, Decision, Payment, Rejection
from annotation.models.people import (
    Admission,
    CaseNote,
    Consent,
    ConsentSheet,
    ConsentWords,
    Exclusion,
    Invitation,
    Participant,
    Pause,
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
    Norm,
    Report,
)
