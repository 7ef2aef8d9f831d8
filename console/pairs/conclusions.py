"""What a reviewer concludes on a pair, its group, its caption or its picture: the form, and the last act, kept in the
person's session, which pages of pairs offer to undo."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import HttpRequest

from corpus.models import Caption, Image
from dataset.models import Review, Subject
from dataset.reviews.cases import group_of
from dataset.reviews.reviews import LONGEST_REASON, Conclusion
from hits.question import Level

LAST_ACT = "last_act"
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
        kind, reason = self.cleaned_data["conclusion"], self.cleaned_data["reason"]
        if kind == "excluded":
            return Conclusion(kind, grounds=self.cleaned_data["grounds"], reason=reason)
        return Conclusion(kind, reason=reason) if kind == "kept" else Conclusion("level", int(kind), reason=reason)

    def subjects(self, image: Image, caption: Caption) -> list[Subject]:
        """Return the subjects of the conclusion: the caption or picture alone, the whole group, or the pair."""
        if self.cleaned_data["conclusion"] == "excluded":
            return [(image.pk, None)] if self.cleaned_data["side"] == "image" else [(None, caption.pk)]
        if self.cleaned_data["group"]:
            return list(group_of(image, caption))
        return [(image.pk, caption.pk)]


def remember_act(
    request: HttpRequest, reviews: Sequence[Review], seen: int | None, *, pair: tuple[int, int], page: str
) -> None:
    """Keep those of ``reviews`` that the person has added since they saw the page, up to id ``seen``: reviews that
    others made before are not theirs to undo. An act that is sent twice is kept once."""
    added = [review.pk for review in reviews if review.by_id == request.user.pk and review.pk > (seen or 0)]
    if added:
        request.session[LAST_ACT] = {"reviews": added, "pair": pair, "page": page}


def last_act(request: HttpRequest, *, at: str = "") -> dict[str, Any] | None:
    """Return the last act: the ids of the ``reviews`` that it added, the image and caption of one ``pair`` of it, and
    the ``page`` it was made on; with ``at`` only if its page has this address, whatever its query string."""
    last: dict[str, Any] | None = request.session.get(LAST_ACT)
    return last if last and last["page"].startswith(at) else None
