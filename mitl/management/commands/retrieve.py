"""retrieve COLLECTION --annotators A,B [--queries SAMPLE] [--cascade A] [--rerank csls,rgm] [--shards N]: top lists."""

from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils import timezone

from core.commands import ActCommand
from core.errors import CounterpartError
from core.models import Job
from core.progress import TerminalBar
from corpus.models import Collection, Sample
from mitl.cascading import CASCADE_DEPTH, Cascade
from mitl.estimating import Estimate
from mitl.models import Annotator, Retrieval
from mitl.naming import find_annotators
from mitl.reranking import Choice, parse_steps, written
from mitl.retrieval import DEPTH, estimate_retrieval, retrieve
from mitl.search.quick import ENGINES
from mitl.sharding import open_shared_retrieval, take_part

LONG = 3600  # seconds from which a search is started only on request


class Command(ActCommand):
    help = (
        "Let annotators rank the whole gallery for a sample's images and captions, and keep the top lists. "
        "What was searched already, by the same weights, is not searched again. Pools take each machine's newest "
        "lists, cascaded, re-ranked or neither."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("collection", metavar="COLLECTION", help="whose gallery is searched")
        parser.add_argument("--annotators", required=True, metavar="A,B", help="the machines, with commas between")
        parser.add_argument("--queries", metavar="SAMPLE", help="whose queries (default: the whole gallery)")
        parser.add_argument(
            "--depth", type=int, default=DEPTH, metavar="N", help=f"how long the lists are (default {DEPTH})"
        )
        parser.add_argument(
            "--engine", choices=ENGINES, default="blocked", help="blocked: exact, ties in order; faiss: a flat index"
        )
        parser.add_argument(
            "--device", choices=("cpu", "cuda"), default="cpu", help="where embeddings are multiplied, pairs scored"
        )
        _add_pair_options(parser)
        _add_rerank_options(parser)
        _add_sharing_options(parser)

    def act(self, progress: TerminalBar, **options: Any) -> str | dict[str, Any]:
        collection = Collection.objects.named(options["collection"])
        wish = _wish(options)
        _check_shards(options)
        if options["estimate"]:
            return _estimates(estimate_retrieval(collection, **wish), as_figures=options["json"])

        tried: dict[str, Choice] = {}
        started = timezone.now()
        if options["shards"] is not None:
            jobs = _shared(collection, options)
            if not options["wait"]:
                return _opened(jobs, as_figures=options["json"])
            retrievals = [take_part(job, progress) for job in jobs]
        else:
            retrievals = retrieve(
                collection,
                **wish,
                engine=options["engine"],
                tune=partial(self._note_choice, progress, tried) if options["tune"] else None,
                confirm=partial(self._confirm, progress, options["yes"]),
                progress=progress,
            )
        if options["json"]:
            return {found.annotator.name: _figures(found, started) | _trials(found, tried) for found in retrievals}
        return "\n".join(_line(retrieval, options["depth"], started) for retrieval in retrievals)

    def _note_choice(
        self, progress: TerminalBar, tried: dict[str, Choice], annotator: Annotator, choice: Choice
    ) -> None:
        progress.close()
        lines = [*map(str, choice.trials), f"chosen: {choice.best}"]
        self.stderr.write("\n".join(f"{annotator}: {line}" for line in lines), style_func=str)
        tried[annotator.name] = choice

    def _confirm(self, progress: TerminalBar, yes: bool, estimate: Estimate) -> None:
        progress.close()
        self.stderr.write(str(estimate), style_func=str)
        if estimate.seconds > LONG and not yes:
            raise CounterpartError(_too_long(estimate))


def _add_pair_options(parser: CommandParser) -> None:
    parser.add_argument(
        "--cascade", metavar="A", help="let cross-encoders score only the first places of this machine's lists"
    )
    parser.add_argument(
        "--cascade-depth",
        type=int,
        default=CASCADE_DEPTH,
        metavar="N",
        help=f"how many places of those lists are scored (default {CASCADE_DEPTH})",
    )
    parser.add_argument(
        "--estimate", action="store_true", help="say how many pairs would be scored and how long; search nothing"
    )
    parser.add_argument("--yes", action="store_true", help="start even what is estimated at more than an hour")


def _add_rerank_options(parser: CommandParser) -> None:
    parser.add_argument(
        "--rerank",
        metavar="STEPS",
        help="keep hubs from crowding the lists: csls, is or rgm, or a correction and then rgm, with settings if"
        " wanted: csls:k=10,rgm:k=5:relaxation=2",
    )
    parser.add_argument(
        "--tune",
        action="store_true",
        help="choose those settings, and how many of the steps, on the split val, and print what was tried",
    )


def _add_sharing_options(parser: CommandParser) -> None:
    parser.add_argument(
        "--shards",
        type=int,
        metavar="N",
        help="let Celery's workers, on any number of machines, share each search of embeddings over the whole"
        " gallery in N parts: opens a job a machine and returns; the lists are those of a single run",
    )
    parser.add_argument(
        "--wait",
        action="store_true",
        help="with --shards: work on the parts here as well, until they are joined; needs no worker",
    )


def _wish(options: dict[str, Any]) -> dict[str, Any]:
    """Return what searches and estimates have in common."""
    cascade = options["cascade"]
    return {
        "annotators": find_annotators(options["annotators"].split(",")),
        "sample": Sample.objects.named(options["queries"]) if options["queries"] else None,
        "depth": options["depth"],
        "device": options["device"],
        "cascade": Cascade(find_annotators([cascade])[0], options["cascade_depth"]) if cascade else None,
        "rerank": parse_steps(options["rerank"]) if options["rerank"] is not None else (),
    }


def _check_shards(options: dict[str, Any]) -> None:
    if options["shards"] is None:
        if options["wait"]:
            raise CounterpartError("--wait waits for shards; pass --shards N with it.")
        return
    others = [f"--{name}" for name in ("queries", "cascade", "rerank", "tune", "estimate") if options[name]]
    others += ["--engine faiss"] if options["engine"] == "faiss" else []
    if others:
        raise CounterpartError(
            f"--shards shares plain, exact searches of the whole gallery and does not go with {', '.join(others)};"
            " leave one or the other out."
        )


@transaction.atomic
def _shared(collection: Collection, options: dict[str, Any]) -> list[Job]:
    """Open the jobs of all machines, or none."""
    how = {"shards": options["shards"], "depth": options["depth"], "device": options["device"]}
    annotators = find_annotators(options["annotators"].split(","))
    return [open_shared_retrieval(collection, annotator=annotator, **how) for annotator in annotators]


def _opened(jobs: list[Job], *, as_figures: bool) -> str | dict[str, Any]:
    if as_figures:
        return {
            job.params["annotator"]: {"job": job.pk, "state": job.state, "shards": job.params["shards"]} for job in jobs
        }
    lines = [f"{job.title}: job {job.pk} is {job.state}, {job.params['shards']} shards." for job in jobs]
    return "\n".join([*lines, "Celery's workers take it from here: see the page Jobs, or add --wait to join in."])


def _estimates(estimates: list[Estimate], *, as_figures: bool) -> str | dict[str, Any]:
    if as_figures:
        return {estimate.annotator: asdict(estimate) | {"seconds": estimate.seconds} for estimate in estimates}
    return "\n".join(map(str, estimates)) or "No pairs are left to score one by one."


def _too_long(estimate: Estimate) -> str:
    shorter = "; --cascade MACHINE takes less" if estimate.cascaded else ""
    return (
        "This takes more than an hour. Pass --yes to start it (interrupted, the same command goes on where it was)"
        f"{shorter}."
    )


def _figures(retrieval: Retrieval, started: datetime) -> dict[str, Any]:
    return {
        "depth": retrieval.depth,
        "engine": retrieval.engine,
        "cascade": retrieval.cascade and retrieval.cascade.name,
        "cascade_depth": retrieval.cascade_depth,
        "rerank": retrieval.rerank or None,
        "seconds": round(retrieval.seconds, 3),
        "sha256": retrieval.sha256,
        "kept": retrieval.created_at < started,
    }


def _trials(retrieval: Retrieval, tried: dict[str, Choice]) -> dict[str, Any]:
    if (choice := tried.get(retrieval.annotator.name)) is None:
        return {}
    return {"tried": [{"rerank": written(trial.steps), "recall": trial.recall} for trial in choice.trials]}


def _line(retrieval: Retrieval, asked_depth: int, started: datetime) -> str:
    when = f"kept from {retrieval.created_at:%Y-%m-%d %H:%M}" if retrieval.created_at < started else "searched"
    cut = f", as deep as the gallery allows (of {asked_depth})" if retrieval.depth < asked_depth else ""
    first = f", of the first {retrieval.cascade_depth} of {retrieval.cascade}" if retrieval.cascade else ""
    then = f", re-ranked by {retrieval.rerank}" if retrieval.rerank else ""
    return f"{retrieval}: {when} in {retrieval.seconds:.1f} s, depth {retrieval.depth}{cut}{first}{then}."
