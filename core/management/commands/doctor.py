from typing import Any

from django.core.management.base import CommandError

from core.commands import ActCommand, as_json
from core.health.checks import examine


class Command(ActCommand):
    step = "site"
    help = "Find what is wrong with this installation; each finding names the line to change."
    figures = True
    requires_system_checks = ()  # they are findings here
    requires_migrations_checks = False

    def act(self, **options: Any) -> str:
        findings = list(examine())
        wrong = [finding for finding in findings if finding.change]
        if options["json"]:
            rows = [
                {"check": one.check, "ok": not one.change, "found": one.found, "change": one.change} for one in findings
            ]
            outcome = as_json({"wrong": len(wrong), "findings": rows})
        else:
            outcome = "\n".join(
                f"{one.check}: WRONG. {one.found} Change: {one.change}" if one.change else f"{one.check}: {one.found}"
                for one in findings
            )
        if wrong:
            self.stdout.write(outcome)
            raise CommandError(f"{len(wrong)} of {len(findings)} findings need a change.")
        return outcome
