"""The forms of people: an invitation, and roles."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator

from console.permissions import ADMIN, RESEARCHER, REVIEWER

WHAT_ROLES_DO = {
    RESEARCHER: "imports collections, adds annotators, plans, publishes and closes rounds",
    REVIEWER: "decides on flagged work and on disagreements",
    ADMIN: "does all of that, releases versions, sees whom to pay, and manages people",
}


class RolesForm(forms.Form):
    """The roles of a person. Without one, they may only read."""

    roles = forms.MultipleChoiceField(
        required=False,
        choices=[(role, f"{role}: {does}") for role, does in WHAT_ROLES_DO.items()],
        widget=forms.CheckboxSelectMultiple,
        help_text="Without a role, a person may see all pages except the identities of workers.",
    )


class InviteForm(RolesForm):
    """A new account."""

    username = forms.CharField(max_length=150, label="User name", validators=[UnicodeUsernameValidator()])
    email = forms.EmailField(required=False, label="E-mail address", help_text="Only to send them their links.")
    field_order = ("username", "email", "roles")

    def clean_username(self) -> Any:
        name = self.cleaned_data["username"]
        if User.objects.filter(username__iexact=name).exists():
            raise forms.ValidationError(f"The account {name} exists already. Choose another name.")
        return name
