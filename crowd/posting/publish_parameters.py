"""The parameters of ``publish``, for the command and the pages; what a platform shows is in ``crowd.offers``."""

from decimal import Decimal
from typing import Annotated

from django import forms

from annotation.models import Admission
from annotation.people.admission import MOST, make_admission
from annotation.people.qualification_tests import find_test
from core.parameters import OFF_PAGE, POSITIONAL, FlagField, Option, Parameters
from crowd.channels import CHANNELS
from crowd.offers import number


class PublishParameters(Parameters):
    """Which round to publish, and where."""

    round: Annotated[str, "the round's name", POSITIONAL]
    channel: Annotated[str, f"where to publish it: {', '.join(CHANNELS)}"]
    environment: Annotated[str, "the channel's environment (default: its first)"] = ""
    yes_spend_money: Annotated[bool, "needed where publishing spends real money"] = False
    skip_missing: Annotated[bool, "publish although pictures are missing; their pairs are shown without one"] = False


class AdmissionParameters(Parameters):
    """Who may join a round in the browser pool, and how many HITs they may take."""

    capacity: Annotated[
        int | None,
        number(1, MOST, "Maximum number of workers", "maximum number of workers (default: unlimited)", required=False),
    ] = None
    per_worker: Annotated[
        int | None,
        number(
            1,
            MOST,
            "Maximum HITs per worker",
            "maximum number of HITs for a worker (default: unlimited)",
            required=False,
        ),
    ] = None
    test: Annotated[
        str,
        forms.CharField(
            required=False,
            label="Test before the first HIT",
            help_text="a test of make_test that workers pass before their first HIT",
        ),
    ] = ""
    practice: Annotated[
        str, "a test of make_test that workers may judge for practice, unpaid; they are shown the right answers"
    ] = ""
    invited: Annotated[
        bool, FlagField(label="By invitation only", help_text="only with an invitation (command invite)")
    ] = False

    def admission(self) -> Admission:
        """Return the admission. Raises CounterpartError for unknown tests and as ``make_admission`` does."""
        return make_admission(
            capacity=self.capacity,
            per_worker=self.per_worker,
            test=find_test(self.test) if self.test else None,
            practice=find_test(self.practice) if self.practice else None,
            invited=self.invited,
        )


class TimeParameters(Parameters):
    """How long a HIT takes."""

    pilot: Annotated[str, "use this round's median active time", Option(metavar="ROUND")] = ""
    expected_minutes: Annotated[
        Decimal | None,
        forms.DecimalField(
            required=False,
            min_value=0,
            label="Expected minutes per HIT",
            help_text="your own estimate; recorded in the event log, and shown to workers in the browser pool",
        ),
        Option(metavar="M"),
    ] = None
    below_floor: Annotated[
        bool, "in the browser pool, where the time is unknown: slow workers may earn less than the wage floor", OFF_PAGE
    ] = False
