"""The forms that publish a round: who may join in the browser, and the offer on a platform."""

from collections.abc import Collection
from typing import Any

from django import forms

from annotation.models import QualificationTest
from annotation.money.wages import alike_rounds
from console.fields import ParametersForm, choose
from crowd.offers import Offer, offer_of
from crowd.posting.publish_parameters import AdmissionParameters, TimeParameters
from hits.models import Round

HINTS = {
    "capacity": "No limit if empty.",
    "per_worker": "No limit if empty.",
    "practice": "Unpaid; it shows the right answers.",
    "expected_minutes": "Your own estimate, shown to workers.",
}
"""Field of the browser pool → its hint on the page, if it needs one; a command has the help of the declaration."""


class AdmissionForm(ParametersForm):
    """Who may join a round in the browser, and how many HITs they may take; the expected time of a HIT."""

    act = AdmissionParameters

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("test", "practice"):
            tests = QualificationTest.objects.all()
            choose(self, name, forms.ModelChoiceField(tests, required=False, empty_label="none"))
        self.fields["expected_minutes"] = TimeParameters.form_fields()["expected_minutes"]
        for name, field in self.fields.items():
            field.help_text = HINTS.get(name, "")


class OfferForm(ParametersForm):
    """An Offer, the expected time of a HIT, and whether to publish although pictures are missing."""

    act = Offer
    field_order = ("skip_missing",)
    skip_missing = forms.BooleanField(required=False, label="Publish although pictures are missing")

    def __init__(self, *args: Any, round: Round, unused: Collection[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.round = round
        self.fields = {name: field for name, field in self.fields.items() if name not in unused}
        for name in ("title", "description", "keywords"):
            if name in self.fields:
                self.fields[name].required = True
                self.fields[name].initial = getattr(offer_of(round), name)
        if "max_sessions" in self.fields:
            self.fields["max_sessions"].required = False
        self.fields |= TimeParameters.form_fields()
        alike = Round.objects.filter(pk__in=[other.pk for other in alike_rounds(round)])
        newest = "the newest round with the same question"
        choose(self, "pilot", forms.ModelChoiceField(alike, required=False, empty_label=newest))

    def clean_max_sessions(self) -> int:
        return self.cleaned_data["max_sessions"] or 0

    def offer(self) -> Offer:
        """Return the Offer."""
        return offer_of(self.round, Offer(**self.chosen()))

    def params(self) -> dict[str, Any]:
        """Return the job's parameters, without the round and the environment, as JSON values."""
        minutes = self.cleaned_data["expected_minutes"]
        pilot = self.cleaned_data["pilot"]
        return {
            "offer": self.offer().as_json(),
            "expected_minutes": None if minutes is None else str(minutes),
            "pilot": pilot.name if pilot else None,
            "skip_missing": self.cleaned_data["skip_missing"],
        }
