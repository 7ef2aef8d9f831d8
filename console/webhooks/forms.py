"""The form of a new webhook."""

from django import forms

from integrations.notifications import TYPES
from integrations.webhooks import LONGEST_URL


class WebhookForm(forms.Form):
    """Where notifications are sent, and which."""

    url = forms.CharField(
        max_length=LONGEST_URL,
        label="Address",
        widget=forms.TextInput(attrs={"inputmode": "url", "placeholder": "https://example.org/counterpart"}),
        help_text="Of a program of yours that the public internet reaches by https.",
    )
    types = forms.MultipleChoiceField(
        label="Which notifications does it get?",
        widget=forms.CheckboxSelectMultiple,
        choices=list(TYPES.items()),
        error_messages={"required": "Choose at least one."},
    )
