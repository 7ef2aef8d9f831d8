"""The browser pool: workers come by the join link, work on our pages, and are paid outside."""

from hits.prices import FeeSchedule


class BrowserChannel:
    """No platform: the join link works while the round is open, and payments are marked by hand from the ledger."""

    environments: tuple[str, ...] = ()
    label = "Browser (your own workers)"
    unused = frozenset({"max_sessions"})

    def describe(self, environment: str) -> str:
        return "Workers come by the join link that you share, and you pay them outside."

    def spends(self, environment: str) -> bool:
        return False

    def fees(self, *, top_workers: bool) -> FeeSchedule:
        return FeeSchedule()
