from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from dataset.releases.release import release
from dataset.releases.release_parameters import ReleaseParameters

SOURCES = {
    "images": "images for caption queries",
    "captions": "captions for image queries",
    "times_images": "images as a multiple of the original ones",
    "times_captions": "captions as a multiple of the original ones",
}
"""The figures of each source of positives in words."""


class Command(ActCommand):
    step = "version"
    help = "Release a version: the positive verdicts of rounds, united with match sources. It never changes again."
    figures = True
    parameters = ReleaseParameters

    def act(self, progress: TerminalBar, *, parameters: ReleaseParameters, **options: Any) -> dict[str, Any]:
        version = release(parameters, progress=progress)
        sources = version.manifest["sources"]
        if not options["json"]:
            sources = [{SOURCES.get(name, name): figure for name, figure in row.items()} for row in sources]
        return {"version": version.name, **version.manifest["counts"], "sources": sources}
