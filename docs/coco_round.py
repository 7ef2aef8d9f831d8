"""A simulated round over COCO's test captions, for its screenshots: python docs/coco_round.py DATA

DATA is the folder of public files that docs/papers.md lists. There are captions and categories, and no pictures:
the annotators go by words and by categories, and a simulated crowd answers from ECCV Caption's positives. It fills the
database of VAR_DIR, once: a second run finds the released version and does nothing.
"""

import gzip
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

QUERIES, DEPTH, PASSWORD = 300, 25, "screenshots only"


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    from django.contrib.auth.models import Group, User
    from django.core.management import call_command

    from dataset.models import Version

    call_command("migrate", verbosity=0)
    if Version.objects.filter(name="coco-v1").exists():
        return
    staff = User.objects.create_superuser("admin", password=PASSWORD)
    staff.groups.set(Group.objects.all())
    with tempfile.TemporaryDirectory() as folder:
        build(Path(sys.argv[1]), Path(folder))


def build(data: Path, folder: Path) -> None:
    from django.core.management import call_command

    from benchmarks.papers.public_files import import_everything, query_files

    def run(command: str, *arguments: object) -> None:
        print(command, *arguments, flush=True)
        call_command(command, *map(str, arguments), verbosity=0)

    rng = np.random.default_rng(0)
    asked = []
    for path in query_files(data, folder):
        asked.append(sorted(rng.choice(path.read_text().split(), QUERIES, replace=False).tolist()))
        path.write_text("\n".join(asked[-1]) + "\n")
    import_everything(data, run)
    files = (f"--images={folder / 'images.txt'}", f"--captions={folder / 'captions.txt'}")
    run("sample_queries", "queries", "--collection=coco", *files)
    run("add_annotator", "words", "--kind=overlap")
    (folder / "categories.json").write_text(json.dumps(rankings_by_category(data, asked[0], asked[1], rng)))
    run("add_annotator", "categories", "--kind=files", f"--checkpoint={folder / 'categories.json'}")
    run("retrieve", "coco", "--annotators=words,categories", "--queries=queries", f"--depth={DEPTH}")
    of_round = ("--annotators=words,categories", "--queries=queries", "--top-k=5")
    run("pool", "coco-pool", "--collection=coco", *of_round, f"--control-depth={DEPTH}")
    run(
        "pack",
        "coco-round",
        "--pool=coco-pool",
        "--replication=2",
        "--ceiling=5000",
        "--reasons",
        "--seed=0",
    )
    run("publish", "coco-round", "--channel=browser", "--skip-missing")
    run("simulate", "coco-round", "--workers=80", "--truth=eccv", "--seed=0")
    run("aggregate", "coco-round", "--method=ordinal")
    of_version = ("--collection=coco", "--queries=queries", "--rounds=coco-round", "--merge=cxc>=3,original")
    run("release", "coco-v1", *of_version)


def rankings_by_category(
    data: Path, images: list[str], captions: list[str], rng: np.random.Generator
) -> dict[str, dict[str, list[str]]]:
    """Rank what shows the same categories as the query's picture first (Jaccard index), the others at random."""
    with gzip.open(data / "coco_test_captions.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    with gzip.open(data / "coco_test_categories.json.gz", "rt") as file:
        shown = json.load(file)
    gallery = sorted({row["image_id"] for row in rows})
    place = {image: row for row, image in enumerate(gallery)}
    has = np.zeros((len(gallery), 91), bool)
    for image in gallery:
        has[place[image], shown[str(image)]] = True
    of_caption = np.array([place[row["image_id"]] for row in rows])
    ids = np.array([str(row["caption_id"]) for row in rows])
    own = dict(zip(ids.tolist(), of_caption.tolist(), strict=True))

    def alike(image: int) -> np.ndarray:
        both, either = (has & has[image]).sum(1), np.maximum(1, (has | has[image]).sum(1))
        return both / either

    def first(scores: np.ndarray) -> np.ndarray:
        return np.argsort(-scores - 1e-6 * rng.random(len(scores)), kind="stable")[:DEPTH]

    return {
        "i2t": {one: ids[first(alike(place[int(one)])[of_caption])].tolist() for one in images},
        "t2i": {one: [str(gallery[row]) for row in first(alike(own[one]))] for one in captions},
    }


if __name__ == "__main__":
    main()
