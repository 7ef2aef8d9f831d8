"""The jobs that plan a round, a task for each step, and that pack a pool."""

from celery import chain, shared_task
from django.contrib.auth.models import User

from core.models import Job
from core.text import counted
from core.work.authority import KINDS, JobKind
from core.work.jobs import JobProgress, finish, job, open_job, running
from hits.models import Round
from hits.rounds import pipeline
from hits.rounds.packed_rounds import pack_round
from hits.rounds.round_parameters import NewRoundParameters, PackParameters, RoundParameters
from mitl.models import Pool

KINDS[pipeline.TASK] = JobKind(needs=("hits.launch_round",), acts=True)


@shared_task(name=pipeline.TASK)
def plan_round(job_id: str) -> None:
    """Send the steps of a job one after the other. Jobs that were lost are sent here again."""
    job = Job.objects.filter(pk=job_id).first()
    if job is None or not job.is_live:
        return
    steps = pipeline.steps_of(RoundParameters.from_json(job.params))
    chain(*(take_step.si(job_id, number) for number in range(len(steps)))).apply_async()


@shared_task(name="hits.tasks.take_step")
def take_step(job_id: str, number: int) -> None:
    """Take one step of a job, and before it any earlier step that a lost task did not complete."""
    with running(job_id) as progress:
        if progress is None:
            return
        job = Job.objects.select_related("created_by").get(pk=job_id)
        parameters = RoundParameters.from_json(job.params)
        steps = pipeline.steps_of(parameters)
        with pipeline.undone_if_refused(parameters, since=job.created_at, actor=job.actor):
            for step in steps[: number + 1]:
                outcome = step(actor=job.actor, progress=progress)
        if number + 1 == len(steps):
            finish(job_id, _outcome_text(outcome))


@job("console.tasks.pack", needs=("hits.launch_round",), acts=True)
def pack(job: Job, progress: JobProgress) -> str:
    """Pack a pool into the round that the job describes, unless an earlier run already has."""
    pool = Pool.objects.named(job.params["pool"])
    parameters = PackParameters.from_json(job.params["parameters"])
    packed = pack_round(job.params["round"], pool, parameters, actor=job.actor, progress=progress)
    return _outcome_text(packed)


def start_packing(pool: Pool, parameters: NewRoundParameters, *, by: User) -> Job:
    """Open a job that packs the pool into a draft round."""
    params = {"round": parameters.round, "pool": pool.name, "parameters": parameters.part(PackParameters).as_json()}
    return open_job(f"Pack {pool} into {parameters.round}", pack.name, params, by=by)


def _outcome_text(outcome: Round | Pool) -> str:
    if isinstance(outcome, Pool):
        return f"Pool {outcome} has {counted(outcome.n_pairs, 'pair')}. Look at them, then pack them into HITs."
    return f"Round {outcome} is packed: {counted(outcome.summary['hits'], 'HIT')}."
