"""The Celery tasks of the job that plans a round."""

from celery import chain

from config.celery import app
from core.jobs import finish, running
from core.models import Job
from core.text import counted
from hits import pipeline
from hits.models import Round
from hits.round_parameters import RoundParameters
from mitl.models import Pool


@app.task(name=pipeline.TASK)
def plan_round(job_id: str) -> None:
    """Send the steps of a job one after the other. Jobs that were lost are sent here again."""
    job = Job.objects.filter(pk=job_id).first()
    if job is None or not job.is_live:
        return
    steps = pipeline.steps_of(RoundParameters.from_json(job.params))
    chain(*(take_step.si(job_id, number) for number in range(len(steps)))).apply_async()


@app.task(name="hits.tasks.take_step")
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
            finish(job_id, _told(outcome))


def _told(outcome: Round | Pool) -> str:
    if isinstance(outcome, Pool):
        return f"Pool {outcome} has {counted(outcome.n_pairs, 'pair')}. Look at them, then pack them into HITs."
    return f"Round {outcome} is packed: {counted(outcome.summary['hits'], 'HIT')}."
