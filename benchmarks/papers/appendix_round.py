"""A round on drawn pictures whose matches are known, for tables A.1, B.2, B.3 and figures of ECCV Caption's appendix.

The demo's five small annotators search 60 drawn pictures, a simulated crowd with the paper's habits judges their top 5
with reasons, and the product's analyses say what came of it. Nothing is kept.
"""

from functools import cache
from typing import Any

from benchmarks.fixtures import figures_of, fresh_database, printed_by

MACHINES = ("pvse", "vsrn", "pcme", "vilt", "clip")
PICTURES, IMAGES, CAPTIONS, WORKERS = 150, 30, 40, 25


@cache
def drawn_round() -> dict[str, Any]:
    """Run the round; return what the analyses find, and the figures that this module takes from the database."""
    with fresh_database():
        from demo.collection import make_demo_collection
        from demo.demo_annotators import add_demo_annotators

        make_demo_collection("drawn", images=PICTURES, seed=0)
        add_demo_annotators()
        queries = ("--collection=drawn", "--queries=queries")
        names = f"--annotators={','.join(MACHINES)}"
        asked = (f"--images={IMAGES}", f"--captions={CAPTIONS}", "--seed=0")
        printed_by("sample_queries", "queries", "--collection=drawn", *asked)
        printed_by("retrieve", "drawn", names, "--queries=queries", "--cascade=pvse", "--cascade-depth=40")
        printed_by("pool", "top-5", names, *queries, "--top-k=5")
        printed_by("pack", "round", "--pool=top-5", "--reward=1.40", "--ceiling=5000", "--seed=0", "--reasons")
        printed_by("publish", "round", "--channel=browser", "--below-floor")
        printed_by("simulate", "round", f"--workers={WORKERS}", "--profile=paper", "--truth=truth", "--seed=0")
        printed_by("aggregate", "round")
        printed_by("release", "v1", *queries, "--rounds=round")
        return {
            "diversity": figures_of("analyse", "diversity", "drawn", names, "--queries=queries"),
            "annotators": figures_of("analyse", "annotators", "round"),
            "reasons": figures_of("analyse", "reasons", "round"),
            "bias": figures_of("analyse", "bias", "v1", "--metrics=R@1,R-Precision"),
            "top 5": _top_five(names),
            "pairs": _proposed(),
            "wrong": _wrong(),
            "question": _question(),
        }


def _top_five(names: str) -> dict[str, int]:
    """Return the rank of the original picture of the first caption in each machine's top 5; 0: not there (A.1)."""
    from corpus.models import Caption, Collection, Sample
    from mitl.models import Annotator, Direction
    from mitl.search.store import newest_lists

    annotators = Annotator.objects.all_named(MACHINES)
    collection, sample = Collection.objects.get(), Sample.objects.get()
    lists = newest_lists(collection, annotators, sample, 5)
    found = lists.items(Direction.CAPTION_TO_IMAGE)[:, 0].tolist()
    query = lists.lists[0][Direction.CAPTION_TO_IMAGE].queries[0]
    own = Caption.objects.get(pk=int(query)).image_id
    return {
        one.name: items.index(own) + 1 if own in items else 0
        for one, items in zip(lists.annotators, found, strict=True)
    }


def _proposed() -> dict[str, int]:
    """Return how many judged pairs all machines proposed, and PCME and VSRN alone (figure E.1)."""
    from dataset.models import Version
    from evaluation.judged_versions import judged_lists

    judged = judged_lists(Version.objects.get()).values()
    two = [[one.annotators.index(name) for name in ("pcme", "vsrn")] for one in judged]
    return {
        "all": sum(int(one.proposed.any(axis=1).sum()) for one in judged),
        "two": sum(int(one.proposed[:, some].any(axis=1).sum()) for one, some in zip(judged, two, strict=True)),
    }


def _wrong() -> tuple[int, int]:
    """Return how many verdicts call a pair a match, and how many of them are wrong by the truth (figure F.1)."""
    from corpus.matches import known_pairs
    from corpus.models import Collection
    from dataset.models import Verdict

    true = set(map(tuple, known_pairs(Collection.objects.get(), "truth", max_grade=2).tolist()))
    found = [(one.image_id, one.caption_id) for one in Verdict.objects.all() if one.is_match]
    return len(found), sum(pair not in true for pair in found)


def _question() -> dict[str, int]:
    """Return what a question of the judging page offers, and the questions of a preset's HIT (figures B.1 and D.2)."""
    from hits.packing.designs import DESIGNS
    from hits.question import Level, Shortcoming, WrongWay
    from hits.task_types import ranking_preference as preference

    design = DESIGNS["eccv-20"]
    return {
        "questions": design.candidates + design.positives + design.negatives,
        "levels": len(Level),
        "shortcomings": len(Shortcoming),
        "ways": len(WrongWay),
        "captions": preference.CAPTIONS,
        "pairs": len(preference.QUESTIONS),
    }
