"""The form in which a reviewer concludes on a pair, its group, its caption or its picture."""

from django import forms

from corpus.models import Caption, Image
from dataset.models import Review, Subject
from dataset.reviews.cases import group_of
from dataset.reviews.reviews import LONGEST_REASON, Conclusion
from hits.question import Level

CONCLUSIONS = [*((str(level.value), level.label) for level in Level), ("kept", "keep"), ("excluded", "exclude")]


class ConclusionForm(forms.Form):
    """``conclusion``: a level, ``kept`` or ``excluded``; then ``side`` says what is excluded."""

    conclusion = forms.ChoiceField(choices=CONCLUSIONS)
    side = forms.ChoiceField(choices=[("caption", "the caption"), ("image", "the picture")], required=False)
    grounds = forms.ChoiceField(choices=[("", "choose…"), *Review.Grounds.choices], required=False)
    reason = forms.CharField(max_length=LONGEST_REASON, required=False)
    group = forms.BooleanField(required=False)
    seen = forms.IntegerField(required=False, min_value=0)

    def conclude(self) -> Conclusion:
        chosen = self.cleaned_data
        kind = chosen["conclusion"]
        reason = chosen["reason"]
        if kind == "excluded":
            return Conclusion(Review.Conclusion.EXCLUDED, grounds=chosen["grounds"], reason=reason)
        if kind == "kept":
            return Conclusion(Review.Conclusion.KEPT, reason=reason)
        return Conclusion(Review.Conclusion.LEVEL, level=int(kind), reason=reason)

    def subjects(self, image: Image, caption: Caption) -> list[Subject]:
        """Return the subjects of the conclusion: the caption or picture alone, the whole group, or the pair."""
        if self.cleaned_data["conclusion"] == "excluded":
            return [(image.pk, None)] if self.cleaned_data["side"] == "image" else [(None, caption.pk)]
        if self.cleaned_data["group"]:
            return list(group_of(image, caption))
        return [(image.pk, caption.pk)]


class SavedFilterForm(forms.Form):
    """The name of a filter that a person keeps."""

    name = forms.CharField(max_length=40)
