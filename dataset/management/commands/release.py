from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from dataset.releases.release_parameters import ReleaseParameters

SOURCES = {
    "source": "source",
    "images": "images for caption queries",
    "times_images": "times_images",
    "captions": "captions for image queries",
    "times_captions": "times_captions",
}
"""The columns of the table of sources, as on a version's page."""


class Command(ActCommand):
    step = "version"
    help = "Release a version: the positive verdicts of rounds, united with match sources. It never changes again."

    def act(self, progress: TerminalBar, *, parameters: ReleaseParameters, **options: Any) -> dict[str, Any]:
        from dataset.releases.release import release  # slow to import

        version = release(parameters, progress=progress)
        sources = version.manifest["sources"]
        if not options["json"]:
            sources = [{label: row[name] for name, label in SOURCES.items()} for row in sources]
        return {"version": version.name, **version.manifest["counts"], "sources": sources}
