"""The house's own pool: people come by the join link, work on our pages and are paid outside."""

from crowd.offers import Offer
from hits.prices import FeeSchedule


class BrowserChannel:
    """Nothing is called: the join link lives and dies with the round, and the ledger is all there is to pay from."""

    environments: tuple[str, ...] = ()
    is_remote = False
    label = "Our own pool"

    def describe(self, environment: str) -> str:
        return "People come by the join link that you share, and you pay them outside."

    def spends(self, environment: str) -> bool:
        return False

    def fees(self, offer: Offer) -> FeeSchedule:
        return FeeSchedule()
