"""The forms that publish a round: who may join in the browser, and the offer on a platform."""

from collections.abc import Collection
from dataclasses import fields, replace
from typing import Any

from django import forms

from annotation.admission import make_admission
from annotation.models import Admission, QualificationTest
from annotation.wages import alike_rounds
from core.errors import CounterpartError, some_of
from crowd.offers import LIMITS, LONGEST, Offer, offer_of
from hits.models import Round


class AdmissionForm(forms.Form):
    """Who may join a round in the browser, and how many HITs they may take."""

    capacity = forms.IntegerField(
        min_value=1, required=False, label="Maximum number of workers", help_text="Leave empty for no limit."
    )
    per_worker = forms.IntegerField(
        min_value=1, required=False, label="Maximum HITs per worker", help_text="Leave empty for no limit."
    )
    test = forms.ModelChoiceField(
        QualificationTest.objects.all(),
        required=False,
        empty_label="none",
        label="Test before the first HIT",
        help_text="Tests are made on the page of a collection.",
    )

    practice = forms.ModelChoiceField(
        QualificationTest.objects.all(),
        required=False,
        empty_label="none",
        label="Practice",
        help_text="Pairs of a test that workers may judge first, unpaid; they are shown the right answers.",
    )

    invited = forms.BooleanField(
        required=False,
        label="By invitation only",
        help_text="Without it everybody who has the join link may join. Invitations are made on the round's page.",
    )

    expected_minutes = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=6,
        decimal_places=2,
        label="Expected minutes per HIT",
        help_text="Your estimate, where no similar round was timed. Workers are told it, and the wage it implies.",
    )

    def admission(self) -> Admission:
        """Return the admission. Raises CounterpartError for invalid values."""
        if self.errors:
            named = [str(self.fields[name].label) for name in self.errors]
            raise CounterpartError(f"Invalid value for {some_of(named)}: choose another, or leave it empty.")
        return make_admission(**{name: one for name, one in self.cleaned_data.items() if name != "expected_minutes"})


DEFAULTS = {one.name: one.default for one in fields(Offer)}


def _words(name: str, **more: Any) -> forms.CharField:
    return forms.CharField(max_length=LONGEST[name], **more)


def _number(name: str, label: str, help_text: str = "") -> forms.IntegerField:
    least, most = LIMITS[name]
    return forms.IntegerField(initial=DEFAULTS[name], min_value=least, max_value=most, label=label, help_text=help_text)


class ProlongForm(forms.Form):
    """For how long the postings of a round are to stay."""

    days = _number("lifetime_days", "Days from now until they expire")


class OfferForm(forms.Form):
    """An Offer, the expected time of a HIT, and whether to publish although pictures are missing."""

    title = _words("title")
    description = _words("description", widget=forms.Textarea(attrs={"rows": 2}))
    keywords = _words("keywords", help_text="Separated by commas.")
    minutes = _number("minutes", "Time limit for a HIT, in minutes", "Choose generously: HITs are returned after it.")
    lifetime_days = _number("lifetime_days", "Days until the postings expire")
    auto_approval_days = _number(
        "auto_approval_days", "Days until automatic approval", "The platform then approves and pays undecided work."
    )
    frame_height = _number("frame_height", "Frame height in pixels", "0 fits the frame to the platform's page.")
    countries = forms.CharField(
        required=False,
        max_length=200,
        label="Countries",
        help_text="For example US,CA,GB. Leave empty for any country.",
    )
    min_approved = _number("min_approved", "Minimum number of approved assignments", "Excludes new workers.")
    min_approval_rate = _number("min_approval_rate", "Minimum approval rate in percent", "0 for any.")
    max_sessions = forms.IntegerField(
        required=False,
        min_value=LIMITS["max_sessions"][0],
        max_value=LIMITS["max_sessions"][1],
        label="Maximum sessions per worker",
        help_text="Each session is one HIT. Leave empty for no limit.",
    )
    top_workers = forms.BooleanField(required=False, label="Only the platform's top workers, for a higher fee")
    expected_minutes = forms.DecimalField(
        required=False,
        max_digits=6,
        decimal_places=2,
        label="Expected minutes per HIT",
        help_text="Your own estimate; it is recorded in the event log.",
    )
    pilot = forms.ModelChoiceField(
        Round.objects.none(),
        to_field_name="name",
        required=False,
        empty_label="the newest round with the same question",
    )
    skip_missing = forms.BooleanField(required=False, label="Publish although pictures are missing")

    def __init__(self, *args: Any, round: Round, unused: Collection[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._plain = offer_of(round)
        for name in unused:
            del self.fields[name]
        alike = [other.pk for other in alike_rounds(round)]
        self.fields["pilot"].queryset = Round.objects.filter(pk__in=alike)  # type: ignore[attr-defined]
        for name in LONGEST.keys() & self.fields.keys():
            self.fields[name].initial = getattr(self._plain, name)

    def clean_countries(self) -> tuple[str, ...]:
        codes = self.cleaned_data["countries"].upper().split(",")
        return tuple(code.strip() for code in codes if code.strip())

    def clean_max_sessions(self) -> int:
        return self.cleaned_data["max_sessions"] or 0

    def offer(self) -> Offer:
        """Return the Offer. Raises CounterpartError for invalid values."""
        chosen = self.cleaned_data.keys() & {one.name for one in fields(Offer)}
        return replace(self._plain, **{name: self.cleaned_data[name] for name in chosen})

    def timing(self) -> dict[str, Any]:
        """Return the pilot and the expected minutes, as arguments of ``publish_round``."""
        return {"pilot": self.cleaned_data["pilot"], "expected_minutes": self.cleaned_data["expected_minutes"]}

    def params(self) -> dict[str, Any]:
        """Return the job's parameters, without the round and the environment, as JSON values."""
        minutes, pilot = self.cleaned_data["expected_minutes"], self.cleaned_data["pilot"]
        return {
            "offer": self.offer().as_json(),
            "expected_minutes": None if minutes is None else str(minutes),
            "pilot": pilot.name if pilot else None,
            "skip_missing": self.cleaned_data["skip_missing"],
        }
