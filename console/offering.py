"""What a round offers on a platform, as staff fill it in and confirm it."""

from dataclasses import fields
from typing import Any

from django import forms

from annotation.wages import alike_rounds
from crowd.offers import LIMITS, LONGEST, Offer
from hits.models import Round

DEFAULT = Offer()


def _words(name: str, **more: Any) -> forms.CharField:
    return forms.CharField(initial=getattr(DEFAULT, name), max_length=LONGEST[name], **more)


def _number(name: str, label: str, help_text: str = "") -> forms.IntegerField:
    least, most = LIMITS[name]
    return forms.IntegerField(
        initial=getattr(DEFAULT, name), min_value=least, max_value=most, label=label, help_text=help_text
    )


class OfferForm(forms.Form):
    """An Offer, how long a HIT takes, and whether missing pictures are borne with."""

    title = _words("title")
    description = _words("description", widget=forms.Textarea(attrs={"rows": 2}))
    keywords = _words("keywords", help_text="With commas between.")
    minutes = _number("minutes", "Minutes to keep a HIT", "Generous: it is a limit, not the time that work takes.")
    lifetime_days = _number("lifetime_days", "Days on the market")
    auto_approval_days = _number(
        "auto_approval_days", "Days to decide on work", "Then the platform approves and pays it."
    )
    frame_height = _number("frame_height", "Height of our page, in pixels", "0 fits it to the page.")
    countries = forms.CharField(
        required=False, max_length=200, label="Countries", help_text="Such as US,CA,GB. Empty: any country."
    )
    min_approved = _number("min_approved", "Approved work, at least", "Shuts newcomers out.")
    min_approval_rate = _number("min_approval_rate", "Percentage approved, at least", "0: any.")
    masters = forms.BooleanField(required=False, label="Only workers whom the platform has picked, for a higher fee")
    expected_minutes = forms.DecimalField(
        required=False,
        max_digits=6,
        decimal_places=2,
        label="Expected minutes",
        help_text="What you state that a HIT takes; the journal keeps it.",
    )
    pilot = forms.ModelChoiceField(
        Round.objects.none(), to_field_name="name", required=False, empty_label="the latest round that asked the same"
    )
    skip_missing = forms.BooleanField(required=False, label="Publish although pictures are missing")

    def __init__(self, *args: Any, round: Round, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        alike = [other.pk for other in alike_rounds(round)]
        self.fields["pilot"].queryset = Round.objects.filter(pk__in=alike)  # type: ignore[attr-defined]

    def clean_countries(self) -> tuple[str, ...]:
        codes = self.cleaned_data["countries"].upper().split(",")
        return tuple(code.strip() for code in codes if code.strip())

    def offer(self) -> Offer:
        """Return the Offer. Raises CounterpartError for values that no platform takes."""
        return Offer(**{one.name: self.cleaned_data[one.name] for one in fields(Offer)})

    def timing(self) -> dict[str, Any]:
        """Return what ``publish_round`` is told of the time that a HIT takes."""
        return {"pilot": self.cleaned_data["pilot"], "expected_minutes": self.cleaned_data["expected_minutes"]}

    def params(self) -> dict[str, Any]:
        """Return what the job needs besides the round and where it goes, as JSON has it."""
        minutes, pilot = self.cleaned_data["expected_minutes"], self.cleaned_data["pilot"]
        return {
            "offer": self.offer().as_json(),
            "expected_minutes": None if minutes is None else str(minutes),
            "pilot": pilot.name if pilot else None,
            "skip_missing": self.cleaned_data["skip_missing"],
        }
