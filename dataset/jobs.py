"""The jobs that lead to a version: close a round, count its votes, look for captions to clean up, release, export."""

from dataclasses import replace

from django.contrib.auth.models import User
from django.db import transaction

from core.errors import CounterpartError
from core.models import Job
from core.text import counted
from core.work.jobs import LIVE, JobProgress, job, open_job, open_once
from corpus.models import Collection
from crowd.calls.outbox import deliver_due
from crowd.models import Outbox
from crowd.posting.postings import overview_of
from crowd.posting.publication import BEGUN, close_round
from dataset.exports.downloads import check_choice, make_download
from dataset.judged.verdict_worth import round_sentences
from dataset.models import Aggregation, Version
from dataset.releases.release import release as release_version
from dataset.releases.release_parameters import AggregateParameters, ReleaseParameters
from dataset.reviews.cases import check_queue, refresh_queue, update_queue
from dataset.reviews.cleanup import CleanupParameters, suggest_clean_up
from dataset.reviews.random_reviews import drawn_verdicts
from dataset.turns import TurnParameters, next_name, take_turn, version_of
from dataset.verdicts import aggregate as aggregate_votes
from hits.models import Round


@job("console.tasks.close", needs=("hits.launch_round",), acts=True)
def close(job: Job, progress: JobProgress) -> str:
    """Close a round and end its postings; its disagreements enter the reviewers' queue.

    Raises CounterpartError as ``close_round`` does, and if calls failed.
    """
    progress("closing the round", 0, None)
    round = Round.objects.named(job.params["round"])
    close_round(round, actor=job.actor)
    deliver_due(round, progress=progress)
    seen = overview_of(round)
    if failed := round.calls.filter(call=Outbox.Call.CLOSE, state=Outbox.State.FAILED).count():
        raise CounterpartError(
            f"Round {round} is closed, but {counted(failed, 'posting')} could not be ended. "
            "Retry the failed calls on the round's page."
        )
    update_queue(round)
    left = counted(seen.postings["live"] + seen.postings["planned"], "posting")
    return f"Round {round} is closed; {left} still to be ended."


@job("console.tasks.clean_up", needs=("hits.launch_round", "annotation.decide_assignment"))
def clean_up(job: Job, progress: JobProgress) -> str:
    """Look for pairs, captions and pictures of a collection that a person should look at; compare the queue with the
    votes of each round."""
    suggest_clean_up(CleanupParameters.from_json(job.params), progress=progress)
    collection = Collection.objects.named(job.params["collection"])
    counts = refresh_queue(collection)
    for round in Round.objects.filter(BEGUN, pool__collection=collection):
        check_queue(round)
    kinds = [f"{n:,} {kind}" for kind, n in counts.items() if n and kind != "waiting"]
    return f"{counted(counts['waiting'], 'pair waits', 'pairs wait')} for a review: {', '.join(kinds) or 'none'}."


@job("dataset.tasks.aggregate", needs=("hits.launch_round",))
def aggregate(job: Job, progress: JobProgress) -> str:
    """Count the votes of a round by the method that the job names."""
    parameters = AggregateParameters.from_json(job.params)
    figures = aggregate_votes(parameters, actor=job.actor, progress=progress)
    counts = f"{counted(figures['judgments'], 'vote')} counted: {counted(figures['pairs'], 'verdict')}"
    made = Aggregation.objects.get(round__name=parameters.round, method=parameters.method)
    drawn_verdicts(made)  # so that no page waits for the draw
    return f"{counts} by {parameters.method}. {next(round_sentences(made.certainty), '')}".strip()


@job("console.tasks.release", needs=("dataset.release_version",), acts=True)
def release(job: Job, progress: JobProgress) -> str:
    """Release the version that the job describes, unless an earlier run already has."""
    name = job.params["version"]
    of_this_job = Version.objects.filter(released_by=job.created_by, released_at__gte=job.created_at)
    if not of_this_job.filter(name=name).exists():
        parameters = ReleaseParameters.from_json(job.params)
        release_version(parameters, released_by=job.created_by, progress=progress)
    return f"Version {name} is released."


@job("dataset.tasks.turn", needs=("hits.launch_round",), acts=True)
def turn(job: Job, progress: JobProgress) -> str:
    """Plan the next turn of a round. What an earlier run has taught, searched, pooled or packed stays."""
    planned = take_turn(TurnParameters.from_json(job.params), actor=job.actor, progress=progress)
    hits = counted(planned.summary["hits"], "HIT")
    return f"Round {planned} is packed: {hits} of pairs beyond {planned.pool.beyond}."


@job("console.tasks.export", needs=("hits.launch_round",), acts=True)
def export(job: Job, progress: JobProgress) -> str:
    """Make a download of a version, unless an earlier run already has."""
    made = make_download(Version.objects.named(job.params["version"]), job.params["what"], progress=progress)
    return f"{made.file_name} is ready to download. SHA-256 {made.sha256}."


def start_aggregation(parameters: AggregateParameters, *, by: User) -> Job:
    """Open a job that counts the votes of a round, or return the unfinished one that counts them alike."""
    round = Round.objects.named(parameters.round)
    return open_once(f"Count the votes of {round}", aggregate.name, parameters.as_json(), lock=round, by=by)


def start_release(parameters: ReleaseParameters, *, by: User) -> Job:
    """Open a job that releases a version, or return the unfinished one. Refuses a name that another job releases."""
    name = parameters.version
    params = parameters.as_json()
    with transaction.atomic():
        Collection.objects.select_for_update(no_key=True).get(name=parameters.collection)
        live = Job.objects.filter(task=release.name, params__version=name, state__in=LIVE).first()
        if live and live.params != params:
            raise CounterpartError(f"A version {name} is being released already. Choose another name.")
        return live or open_job(f"Release {name}", release.name, params, by=by)


def start_turn(parameters: TurnParameters, *, by: User) -> Job:
    """Open a job that plans a turn, or return the unfinished one. Refuses an unreleased round and a used name."""
    round = Round.objects.named(parameters.round)
    version_of(round, parameters.beyond)
    name = parameters.name or next_name(round)
    if Round.objects.filter(name=name).exists():
        raise CounterpartError(f"There is a round {name} already. Choose another name.")
    params = replace(parameters, name=name, ceiling=parameters.ceiling or round.ceiling).as_json()
    return open_once(f"Plan round {name}", turn.name, params, lock=round, by=by)


def start_export(version: Version, what: str, *, by: User) -> Job:
    """Open a job that makes a download of the version, or return the unfinished one. Raises as ``check_choice``."""
    check_choice(what)
    params = {"version": version.name, "what": what}
    return open_once(f"Export {version} as {what}", export.name, params, lock=version, by=by)
