"""The types of task, by the name that a round stores: one module each, with the template of its screen in
``templates/judging/task_types/``. Only these know how a question is put and what its answers mean."""

from hits.models import Round
from hits.task_types.checkbox import CHECKBOX
from hits.task_types.expert import EXPERT
from hits.task_types.levels import LEVELS
from hits.task_types.task_type import TaskType

TASK_TYPES: dict[str, TaskType] = {one.name: one for one in (LEVELS, CHECKBOX, EXPERT)}


def task_type_of(round: Round) -> TaskType:
    return TASK_TYPES[round.task]


__all__ = ["CHECKBOX", "EXPERT", "LEVELS", "TASK_TYPES", "task_type_of"]
