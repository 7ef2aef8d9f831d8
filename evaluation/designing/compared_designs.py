"""Designs of a round side by side, by cost and width, as the command ``plan`` and the page of designs show them."""

from dataclasses import dataclass
from functools import cached_property

from annotation.money.wages import was_played
from counterpart_statistics.auditing.audit_designs import AuditDesign, FirstHits, design_of, work_of
from counterpart_statistics.auditing.plan_basis import PlanBasis
from evaluation.designing.audit_options import AuditOptions, Terms, terms_of
from evaluation.designing.predictions import Compared, compare_with_real
from hits.models import Round

SHARES = (0.1, 0.2, 0.3, 0.5)
SPREADS = (1, 4)
GRID_SHARES = tuple(number / 20 for number in range(1, 20))
GRID_SPREADS = (1, 2, 4, 10)


@dataclass(frozen=True)
class ComparedDesigns:
    """A round of all pairs and audits of its queries, or of more of the same kind, as ``options`` wish them."""

    round: Round
    basis: PlanBasis
    options: AuditOptions

    @cached_property
    def terms(self) -> Terms:
        return terms_of(self.round, self.options.reward)

    @cached_property
    def designs(self) -> list[AuditDesign]:
        shares, spreads = (GRID_SHARES, GRID_SPREADS) if self.options.grid else (SHARES, SPREADS)
        return [self.design(1.0, 1.0), *(self.design(share, spread) for spread in spreads for share in shares)]

    def design(self, share: float, spread: float) -> AuditDesign:
        return design_of(self.basis, self.terms, share, spread, self.options.queries)

    @property
    def first_hits(self) -> FirstHits:
        return FirstHits(self.basis.first_hits, *work_of(self.basis.first_hits, self.terms))

    @cached_property
    def cheapest(self) -> AuditDesign | None:
        """The cheapest design whose intervals are all as narrow as the target; None without one or a target."""
        target = self.options.width
        narrow = [one for one in self.designs if target and one.widest(self.options.metric) <= target]
        return min(narrow, key=lambda one: one.cost, default=None)

    @property
    def least_width(self) -> float:
        return min(one.widest(self.options.metric) for one in self.designs)

    @cached_property
    def real(self) -> list[Compared]:
        """The predicted figures of the round with the real ones; nothing without a prediction."""
        return compare_with_real(self.round, self.basis)

    @property
    def was_played(self) -> bool:
        """Whether programs did work of a round whose real figures are shown."""
        return bool(self.real) and was_played(self.round)


def matches_text(basis: PlanBasis) -> str:
    """Say how many matches a round of all pairs finds."""
    one = basis.interval
    among = f"among {basis.pairs.distinct:,} pairs"
    if one.counted:
        return f"{one.matches:,.0f} matches {among}, counted: all pairs are judged."
    return (
        f"About {one.matches:,.0f} matches {among} ({one.level:.0%}: {one.matches_low:,.0f} to "
        f"{one.matches_high:,.0f}), estimated from {one.n_audited:,} queries."
    )
