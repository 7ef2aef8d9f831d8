"""The forms of the page of designs: the source of the plan, and the sliders."""

from contextlib import suppress
from typing import Any, Self

from django import forms
from django.http import QueryDict

from console.rounds.design_bases import Source, find_about, judged_rounds, pools_of_pairs, usual_prior, usual_source
from core.errors import CounterpartError
from counterpart_statistics.auditing.plan_basis import Prior
from counterpart_statistics.estimation import METRICS
from evaluation.designing.audit_options import AuditOptions
from hits.rounds.round_parameters import DollarField

USUAL = {"match_rate": 0.2, "rank_effect": 0.5, "share": 0.3, "spread": 1, "width": 0.1, "metric": METRICS[0]}
LEAST_AUDIT = 0.01  # share of the queries, as --audit-share has it


def _slider(low: str, high: str, step: str, label: str, help_text: str) -> forms.FloatField:
    least = float(low)
    most = float(high)
    widget = _range(low, high, step)
    return forms.FloatField(min_value=least, max_value=most, widget=widget, label=label, help_text=help_text)


def _range(low: str, high: str, step: str) -> forms.NumberInput:
    return forms.NumberInput(attrs={"type": "range", "min": low, "max": high, "step": step})


class SourceField(forms.ChoiceField):
    """A judged round or a pool, by its kind and name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=self._offered, **options)

    @staticmethod
    def _offered() -> list[Any]:
        rounds = [(f"round/{one.name}", one.name) for one in judged_rounds()]
        pools = [(f"pool/{one.name}", one.name) for one in pools_of_pairs()]
        return [("Judged rounds", rounds), ("Pools, from priors", pools)]


class DesignForm(forms.Form):
    """The source of the plan, one design, and the target width."""

    source = SourceField(label="Plan from", help_text="A judged round as the pilot, or a pool without judgments.")
    match_rate = _slider("0.05", "0.95", "0.05", "Share of matches", "Of a pool: pairs that match.")
    rank_effect = _slider(
        "0", "2", "0.1", "Effect of ranks", "Of a pool: how well ranks predict matches. 0.3 to 1.0 were measured."
    )
    share = _slider("0.05", "1", "0.05", "Judgments", "Share of those of a round that asks all pairs.")
    spread = _slider("1", "10", "1", "Queries", "Times those of the pilot; their rankings are free.")
    width = _slider("0.01", "0.5", "0.01", "Target width", "Of the widest 95% interval.")
    reward = DollarField(
        max_digits=8,
        widget=_range("0.05", "10", "0.05"),
        label="Reward",
        help_text="US dollars for one assignment.",
    )
    metric = forms.ChoiceField(choices=[(name, name) for name in METRICS], label="Metric")

    @classmethod
    def of(cls, sent: QueryDict) -> Self:
        """Return the form as it was sent, with defaults for missing values."""
        usual = {"source": usual_source()} | {name: str(value) for name, value in USUAL.items()}
        data = usual | {name: str(value) for name, value in sent.items() if value}
        if "reward" not in data:
            kind, _, name = data["source"].partition("/")
            with suppress(CounterpartError):
                data["reward"] = str(Source(find_about(kind, name), usual_prior()).round.reward)
        return cls(data)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and cleaned["share"] / cleaned["spread"] < LEAST_AUDIT:
            raise forms.ValidationError(
                f"An audit judges at least {LEAST_AUDIT:.0%} of its queries. Raise the judgments, or lower the queries."
            )
        return cleaned

    @property
    def chosen(self) -> Source:
        """Return the source of a valid form."""
        about = find_about(*self.cleaned_data["source"].split("/"))
        return Source(about, Prior(self.cleaned_data["match_rate"], self.cleaned_data["rank_effect"]))

    @property
    def options(self) -> AuditOptions:
        """Return the same choice as options of ``plan``."""
        cleaned = self.cleaned_data
        names = ("metric", "width", "reward", "match_rate", "rank_effect")
        return AuditOptions(grid=True, **{name: cleaned[name] for name in names})
