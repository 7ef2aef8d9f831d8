"""Heal what crashes left behind, by hand."""

from typing import Any

from annotation.reconciling import reconcile
from core.commands import ActCommand
from core.progress import TerminalBar


class Command(ActCommand):
    help = "Expire old leases, send lost jobs and calls again, grade what waits: what the clock does by itself."
    figures = True

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        return {**reconcile()}
