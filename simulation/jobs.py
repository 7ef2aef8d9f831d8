"""The job that rehearses a round with a simulated crowd."""

from django.contrib.auth.models import User

from core.models import Job
from core.work.jobs import JobProgress, job, open_once
from hits.models import Round
from simulation.rehearsals import rehearse_round


@job("simulation.tasks.rehearse", needs=("hits.launch_round",))
def rehearse(job: Job, progress: JobProgress) -> str:
    """Rehearse the round that the job names."""
    params = job.params
    crowd = {name: params[name] for name in ("workers", "profile", "seed")}
    rehearse_round(Round.objects.named(params["round"]), **crowd, actor=job.actor, progress=progress)
    return f"Round {params['round']} is rehearsed. Nothing of it is stored but these figures."


def start_rehearsal(round: Round, *, workers: int, profile: str, seed: int, by: User) -> Job:
    """Open a job that rehearses the round, or return the unfinished one."""
    params = {"round": round.name, "workers": workers, "profile": profile, "seed": seed}
    return open_once(f"Rehearse {round}", rehearse.name, params, lock=round, same=["round"], by=by)
