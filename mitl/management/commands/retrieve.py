from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction

from core import clock
from core.commands import ActCommand
from core.errors import CounterpartError
from core.models import Job
from core.progress import TerminalBar
from core.text import text_table
from counterpart_topk.hubness.chosen_steps import Choice
from counterpart_topk.hubness.reranking import written
from mitl.jobs import search_of
from mitl.models import Annotator, Retrieval
from mitl.search.by_parts import checked_opening, retrieve_by_parts
from mitl.search.request import Search
from mitl.search.retrieval import Estimate, estimate_retrieval, retrieve
from mitl.search.search_parameters import RetrieveParameters
from mitl.search.search_report import HEADS, notes_on, rows_of

LONG = 3600  # seconds above which a search starts only with --yes


class Command(ActCommand):
    step = "annotators"
    help = (
        "Search the whole gallery for a sample's queries: each annotator ranks it, and the top lists are stored. "
        "A search that was made before, by the same weights, is not made again. Pools use each annotator's newest "
        "lists, with or without cascade or re-ranking."
    )

    def act(
        self, progress: TerminalBar, *, parameters: RetrieveParameters, json: bool = False, **options: Any
    ) -> str | dict[str, Any]:
        if parameters.wait and parameters.engine_on == "local":
            raise CounterpartError("--wait needs --engine-on ray.")
        search = search_of(parameters)
        if parameters.estimate:
            return _estimates(estimate_retrieval(search), as_figures=json)

        tried: dict[str, Choice] = {}
        started = clock.now()
        if parameters.by_parts:
            how: dict[str, Any] = {"engine": parameters.engine_on, "shards": parameters.shards}
            if parameters.engine_on != "local" and not parameters.wait:
                return _opened(_open_all(search, **how), as_figures=json)
            retrievals = [retrieve_by_parts(search, one, **how, progress=progress) for one in search.annotators]
        else:
            retrievals = retrieve(
                search,
                tune=partial(self._note_choice, progress, tried) if parameters.tune else None,
                confirm=partial(self._confirm, progress, parameters.yes),
                progress=progress,
            )
        if json:
            return {found.annotator.name: _figures(found, started) | _trials(found, tried) for found in retrievals}
        return "\n".join([*(_line(one, parameters.depth, started) for one in retrievals), *_reported(retrievals)])

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
            shorter = ", or --cascade A for a shorter search" if estimate.cascaded else ""
            raise CounterpartError(
                f"This takes more than an hour. Pass --yes to start it (an interrupted search resumes){shorter}."
            )


def _open_all(search: Search, **how: Any) -> list[Job]:
    """Open the jobs of all annotators, or none."""
    openings = [checked_opening(search, annotator, **how) for annotator in search.annotators]
    with transaction.atomic():
        return [opening() for opening in openings]


def _opened(jobs: list[Job], *, as_figures: bool) -> str | dict[str, Any]:
    if as_figures:
        return {job.params["annotator"]: {"job": job.pk, "state": job.state} for job in jobs}
    lines = [f"{job.title}: job {job.pk} is {job.state}." for job in jobs]
    return "\n".join([*lines, "A worker makes the search: see the page Jobs, or pass --wait to make it from here."])


def _estimates(estimates: list[Estimate], *, as_figures: bool) -> str | dict[str, Any]:
    if as_figures:
        return {estimate.annotator: asdict(estimate) | {"seconds": estimate.seconds} for estimate in estimates}
    return "\n".join(map(str, estimates)) or "There are no pairs to score one by one."


def _figures(retrieval: Retrieval, started: datetime) -> dict[str, Any]:
    return {
        "depth": retrieval.depth,
        "engine": retrieval.engine,
        "cascade": retrieval.cascade and retrieval.cascade.name,
        "cascade_depth": retrieval.cascade_depth,
        "rerank": retrieval.rerank or None,
        "seconds": round(retrieval.seconds, 3),
        "sha256": retrieval.sha256,
        "report": retrieval.report,
        "kept": retrieval.created_at < started,
    }


def _trials(retrieval: Retrieval, tried: dict[str, Choice]) -> dict[str, Any]:
    if (choice := tried.get(retrieval.annotator.name)) is None:
        return {}
    return {"tried": [{"rerank": written(trial.steps), "recall": trial.recall} for trial in choice.trials]}


def _reported(retrievals: list[Retrieval]) -> list[str]:
    """Return a table of what the lists say of each search, and a line for each figure against one."""
    rows = [[one.annotator.name, *cells] for one in retrievals for cells in rows_of(one.report)]
    notes = [f"{one.annotator}: {note}" for one in retrievals for note in notes_on(one.report)]
    return [text_table(("annotator", "direction", *HEADS), rows, left=2), *notes] if rows else []


def _line(retrieval: Retrieval, asked_depth: int, started: datetime) -> str:
    when = f"kept from {retrieval.created_at:%Y-%m-%d %H:%M}" if retrieval.created_at < started else "searched"
    cut = f", as deep as the gallery allows (of {asked_depth})" if retrieval.depth < asked_depth else ""
    first = f", of the first {retrieval.cascade_depth} of {retrieval.cascade}" if retrieval.cascade else ""
    then = f", re-ranked by {retrieval.rerank}" if retrieval.rerank else ""
    return f"{retrieval}: {when} in {retrieval.seconds:.1f} s, depth {retrieval.depth}{cut}{first}{then}."
