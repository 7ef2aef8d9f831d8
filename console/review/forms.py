"""The forms of an assignment: decide, give a bonus, ask the worker to return it."""

from typing import Any

from django import forms

from annotation.models import Rejection
from annotation.money.payments import BonusParameters
from annotation.review.decisions import LONGEST
from console.fields import ParametersForm
from crowd.messages import LONGEST_REQUEST

ALL_RIGHT = "The answers were looked at and count."


def _yes_or_no(question: str, yes: str, no: str) -> forms.TypedChoiceField:
    """Two radio buttons without a default; cleaned to a bool."""
    return forms.TypedChoiceField(
        label=question,
        choices=[("yes", yes), ("no", no)],
        coerce=lambda value: value == "yes",
        widget=forms.RadioSelect,
    )


class DecisionForm(forms.Form):
    """Whether the votes count, whether the work is paid, and why; refusing payment also needs grounds and evidence."""

    votes_count = _yes_or_no("Do the votes count?", "Count them", "Exclude them")
    paid = _yes_or_no("Is the work paid?", "Pay the worker", "Do not pay")
    reason = forms.CharField(
        max_length=LONGEST["reason"],
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Optional if you count the votes and pay. The worker sees it if you do not pay.",
    )
    grounds = forms.ChoiceField(
        choices=[("", "choose if you do not pay"), *Rejection.Grounds.choices],
        required=False,
        label="Grounds for not paying",
        help_text="A failed control alone is not enough.",
    )
    evidence = forms.CharField(
        max_length=LONGEST["evidence"],
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Required if you do not pay. Shown to reviewers, also when the worker appeals.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("votes_count") and cleaned.get("paid"):
            cleaned["reason"] = cleaned.get("reason") or ALL_RIGHT
        elif "reason" in cleaned and not cleaned["reason"]:
            self.add_error("reason", "Required unless you count the votes and pay.")
        if cleaned.get("paid") is False:
            if cleaned.get("votes_count"):
                self.add_error("paid", "Work that counts must be paid. Pay it, or exclude its votes.")
            for name in ("grounds", "evidence"):
                if not cleaned.get(name):
                    self.add_error(name, "Required if you do not pay.")
        return cleaned


class BonusForm(ParametersForm):
    """What a worker is paid on top of the reward, and why."""

    act = BonusParameters


class ReturnForm(forms.Form):
    """Why a worker is asked to return work."""

    reason = forms.CharField(
        max_length=LONGEST_REQUEST,
        label="Reason",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="The worker reads it.",
    )
