"""The types of task, by the name that a round stores: one module each, with the template of its screen in
``templates/judging/task_types/``. Only these know how a question is put and what its answers mean."""

from core.errors import CounterpartError
from hits.models import Round
from hits.task_types.caption_writing import CAPTION
from hits.task_types.checkbox import CHECKBOX
from hits.task_types.determinate import DETERMINATE
from hits.task_types.expert import EXPERT
from hits.task_types.grammar import GRAMMAR
from hits.task_types.levels import LEVELS
from hits.task_types.ranking_preference import PREFERENCE
from hits.task_types.task_type import Question, TaskType

TASK_TYPES: dict[str, TaskType] = {
    one.name: one for one in (LEVELS, CHECKBOX, EXPERT, DETERMINATE, PREFERENCE, CAPTION)
}
ON_PAIRS = [one.name for one in TASK_TYPES.values() if one.on_pairs]  # whose rounds have verdicts


def task_type_of(round: Round) -> TaskType:
    return TASK_TYPES[round.task]


def require_pairs(round: Round) -> None:
    """Raise CounterpartError for a round whose answers say nothing of pairs: it has no verdicts, and no truth."""
    task = task_type_of(round)
    if not task.on_pairs:
        raise CounterpartError(
            f"Round {round} has the task {task}: its answers are not about pairs. Use {task.read_by}."
        )


__all__ = [
    "CAPTION",
    "CHECKBOX",
    "DETERMINATE",
    "EXPERT",
    "GRAMMAR",
    "LEVELS",
    "ON_PAIRS",
    "PREFERENCE",
    "TASK_TYPES",
    "Question",
    "TaskType",
    "require_pairs",
    "task_type_of",
]
