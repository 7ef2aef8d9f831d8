"""States of studies: what to say and do about a posting, by its state on the platform, by what we want of it, and by
who caused that state.

Every cell is written, so that a change of one shows its neighbours. Nothing here asks a platform or the database.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from django.db.models import TextChoices


class There(TextChoices):
    """The state of a posting on its platform, in no platform's words."""

    UNKNOWN = "unknown", "in a state that we do not know"
    UNREAD = "unread", "not listed any more"
    DRAFT = "draft", "not published"
    SCHEDULED = "scheduled", "published at a later time"
    STARTING = "starting", "being published"
    OPEN = "open", "open to workers"
    PAUSED = "paused"
    FULL = "full", "full: every place is taken"
    STOPPED = "stopped", "stopped with free places"
    OVER = "over", "over before all of its answer sets came"


class Wanted(Enum):
    """What we want of a posting."""

    PEOPLE = auto()
    NO_VISITOR = auto()
    """No HIT is left for visitors."""
    PAUSE = auto()
    """A person here paused the round."""
    END = auto()
    """The round is closed."""


class By(StrEnum):
    """Who caused a state. THERE: a person or the platform, which cannot be known from here."""

    US = "us"
    HERE = "a person here"
    PLATFORM = "the platform"
    THERE = "on the platform, not from here"


class Remedy(StrEnum):
    """What a person can do about it."""

    NOTHING = ""
    RESUME = "resume"
    WAIT = "wait"
    LOOK = "look at the platform"


@dataclass(frozen=True)
class StudyCell:
    """What to say about the posting, empty if it is as wanted; ``{label}`` is the platform. ``goes_on``: by itself."""

    says: str = ""
    act: Remedy = Remedy.NOTHING

    @property
    def goes_on(self) -> bool:
        return self.act in (Remedy.NOTHING, Remedy.WAIT)


Cells = Mapping[By, StudyCell]


def _by_all(cell: StudyCell) -> Cells:
    return dict.fromkeys(By, cell)


FINE = _by_all(StudyCell())
_UNKNOWN = _by_all(StudyCell('{label} lists it as "{status}", which Counterpart does not know.', Remedy.LOOK))
_UNREAD = _by_all(
    StudyCell(
        "{label} has not listed it since {seen:%-d %b, %H:%M} UTC. It may be removed there; sync says why.", Remedy.LOOK
    )
)
_DRAFT = _by_all(StudyCell("{label} lists it as not published; that was not done from here.", Remedy.LOOK))
_SCHEDULED = _by_all(StudyCell("{label} publishes it later, at a time that was not set from here.", Remedy.WAIT))
_STARTING = _by_all(StudyCell("{label} is publishing it.", Remedy.WAIT))
_STOPPED = _by_all(
    StudyCell(
        "It was stopped on {label}, not from here. More places there may open it again; otherwise close the round.",
        Remedy.LOOK,
    )
)
_BEING_PAUSED = _by_all(StudyCell("It is being paused: the call is repeated until {label} takes it.", Remedy.WAIT))
_BEING_ENDED = _by_all(StudyCell("It is being ended: the call is repeated until {label} takes it.", Remedy.WAIT))
_PAUSED_HERE = _by_all(StudyCell("A person paused the round here.", Remedy.RESUME))
_BY_ITSELF = "{label} paused it by itself: it was full, and submitted work was rejected or returned."
_NOT_BY_US = "It was paused on the platform, not from here."

TABLE: Mapping[There, Mapping[Wanted, Cells]] = {
    There.UNKNOWN: dict.fromkeys(Wanted, _UNKNOWN),
    There.UNREAD: dict.fromkeys(Wanted, _UNREAD),
    There.DRAFT: {Wanted.PEOPLE: _DRAFT, Wanted.NO_VISITOR: _DRAFT, Wanted.PAUSE: _DRAFT, Wanted.END: FINE},
    There.SCHEDULED: dict.fromkeys(Wanted, _SCHEDULED),
    There.STARTING: dict.fromkeys(Wanted, _STARTING),
    There.OPEN: {
        Wanted.PEOPLE: FINE,
        Wanted.NO_VISITOR: _by_all(StudyCell("No HIT is left for visitors: the next sync pauses it.", Remedy.WAIT)),
        Wanted.PAUSE: _BEING_PAUSED,
        Wanted.END: _BEING_ENDED,
    },
    There.PAUSED: {
        Wanted.PEOPLE: {
            By.US: StudyCell("A HIT is left for visitors again: the next sync starts it.", Remedy.WAIT),
            By.HERE: StudyCell("It is being resumed: the call is repeated until {label} takes it.", Remedy.WAIT),
            By.PLATFORM: StudyCell(f"{_BY_ITSELF} No new worker comes until it is resumed.", Remedy.RESUME),
            By.THERE: StudyCell(f"{_NOT_BY_US} No new worker comes until it is resumed.", Remedy.RESUME),
        },
        Wanted.NO_VISITOR: {
            By.US: StudyCell("It is paused, as no HIT is left for visitors, and goes on by itself.", Remedy.WAIT),
            By.HERE: StudyCell("It is paused, as no HIT is left for visitors, and goes on by itself.", Remedy.WAIT),
            By.PLATFORM: StudyCell(f"{_BY_ITSELF} No HIT is left now; once one is, resume it.", Remedy.RESUME),
            By.THERE: StudyCell(f"{_NOT_BY_US} No HIT is left now; once one is, resume it.", Remedy.RESUME),
        },
        Wanted.PAUSE: _PAUSED_HERE,
        Wanted.END: _BEING_ENDED,
    },
    There.FULL: {Wanted.PEOPLE: FINE, Wanted.NO_VISITOR: FINE, Wanted.PAUSE: _PAUSED_HERE, Wanted.END: FINE},
    There.STOPPED: {Wanted.PEOPLE: _STOPPED, Wanted.NO_VISITOR: _STOPPED, Wanted.PAUSE: _STOPPED, Wanted.END: FINE},
    There.OVER: {
        Wanted.PEOPLE: _by_all(StudyCell("It ended on {label}; what is missing is posted again.", Remedy.WAIT)),
        Wanted.NO_VISITOR: FINE,
        Wanted.PAUSE: _PAUSED_HERE,
        Wanted.END: FINE,
    },
}


def is_paused_itself(there: There, *, pending: int, free: int, freed: int) -> bool:
    """Whether the lists fit the rule by which a platform pauses a full study itself: all work is submitted, and the
    ``free`` places are all among those ``freed`` by rejections and returns since the list before."""
    return there is There.PAUSED and not pending and 0 < free <= freed
