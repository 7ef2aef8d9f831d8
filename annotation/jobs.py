"""The job that pays a round's shortfall to the wage floor."""

from decimal import Decimal

from annotation.money.wages import pay_shortfall
from core.models import Job
from core.text import counted
from core.work.jobs import JobProgress, job
from hits.models import Round


@job("console.tasks.top_up", needs=("hits.launch_round",), acts=True)
def top_up(job: Job, progress: JobProgress) -> str:
    """Owe each paid worker of a round what the reward falls short of the wage floor, once."""
    round = Round.objects.named(job.params["round"])
    agreed = Decimal(job.params["agreed"]) if "agreed" in job.params else None
    given = pay_shortfall(round, agreed=agreed, actor=job.actor, progress=progress)
    if not given.assignments:
        return "No assignment falls short of the wage floor any more."
    owed = counted(given.assignments, "assignment is", "assignments are")
    return f"{owed} owed ${given.bonus} more each, ${given.total} in all."
