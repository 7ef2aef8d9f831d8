"""Retirement of controls: by the rule, by a person, or as a picture or caption is unusable; and grading again after it.

A retired control judges no work: flagged work that failed only it is accepted and paid, and failing it is not counted.
What a person excluded stays excluded; the control's page lists it. A reinstated control counts for work that is graded
from then on and takes nothing back.
"""

from collections.abc import Iterable
from functools import partial

from django.db import transaction
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from annotation.models import Assignment, ControlRuling, Judgment
from annotation.work.control_records import ANSWERED_RIGHT, UNRETIRED, ControlPolicy, records_of
from annotation.work.grading import regrade, undisputed
from annotation.work.judgments import answers_from, answers_to
from core.errors import CounterpartError
from core.events import record
from core.text import check_words
from corpus.models import Collection
from hits.models import Control

RULE = "control rule"
LONGEST_REASON = 2_000


def retire(control: Control, *, reason: str, actor: str) -> int:
    """Retire a control for good and grade the work again that it judged. Returns how many were accepted.

    Raises CounterpartError without a reason, and for a control that is retired already.
    """
    reason = check_words(reason, what="reason", at_most=LONGEST_REASON)
    if not _rule(control, retired=True, reason=reason, by=actor):
        raise CounterpartError(f"Control {control.pk} is retired already; reload the page.")
    return _regrade(Control.objects.filter(pk=control.pk))


def reinstate(control: Control, *, reason: str, actor: str) -> None:
    """Let a control judge work again, or rule that a suspected one is right. The rule then leaves it alone.

    Raises CounterpartError without a reason, and for a control that is active.
    """
    reason = check_words(reason, what="reason", at_most=LONGEST_REASON)
    if not _rule(control, retired=False, reason=reason, by=actor):
        raise CounterpartError(f"Control {control.pk} is active already; reload the page.")
    _recount(Control.objects.filter(pk=control.pk))


def retire_controls_of(
    collection: Collection, *, images: Iterable[int] = (), captions: Iterable[int] = (), reason: str, actor: str
) -> int:
    """Retire the controls, of all rounds of the collection, that show one of the images or captions (by key), as they
    are unusable, and grade the work again that they judged. Returns how many controls were retired; repeating it
    retires none. Raises CounterpartError without a reason."""
    reason = check_words(reason, what="reason", at_most=LONGEST_REASON)
    shown = Q(image__in=list(images)) | Q(caption__in=list(captions))
    controls = Control.objects.filter(shown, round__pool__collection=collection).exclude(state=Control.State.RETIRED)
    ruled = partial(_rule, retired=True, reason=reason, by=actor, exclusion=True)
    retired = [control.pk for control in controls if ruled(control)]
    _regrade(Control.objects.filter(pk__in=retired))
    return len(retired)


def reinstate_controls_of(
    collection: Collection, *, images: Iterable[int] = (), captions: Iterable[int] = (), actor: str
) -> int:
    """Reinstate the controls that ``retire_controls_of`` retired and that show nothing excluded any more. The rule may
    then retire them again. Returns how many were reinstated."""
    shown = Q(image__in=list(images)) | Q(caption__in=list(captions))
    last = ControlRuling.objects.filter(control=OuterRef("pk")).order_by("-pk").values("exclusion")[:1]
    retired = Control.objects.filter(shown, round__pool__collection=collection, state=Control.State.RETIRED)
    usable = retired.filter(image__excluded_at=None, caption__excluded_at=None)
    reason = "Nothing that it shows is excluded any more."
    ruled = partial(_rule, retired=False, reason=reason, by=actor, exclusion=True)
    controls = list(usable.annotate(for_exclusion=Subquery(last)).filter(for_exclusion=True))
    reinstated = [control.pk for control in controls if ruled(control)]
    _recount(Control.objects.filter(pk__in=reinstated))
    return len(reinstated)


def review_controls_of(assignment: Assignment) -> int:
    """Apply the rule to the controls that a graded assignment failed, and to the suspected ones that it answered.
    Returns how many assignments were accepted for it."""
    doubted = Q(item__control__state=Control.State.SUSPECTED) | ~ANSWERED_RIGHT
    answers = answers_from([assignment]).filter(doubted, item__control__isnull=False)
    controls = set(answers.values_list("item__control", flat=True))
    return review_controls(Control.objects.filter(pk__in=controls)) if controls else 0


def review_controls(controls: QuerySet[Control]) -> int:
    """Suspect, clear or retire controls by the rule, and grade the work again that the retired ones judged. Controls
    that are retired, or that a person ruled on, stay as they are. Returns how many assignments were accepted."""
    by_person = ControlRuling.objects.filter(exclusion=False).exclude(by="")
    open_ones = controls.exclude(state=Control.State.RETIRED).exclude(rulings__in=by_person)
    retired = []
    for answers in records_of(open_ones):
        control = answers.control
        wanted = ControlPolicy().state_of(answers)
        why = (
            f"Reliable workers fail it: {len(answers.failed)} of {len(answers.answers)} answers are wrong; with "
            f"probability {answers.doubt():.2f} more than half of such workers would fail it."
        )
        if wanted == Control.State.RETIRED and _rule(control, retired=True, reason=why):
            retired.append(control.pk)
        elif wanted not in (Control.State.RETIRED, control.state):
            with transaction.atomic():
                if Control.objects.filter(pk=control.pk, state=control.state).update(state=wanted):
                    record("suspected" if wanted == Control.State.SUSPECTED else "cleared", control, actor=RULE)
    return _regrade(Control.objects.filter(pk__in=retired)) if retired else 0


def repair_controls() -> int:
    """Apply the rule to the controls that flagged work failed, and grade again what a crash or a race left flagged.
    Returns how many assignments were accepted."""
    flagged = Judgment.objects.filter(assignment__state=Assignment.State.FLAGGED, item__control__isnull=False)
    failed = flagged.exclude(ANSWERED_RIGHT).values("item__control")
    accepted = review_controls(Control.objects.filter(pk__in=failed))
    return accepted + _regrade(Control.objects.filter(rulings__isnull=False).distinct())


@transaction.atomic
def _rule(control: Control, *, retired: bool, reason: str, by: str = "", exclusion: bool = False) -> bool:
    """Move a control to or from ``retired``. False: it is there already."""
    to = Control.State.RETIRED if retired else Control.State.ACTIVE
    if not Control.objects.filter(pk=control.pk).exclude(state=to).update(state=to):
        return False
    ruling = ControlRuling.objects.create(control=control, retired=retired, reason=reason, by=by, exclusion=exclusion)
    record(str(ruling), control, actor=by or RULE, reason=reason)
    control.state = to
    return True


def _regrade(controls: QuerySet[Control]) -> int:
    """Count the failures again of work that ``controls`` judged, and accept the flagged work that has none left.
    Returns how many were accepted. Work with a problem or a signal, without a seat, that a person proposed to reject or
    that its platform has rejected waits for a person."""
    _recount(controls)
    retired = controls.filter(state=Control.State.RETIRED)
    judged = Assignment.objects.filter(hit__items__control__in=retired).values("pk")
    waiting = undisputed().filter(pk__in=judged).select_related("hit__round")
    return sum(map(regrade, waiting.order_by("pk")))


def _recount(controls: QuerySet[Control]) -> None:
    """Update the number of failed controls of all graded work that ``controls`` judged."""
    judged_by = answers_to(controls).filter(assignment__control_failures__isnull=False).values("assignment")
    failed = answers_from(judged_by).filter(UNRETIRED, ~ANSWERED_RIGHT)
    failures = dict(failed.values_list("assignment").annotate(n=Count("pk")))
    for pk, stored in Assignment.objects.filter(pk__in=judged_by).values_list("pk", "control_failures"):
        if stored != failures.get(pk, 0):
            Assignment.objects.filter(pk=pk, control_failures=stored).update(control_failures=failures.get(pk, 0))
