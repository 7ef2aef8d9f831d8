"""Turns: what people judged for a version teaches its annotators, which then propose pairs that it does not know."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Annotated, Any

from django import forms

from core.errors import CounterpartError, some_of
from core.parameters import OFF_PAGE, POSITIONAL, NamesField, Option, Parameters, ShareField
from core.progress import Progress, silent
from core.seeds import SeedField
from core.text import MAX_NAME, NameField
from corpus.matches import known_pairs
from counterpart_annotators.base import ComparingAnnotator, EmbeddingAnnotator
from dataset.models import Version
from hits.models import Round
from hits.packing.designs import parse_design
from hits.rounds.pipeline import run_pipeline
from hits.rounds.round_parameters import DollarField, RoundParameters
from hits.task_types import require_pairs
from mitl.annotators import load
from mitl.models import Annotator, Pool
from mitl.registration import add_annotator
from mitl.training.examples import Validation
from mitl.training.trainer import train_annotator

FEEDBACK = "feedback"
"""The kind of annotator that a turn teaches."""


class TurnParameters(Parameters):
    """The next round after a released one: who proposes, and what differs from the released round."""

    round: Annotated[str, "the released round", POSITIONAL, OFF_PAGE]
    name: Annotated[
        str,
        NameField(
            required=False,
            max_length=MAX_NAME - len("-pool"),
            help_text="name of the next round (default: that of the first one, -turn and the number of the turn)",
        ),
        POSITIONAL,
    ] = ""
    beyond: Annotated[
        str,
        forms.CharField(
            required=False,
            label="Beyond version",
            help_text="the version whose matches and rejected pairs teach, and which the next round goes beyond "
            "(default: the newest with the round)",
        ),
        Option(metavar="VERSION"),
    ] = ""
    annotators: Annotated[
        tuple[str, ...],
        NamesField(
            required=False,
            help_text="annotators that propose (default: those of the round that compare embeddings, taught by "
            "relevance feedback)",
        ),
    ] = ()
    top_k: Annotated[
        int | None,
        forms.IntegerField(
            required=False, min_value=1, label="Top k", help_text="places of each list to pool (default: as the round)"
        ),
    ] = None
    audit_share: Annotated[
        float | None,
        ShareField(help_text="share of the queries that the audit judges whole (default: as of audit+greedy)"),
    ] = None
    ceiling: Annotated[
        Decimal | None,
        DollarField(
            required=False,
            max_digits=12,
            help_text="maximum cost of the next round in US dollars (default: as the round)",
        ),
    ] = None
    seed: Annotated[
        int | None, SeedField(required=False, help_text="random seed (default: drawn at random and recorded)")
    ] = None


def take_turn(parameters: TurnParameters, *, actor: str, progress: Progress = silent) -> Round:
    """Teach annotators by a version with the round, and pack what they propose beyond it: an audit that likely matches
    follow, of the same queries, designed and paid as the round. Repeating the call resumes it.

    Raises CounterpartError for a round in no version, one without an annotator to teach, and as ``plan_round`` does.
    """
    round = Round.objects.select_related("pool__sample", "pool__collection").named(parameters.round)
    require_pairs(round)
    version = version_of(round, parameters.beyond)
    annotators = parameters.annotators or tuple(_taught(round.pool, version, actor, progress))
    if not annotators:
        names = some_of(list(round.pool.retrievals.values_list("annotator__name", flat=True)))
        raise CounterpartError(
            f"No annotator of round {round} compares embeddings ({names}), so feedback cannot teach one. Train "
            f"others with train_annotator --matches {version} --gallery, and name them with --annotators."
        )
    run_pipeline(_next_round(round, version, annotators, parameters), actor=actor, progress=progress)
    return Round.objects.named(parameters.name or next_name(round))


def next_name(round: Round) -> str:
    """Return the usual name of the next turn, such as pilot-turn3 after pilot-turn2."""
    turn = turn_of(round.pool)
    return f"{round.name.removesuffix(f'-turn{turn}')}-turn{turn + 1}"


def version_of(round: Round, name: str = "") -> Version:
    """Return the version of this name, or the newest one with the round. Raises CounterpartError without one."""
    found = Version.objects.filter(rounds=round).order_by("-released_at", "-pk")
    version = found.filter(name=name).first() if name else found.first()
    if version is None:
        which = f"Version {name} does not hold round {round}" if name else f"Round {round} is in no version"
        raise CounterpartError(f"{which}: its verdicts teach nothing yet. Release it first (release --rounds {round}).")
    return version


def _taught(pool: Pool, version: Version, actor: str, progress: Progress) -> Iterator[str]:
    """Teach a copy of each annotator of the pool that compares embeddings; yield the names of the copies."""
    for annotator in Annotator.objects.filter(retrievals__pools=pool).distinct().order_by("name"):
        progress(f"{annotator}: learning", 0, None)
        base = Annotator.objects.named(annotator.options["of"]) if annotator.kind == FEEDBACK else annotator
        opened = load(base)
        if not isinstance(opened, EmbeddingAnnotator) or isinstance(opened, ComparingAnnotator):
            continue
        taught = add_annotator(f"{base}-{version}", kind=FEEDBACK, options={"of": base.name}, actor=actor)
        train_annotator(
            taught.name,
            collection=version.collection,
            matches=version.name,
            validation=Validation.NONE,
            gallery=True,
            actor=actor,
            progress=progress,
        )
        yield taught.name


def _next_round(
    round: Round, version: Version, annotators: Sequence[str], parameters: TurnParameters
) -> RoundParameters:
    pool = round.pool
    return RoundParameters(
        round=parameters.name or next_name(round),
        collection=pool.collection.name,
        queries=pool.sample.name,
        annotators=tuple(annotators),
        top_k=parameters.top_k or pool.top_k,
        control_depth=max(pool.control_depth, parameters.top_k or 0),
        direction=pool.directions[0] if len(pool.directions) == 1 else "both",
        beyond=version.name,
        task=round.task,
        design=parse_design(round.design),
        sharing=round.summary.get("sharing", "avoid"),
        seed=parameters.seed,
        reward=round.reward,
        ceiling=parameters.ceiling or round.ceiling,
        replication=round.replication,
        top_up=round.top_up,
        reasons=round.reasons,
        judge="audit+greedy",
        audit_share=parameters.audit_share,
    )


def turn_of(pool: Pool) -> int:
    """Return which turn a pool is: 1, or one more than the last turn of the version that it goes beyond."""
    version = Version.objects.filter(name=pool.beyond).first() if pool.beyond else None
    if version is None:
        return 1
    return 1 + max((turn_of(round.pool) for round in version.rounds.select_related("pool")), default=0)


def lineage_of(pool: Pool) -> dict[str, Any]:
    """Return the manifest's entries on the version that a pool goes beyond; empty for a pool that goes beyond none."""
    if not pool.beyond:
        return {}
    digests = Version.objects.filter(name=pool.beyond).values_list("manifest_sha256", flat=True)
    return {"beyond": pool.beyond, "beyond_sha256": digests.first(), "turn": turn_of(pool)}


def check_lineage(pool: Pool, described: dict[str, Any]) -> list[str]:
    """Return what is wrong with a released turn: another version before it, or pairs that the version knew."""
    if not pool.beyond:
        return []
    lineage = lineage_of(pool)
    problems = [
        f"Pool {pool} goes beyond {pool.beyond}, whose {name.replace('_', ' ')} is {lineage[name]}, not "
        f"{described.get(name)}."
        for name in lineage
        if lineage[name] != described.get(name)
    ]
    known = set(map(tuple, known_pairs(pool.collection, pool.beyond).tolist()))
    again = known & set(pool.proposals.order_by().values_list("image_id", "caption_id").distinct())
    if again:
        problems.append(f"{len(again):,} pairs of pool {pool} are known to {pool.beyond}, which it goes beyond.")
    return problems
