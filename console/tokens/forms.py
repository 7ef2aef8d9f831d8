"""The form of a new token."""

from typing import Any

from django import forms
from django.contrib.auth.models import User

from console.api.access_tokens import MOST_DAYS, USUAL_DAYS
from console.api.scopes import SCOPES, scopes_of
from core.parameters import NamesField


class TokenForm(forms.Form):
    """What a token of the person lets a program do, and for how long."""

    name = forms.CharField(max_length=80, label="What is it for?", help_text="For example: notebook on my laptop.")
    scopes = forms.MultipleChoiceField(
        label="What may the program do?",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose one."},
    )
    days = forms.IntegerField(
        label="Days", min_value=1, max_value=MOST_DAYS, initial=USUAL_DAYS, help_text="Then it expires."
    )
    networks = NamesField(
        label="Networks",
        required=False,
        help_text="Where it may be used, such as 192.0.2.0/24, with commas between them. Empty: anywhere.",
    )

    def __init__(self, owner: User, data: Any = None) -> None:
        super().__init__(data)
        self.fields["scopes"].choices = [(name, SCOPES[name].meaning) for name in scopes_of(owner)]  # type: ignore[attr-defined]

    def subjects(self) -> dict[str, list[Any]]:
        """Return the boxes of the scopes by their subject."""
        boxes: dict[str, list[Any]] = {}
        for box in self["scopes"]:
            boxes.setdefault(box.data["value"].partition(":")[0], []).append(box)
        return boxes
