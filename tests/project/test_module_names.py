"""No two modules have one name, so that a search for ``bias.py`` finds one file."""

from collections import defaultdict

from tests.project.names import APPS, ROOT

# What every Django app, and every subject of the console, has under these names.
OF_EVERY_APP = {
    *(
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
    )
}
# Modules of one part in different places: a base class or errors of their package, a format that is read and written.
# A kind of annotator that is a folder has its work in ``annotator``, its own network and loss in these.
SAME_PART = {"annotator", "loss", "network", "base", "coco", "errors", "files", "progress"}
# A command or a model of a subject has the subject's name; a folder of a platform's has its words.
OF_A_SUBJECT = ("management/commands", "annotation/models", "crowd/models", "mturk", "prolific")


def test_no_two_modules_have_the_same_name():
    found = defaultdict(list)
    folders = [*map(ROOT.joinpath, (*APPS, "config")), *ROOT.glob("packages/*/counterpart_*")]
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        if "migrations" not in path.parts and not any(f"{folder}/" in place for folder in OF_A_SUBJECT):
            found[path.stem].append(place)
    twice = {name: places for name, places in found.items() if len(places) > 1}
    assert {name for name in twice if name not in OF_EVERY_APP | SAME_PART} == set(), twice
