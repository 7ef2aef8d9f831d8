"""A complete round over ECCV Caption's queries, from public files to an export:

    python -m benchmarks.eccv_caption DATA [--write]

DATA is a folder with the public files listed in docs/eccv-caption.md. An annotator proposes pairs by word overlap, a
simulated crowd answers from ECCV Caption's positives, and the release merges CxC as in the paper. Prints the seconds
of every step, then the figures as JSON; with --write the tables of docs/eccv-caption.md are written from them. All
seeds are fixed, so only the seconds differ between two runs.
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.doc_tables import write_tables
from benchmarks.fixtures import Stopwatch, fresh_database

# Appendix C.1 of the paper: captions that say no picture was shown, and captions that are wrong for their picture.
MEANINGLESS = (
    607516, 607486, 433639, 248212, 469834, 462530, 469102, 743575, 246706,
    61717, 500797, 19273, 630298, 576409, 390637, 296557, 450553, 44809,
)  # fmt: skip
SEMANTICALLY_WRONG = (
    610564, 359139, 218995, 609235, 143250, 375316, 712683, 75083, 625605, 620511, 613949, 129825, 605566, 634829,
)  # fmt: skip


def query_files(data: Path, folder: Path) -> tuple[Path, Path]:
    """Write ECCV Caption's query images and captions, one id per line."""
    files = []
    for side, name in (("images", "eccv_image_to_caption"), ("captions", "eccv_caption_to_image")):
        keys = json.loads((data / "eccv_caption" / f"{name}.json").read_text())
        files.append(folder / f"{side}.txt")
        files[-1].write_text("\n".join(keys) + "\n")
    return files[0], files[1]


def import_everything(data: Path, run: Callable[..., None]) -> None:
    """Import the captions and all public matches."""
    run("import_collection", "coco", data / "coco_test_captions.jsonl.gz", "--format=jsonl")
    run("import_collection", "coco", data / "coco_test_extra_captions.jsonl", "--format=jsonl", "--append")
    for name in ("eccv_image_to_caption", "eccv_caption_to_image"):
        run("import_matches", "coco", data / "eccv_caption" / f"{name}.json", "--source=eccv", "--skip-unknown")
    run("import_matches", "coco", data / "cxc" / "sits_test.csv.gz", "--source=cxc")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of public files")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/eccv-caption.md")
    options = parser.parse_args()
    with fresh_database(), tempfile.TemporaryDirectory() as folder:
        made = whole_round(options.data, Path(folder))
    print(json.dumps(made, indent=2))
    if options.write:
        write_tables("eccv_caption", tables(made), page="eccv-caption.md")


def whole_round(data: Path, folder: Path) -> dict:
    """Run the round; return its figures."""
    from django.core.management import call_command

    watch = Stopwatch()

    def run(command: str, *arguments: object) -> None:
        with watch.step(command):
            call_command(command, *map(str, arguments), verbosity=0)

    images, captions = query_files(data, folder)
    import_everything(data, run)
    run("sample_queries", "eccv-queries", "--collection=coco", f"--images={images}", f"--captions={captions}")
    run("add_annotator", "overlap", "--kind=overlap")
    run("retrieve", "coco", "--annotators=overlap", "--queries=eccv-queries")
    run("pool", "overlap-5", "--collection=coco", "--annotators=overlap", "--queries=eccv-queries", "--top-k=5")
    run("pack", "eccv-round", "--pool=overlap-5", "--reward=0.65", "--ceiling=5000", "--seed=0")
    run("publish", "eccv-round", "--channel=browser", "--skip-missing", "--below-floor")
    run("simulate", "eccv-round", "--workers=200", "--truth=eccv", "--seed=0")
    run("aggregate", "eccv-round")
    queries = ("--collection=coco", "--queries=eccv-queries")
    run("release", "eccv-overlap", *queries, "--rounds=eccv-round", "--merge=cxc>=3,original")
    run("verify", "eccv-overlap")
    run("export", "eccv-overlap", "--format=eccv-json", f"--out={folder / 'export'}")
    run("release", "published", *queries, "--merge=eccv,cxc>=3")
    for name, unusable in {"meaningless": MEANINGLESS, "all-of-c1": MEANINGLESS + SEMANTICALLY_WRONG}.items():
        (folder / name).write_text("\n".join(map(str, unusable)))
        run("release", f"published-{name}", *queries, "--merge=eccv,cxc>=3", f"--exclude-captions={folder / name}")
        run("verify", f"published-{name}")
    run("diff", "published", "published-all-of-c1")
    return {"seconds": round(sum(watch.seconds.values()), 1), **figures()}


def figures() -> dict:
    """Return the figures of the round from its rows."""
    from annotation.models import Assignment
    from corpus.matches import known_pairs
    from dataset.models import Version
    from hits.models import Round

    version, made = Version.objects.get(name="eccv-overlap"), Round.objects.get(name="eccv-round")
    work = Assignment.objects.filter(hit__round=made, submitted_at__isnull=False)
    published = {tuple(pair) for pair in known_pairs(version.collection, "eccv").tolist()}
    found = {tuple(pair) for pair in known_pairs(version.collection, version.name, min_score=1).tolist()}
    return {
        "plan": made.summary,
        "submissions": work.count(),
        "excluded": work.filter(state=Assignment.State.EXCLUDED).count(),
        "released": version.manifest["counts"],
        "positives per source": version.manifest["sources"],
        "positives of ECCV Caption": len(published),
        "share of them found": round(len(found & published) / len(published), 4),
        "from the published files alone (t2i, i2t)": {
            other.name: [other.manifest["counts"]["t2i"], other.manifest["counts"]["i2t"]]
            for other in Version.objects.filter(name__startswith="published").order_by("name")
        },
    }


SOURCES = {
    "original": "original",
    "judged": "judged",
    "cxc>=3": "CxC ≥ 3",
    "eccv-overlap": "**released** (judged ∪ CxC ≥ 3 ∪ original)",
}
PUBLISHED = {
    "published": "ECCV Caption ∪ CxC",
    "published-meaningless": "without the 18 meaningless captions of appendix C.1",
    "published-all-of-c1": "without all 32 captions of appendix C.1",
}


def tables(made: dict) -> str:
    """Return the figures of a round as the tables of the page."""
    plan = made["plan"]
    cost = made["plan"]["cost"]
    sharing = plan["shared_images"] + plan["shared_captions"]
    by_source = {row["source"]: row for row in made["positives per source"]}
    published = made["from the published files alone (t2i, i2t)"]
    lines = [
        "| the round | |",
        "|---|---|",
        f"| pairs in the pool (word overlap, top 5, both directions) | {plan['pairs']:,} |",
        f"| HITs, by `eccv-18` | {plan['hits']:,} |",
        f"| gold controls, positive and negative | {plan['positives']:,} and {plan['negatives']:,} |",
        f"| two pairs of a HIT sharing an image or a caption | {sharing or 'none'} |",
        f"| cost at $0.65 without fees / with a 20% fee | ${cost['browser']['total']} / ${cost['mturk']['total']} |",
        f"| submissions of 200 careful simulated workers | {made['submissions']:,} |",
        f"| excluded, and judged again by another worker | {made['excluded']:,} |",
        f"| ECCV Caption's {made['positives of ECCV Caption']:,} positives that the version holds"
        f" | {made['share of them found']:.1%} |",
        "",
        "| positives on the queries | images | × original | captions | × original |",
        "|---|---|---|---|---|",
        *(
            f"| {title} | {row['images']:,} | {row['times_images']:.2f} | {row['captions']:,}"
            f" | {row['times_captions']:.2f} |"
            for name, title in SOURCES.items()
            for row in [by_source[name]]
        ),
        "",
        "| the published dataset, made again | caption → images | image → captions |",
        "|---|---|---|",
        *(f"| {title} | {published[name][0]:,} | {published[name][1]:,} |" for name, title in PUBLISHED.items()),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
