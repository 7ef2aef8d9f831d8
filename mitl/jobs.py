"""The jobs of searches, of pools, and of training an annotator."""

from core.models import Job
from core.text import counted
from core.work.jobs import JobProgress, job
from mitl import asked_pools
from mitl.search import asked_searches, by_parts
from mitl.search.search_parameters import GallerySearchParameters, PoolParameters
from mitl.training import trainer


@job(asked_searches.TASK, needs=("hits.launch_round",))
def retrieve(job: Job, progress: JobProgress) -> str:
    """Make the searches of several annotators; a lost job is sent again and resumes."""
    parameters = GallerySearchParameters.from_json(job.params)
    made = asked_searches.make_search(parameters, actor=job.actor, progress=progress)
    return f"{counted(len(made), 'search', 'searches')}: {'; '.join(f'{one}, depth {one.depth}' for one in made)}."


@job(asked_pools.TASK, needs=("hits.launch_round",))
def pool(job: Job, progress: JobProgress) -> str:
    """Join lists into a pool, unless an earlier run already has."""
    made = asked_pools.make_pool(PoolParameters.from_json(job.params), actor=job.actor, progress=progress)
    return f"Pool {made} has {counted(made.n_pairs, 'pair')} of {counted(made.n_proposals, 'proposal')}."


@job(by_parts.TASK, needs=("hits.launch_round",))
def retrieve_by_parts(job: Job, progress: JobProgress) -> str:
    """Make a search by parts; a lost job is sent again and resumes."""
    made = by_parts.retrieve_for(job, progress)
    return f"{made}, depth {made.depth}, SHA-256 {made.sha256}."


@job(trainer.TASK, needs=("hits.launch_round",))
def train(job: Job, progress: JobProgress) -> str:
    """Train an annotator; a lost job is sent again and resumes after its last finished epoch."""
    return f"{trainer.train_for(job, progress)} is trained."
