from typing import Any

from django.core.management.base import CommandError

from core.commands import ActCommand, argument, as_json
from core.progress import TerminalBar
from dataset.models import Version
from dataset.releases.verification import Check, verify_version
from evaluation.scores.score_checks import check_scores


class Command(ActCommand):
    step = "version"
    help = (
        "Rebuild a version from its judgments: packing, verdicts, merge and scores; and compare everything with its "
        "files, the collection and the database."
    )
    arguments = (argument("version", help="name of the version"),)

    def act(self, progress: TerminalBar, **options: Any) -> str | dict[str, Any]:
        version = Version.objects.named(options["version"])
        checks = [*verify_version(version, progress=progress), check_scores(version, progress=progress)]
        if options["json"]:
            outcome: str | dict[str, Any] = {
                "version": version.name,
                "passed": all(check.passed for check in checks),
                "checks": [{"check": one.name, "problems": one.problems, "notes": one.notes} for one in checks],
            }
        else:
            outcome = "\n".join(line for check in checks for line in _lines(check))
        if failed := [check.name for check in checks if not check.passed]:
            self.stdout.write(str(outcome) if isinstance(outcome, str) else as_json(outcome))
            raise CommandError(f"Version {version} does not verify: {', '.join(failed)}.")
        return outcome


def _lines(check: Check) -> list[str]:
    state = "ok" if check.passed else "FAILED"
    details = [*check.problems, *(f"note: {note}" for note in check.notes)]
    return [f"{check.name}: {state}", *(f"  {detail}" for detail in details)]
