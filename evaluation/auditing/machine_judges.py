"""The machine judges of a round's pool, and what they bring to an audit's estimates."""

from counterpart_statistics.auditing.proxy_judges import MachineJudge, judges_among
from counterpart_statistics.selection.pooled_queries import WholeQueries
from mitl.models import Annotator

MACHINE_JUDGES = ("vlm",)
"""Kinds of annotators that answer the question that workers are asked."""


def machine_judges(whole: WholeQueries, metric: str) -> list[MachineJudge]:
    """Return the figures of the machine judges in an audit's pool in one direction, as ``judges_among``."""
    judges = Annotator.objects.filter(name__in=whole.queries.models, kind__in=MACHINE_JUDGES)
    return judges_among(whole, metric, dict(judges.values_list("name", "kind")))
