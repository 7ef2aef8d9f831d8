"""The house's own pool: people come by the join link, work on our pages and are paid outside."""

from hits.models import Payment, Round


class BrowserChannel:
    """Nothing is called: the join link lives and dies with the round, and the ledger is all there is to pay with."""

    environments: tuple[str, ...] = ()

    def publish(self, round: Round, *, token: str) -> None:
        """The join link works as soon as the round is open."""

    def close(self, round: Round, *, token: str) -> None:
        """The join link gives out no seat once the round is closed."""

    def pay(self, payment: Payment, *, token: str) -> bool:
        return False
