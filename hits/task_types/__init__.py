"""The types of task, by the name that a round stores: each with the template of its screen in
``templates/judging/task_types/``. Only these know how a question is put and what its answers mean."""

from core import extensions
from core.errors import CounterpartError
from core.extensions import load
from hits.models import Round
from hits.task_types.task_type import TaskType

TASK_TYPES: dict[str, TaskType] = load(extensions.TASK_TYPES)
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
