"""A complete round on the demo collection: annotators, a simulated crowd, a released version, scores."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from decimal import Decimal

from django.contrib.auth.models import Group, User
from django.db import connection

from annotation.models import Admission, QualificationTest
from annotation.people.admission import make_admission
from annotation.people.qualification_questions import Best, set_best
from annotation.people.qualification_tests import QualificationPlan, make_test
from console.charts.chart_jobs import count_charts, due_charts
from console.permissions import ADMIN
from console.trust.trust_figures import measure_trust
from core.errors import CounterpartError
from core.progress import Progress, silent
from corpus.matches import known_pairs
from corpus.models import Collection, Match
from counterpart_drawn.grades import grade
from counterpart_drawn.plates import compose
from counterpart_metrics import Coverage, coverage
from crowd.posting.publication import close_round, publish_round
from dataset.judged.verdict_worth import round_sentences
from dataset.models import Aggregation, Review, Verdict, Version
from dataset.releases.release import release
from dataset.releases.release_parameters import ReleaseParameters
from dataset.verdicts import aggregate_round
from dataset.versions.version_files import load_positives
from demo.collection import make_demo_collection
from demo.demo_annotators import add_demo_annotators
from evaluation.scores.scoring import evaluate_version
from hits.models import Round
from hits.question import RIGHT_LEVELS, Level
from hits.rounds.packed_rounds import pack_round
from hits.rounds.pipeline import run_pipeline
from hits.rounds.round_parameters import PackParameters, RoundParameters
from mitl.models import Direction
from simulation.simulated_rounds import simulate_round
from simulation.simulated_workers import reviewing_user

COLLECTION = "demo"
JUDGED = "demo-round"
OPEN = "demo-try-it"
DOUBTFUL = "demo-doubtful"
VERSION = "demo-v1"
REVIEWED = "demo-v2"
CASCADE = "pvse"  # the annotator whose best candidates ViLT scores
CASCADE_DEPTH = 40  # the number of these
LOGIN = "demo"
CEILING = Decimal(1_000)
WHY = {
    1: "Every word of it is true here.",
    2: "One detail of it is wrong.",
    3: "Its main thing or two of its details are wrong, and something of it is true.",
    4: "Hardly anything of it is true here.",
}
"""What the practice says of a level, as ``counterpart_drawn.grades`` counts faults."""


@dataclass(frozen=True)
class Figures:
    """Coverage of a version and of the original matches, measured against the known truth at levels 1 and 2."""

    judged: int
    positives: int
    original: dict[Direction, Coverage]
    released: dict[Direction, Coverage]


Stage = Callable[[str], AbstractContextManager[None]]
STAGES = 7


def demonstrate(*, progress: Progress = silent, stage: Stage = lambda what: nullcontext()) -> Figures:
    """Create everything that the demo shows, unless it exists, and return the figures of the first version.

    Simulated workers answer a first round, which is released; a reviewer then corrects verdicts, which makes a second
    version. A second round stays open for visitors, with a practice and a test. A third, of the same pool, was answered
    by a careless crowd: its doubtful pairs can be judged again.
    The annotators are small versions of the five of ECCV Caption, trained on other drawn pictures.
    """
    with stage("Draw pictures whose captions and matches are known, and add five small annotators"):
        collection = make_demo_collection(COLLECTION, progress=progress)
        annotators = [annotator.name for annotator in add_demo_annotators()]
    released = Version.objects.filter(name=VERSION).exists()
    with stage(f"Plan {JUDGED}: the annotators search for 90 images and 110 captions"):
        if not released:
            _plan(JUDGED, annotators, images=90, captions=110, seed=1, progress=progress)
    judged = Round.objects.named(JUDGED)
    with stage(f"Let 40 careful simulated workers judge it, and release {VERSION}"):
        if not released:
            _run_round(judged, progress)
    with stage(f"Let a reviewer correct what was judged wrong, and release {REVIEWED}"):
        if not Version.objects.filter(name=REVIEWED).exists():
            _review(judged, progress)
    with stage(f"Plan and open {OPEN}, a small round for you to judge, with a practice and a test"):
        to_try = _plan(OPEN, annotators, images=12, captions=12, seed=2, progress=progress)
        publish_round(to_try, admission=_admission(collection), actor="demo")
    with stage(f"Let careless simulated workers judge the same pairs as {DOUBTFUL}"):
        _run_doubtful_round(to_try, progress)
    with stage("Count the charts of its rounds, versions and pools"):
        for kind, thing in due_charts():
            count_charts(kind, thing, progress=progress)
    return figures(Version.objects.select_related("collection", "sample").get(name=VERSION))


def refuse_other_databases() -> None:
    """Raise CounterpartError if the database is neither empty nor one that the demo made: the demo adds a superuser."""
    if Round._meta.db_table not in connection.introspection.table_names():
        return
    if Round.objects.filter(name=JUDGED, pool__collection__name=COLLECTION).exists():
        return
    collections = Collection.objects.exclude(name=COLLECTION).count()
    accounts = User.objects.exclude(username=LOGIN).count()
    if collections or accounts:
        raise CounterpartError(
            f"This database is not the demo's: other collections {collections}, other accounts {accounts}. "
            "Run make demo, or set VAR_DIR to a new folder and unset DATABASE_URL."
        )


def figures(version: Version) -> Figures:
    """Measure the version's coverage in each direction, over the queries of that direction."""
    truth, original = (_pairs(version, source) for source in ("truth", Match.ORIGINAL))
    found = load_positives(version)
    return Figures(
        judged=version.manifest["counts"]["judged"],
        positives=version.manifest["counts"]["positives"],
        original={direction: coverage(original[direction], truth[direction]) for direction in Direction},
        released={direction: coverage(found[direction], truth[direction]) for direction in Direction},
    )


def wrong_verdicts(round: Round) -> list[Verdict]:
    """Return the verdicts of a round that call a true match none, or another pair a match."""
    true = set(map(tuple, known_pairs(round.pool.collection, "truth", max_grade=2).tolist()))
    verdicts = Verdict.objects.filter(aggregation__round=round).order_by("image_id", "caption_id")
    return [one for one in verdicts if one.is_match != ((one.image_id, one.caption_id) in true)]


def said_and_true() -> Iterator[str]:
    """Say of both judged rounds how many verdicts are wrong as their pages do, and how many are by the truth."""
    for aggregation in Aggregation.objects.filter(round__name__in=(JUDGED, DOUBTFUL)).order_by("round__name"):
        said = next(round_sentences(aggregation.certainty), "")
        yield f"{aggregation.round}: {said} By the truth {len(wrong_verdicts(aggregation.round)):,} are."


def make_login() -> str:
    """Create or reset the demo's account; return its new password, which is written to no file or log."""
    user, _ = User.objects.get_or_create(username=LOGIN)
    password = secrets.token_urlsafe(9)
    user.is_staff = True
    user.is_superuser = True
    user.set_password(password)
    user.save()
    user.groups.add(Group.objects.get(name=ADMIN))
    return password


def _admission(collection: Collection) -> Admission:
    """Return a practice and a short test, of training pictures: no round asks about them."""
    practice = make_test(
        "demo-practice", collection=collection, plan=QualificationPlan(3, 3, pass_mark=4, seed=1), actor="demo"
    )
    set_best(practice, _best_levels(practice), actor="demo")
    plan = QualificationPlan(2, 2, pass_mark=3, attempts=5, seed=2)
    test = make_test("demo-test", collection=collection, plan=plan, actor="demo")
    return make_admission(practice=practice, test=test)


def _best_levels(practice: QualificationTest) -> dict[int, Best]:
    """Return the exact level of each pair, by its place: how the pictures were drawn is known."""
    drawn = practice.collection.drawn or {}
    plates = {plate.key: plate for plate in compose(drawn["images"], drawn["seed"])}
    best = {}
    keys = ("image__key", "caption__image__key", "caption__key")
    for place, polarity, image, lender, caption in practice.items.values_list("place", "polarity", *keys):
        meaning = plates[lender].meanings[plates[lender].caption_keys.index(caption)]
        level = grade(meaning, plates[image].scene)
        if level in RIGHT_LEVELS[polarity]:
            best[place] = Best(level, WHY[level])

    return best


def _run_round(judged: Round, progress: Progress) -> None:
    publish_round(judged, actor="demo")
    simulate_round(judged, workers=40, profile="careful", truth="truth", seed=1, progress=progress)
    close_round(judged, actor="demo")
    aggregate_round(judged, progress=progress)
    _release(VERSION, judged, progress)


def _release(name: str, judged: Round, progress: Progress) -> None:
    queries = judged.pool.sample.name
    parameters = ReleaseParameters(version=name, collection=COLLECTION, queries=queries, rounds=(judged.name,))
    released = release(parameters, progress=progress)
    evaluate_version(released, progress=progress)
    measure_trust(released, progress=progress)


def _run_doubtful_round(to_try: Round, progress: Progress) -> None:
    doubtful = pack_round(
        DOUBTFUL, to_try.pool, PackParameters(ceiling=CEILING, seed=3), actor="demo", progress=progress
    )
    if doubtful.aggregations.exists():
        return
    publish_round(doubtful, actor="demo")
    simulate_round(doubtful, workers=20, profile="paper", truth="truth", seed=3, progress=progress)
    aggregate_round(doubtful, progress=progress)


def _review(judged: Round, progress: Progress) -> None:
    """Let a reviewer who knows the truth correct the verdicts that are wrong, and release the round again."""
    collection = judged.pool.collection
    reviewer = reviewing_user()
    wrong = [
        Review(
            collection=collection,
            image_id=verdict.image_id,
            caption_id=verdict.caption_id,
            conclusion=Review.Conclusion.LEVEL,
            level=Level.NO if verdict.is_match else Level.YES,
            by=reviewer,
        )
        for verdict in wrong_verdicts(judged)
    ]
    if not Review.objects.filter(collection=collection, by=reviewer).exists():  # of a demo that was interrupted
        Review.objects.bulk_create(wrong)
    _release(REVIEWED, judged, progress)


def _plan(name: str, annotators: list[str], *, images: int, captions: int, seed: int, progress: Progress) -> Round:
    parameters = RoundParameters(
        round=name,
        collection=COLLECTION,
        annotators=tuple(annotators),
        images=images,
        captions=captions,
        ceiling=CEILING,
        cascade=CASCADE,
        cascade_depth=CASCADE_DEPTH,
        seed=seed,
    )
    run_pipeline(parameters, actor="demo", progress=progress)
    return Round.objects.named(name)


def _pairs(version: Version, source: str) -> dict[Direction, dict[int, set[int]]]:
    """Return a source's matches of levels 1 and 2, by query of the version."""
    sides = (version.sample.images, version.sample.captions)
    positives: dict[Direction, dict[int, set[int]]] = {
        direction: {query: set() for query in side.values_list("pk", flat=True)}
        for direction, side in zip(Direction, sides, strict=True)
    }
    worst = 2 if source == "truth" else None
    for pair in known_pairs(version.collection, source, max_grade=worst).tolist():
        for found, query, item in zip(positives.values(), pair, reversed(pair), strict=True):
            if query in found:
                found[query].add(item)
    return positives
