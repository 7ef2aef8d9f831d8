"""A module's name says which one it is: nobody who looks for ``bias.py`` finds two of them."""

from collections import defaultdict
from pathlib import Path

from django.conf import settings

APPS = (
    "core",
    "integrations",
    "corpus",
    "mitl",
    "hits",
    "annotation",
    "crowd",
    "dataset",
    "evaluation",
    "simulation",
    "console",
    "demo",
)
# What every Django app, and every subject of the console, has under these names.
OF_EVERY_APP = {
    "__init__",
    "admin",
    "apps",
    "figures",
    "forms",
    "jobs",
    "models",
    "resources",
    "schemas",
    "tasks",
    "urls",
    "views",
}
# Modules of one part in different places: a base class or errors of their package, a format that is read and written.
# A kind of annotator that is a folder has its work in ``annotator``, its own network and loss in these.
SAME_PART = {"annotator", "loss", "network", "base", "coco", "errors", "files", "progress"}
# A command or a model of a subject has the subject's name; a folder of a platform's has its words.
OF_A_SUBJECT = ("management/commands", "annotation/models", "crowd/models", "mturk", "prolific")


def test_no_two_modules_have_the_same_name():
    found = defaultdict(list)
    root = Path(settings.BASE_DIR)
    folders = [*map(root.joinpath, (*APPS, "config")), *root.glob("packages/*/counterpart_*")]
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        place = path.relative_to(root).as_posix()
        if "migrations" not in path.parts and not any(f"{folder}/" in place for folder in OF_A_SUBJECT):
            found[path.stem].append(place)
    twice = {name: places for name, places in found.items() if len(places) > 1}
    assert {name for name in twice if name not in OF_EVERY_APP | SAME_PART} == set(), twice
