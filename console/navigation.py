"""The entries of the menu, the pages behind the name of the user, and the entry under which each address belongs."""

import re
from typing import NamedTuple

from console.permissions import Guard, admins_only, members_only, releasers_only, researchers_only


class Entry(NamedTuple):
    """A page of the whole site: its title, its URL name, who may open it, and beginnings of the addresses below it."""

    title: str
    page: str
    guard: Guard = members_only
    below: str = ""


MENU = (
    Entry("Home", "home"),
    Entry(
        "Collections",
        "collections",
        below=r"batches|collections|import|images|captions|pictures|samples|tests|annotators|add-annotator|pools|charts/pool",
    ),
    Entry("Rounds", "rounds", below=r"rounds|plan|design|calls|submissions|charts/round|judgments"),
    Entry(
        "Results",
        "results_list",
        below=r"results|scores|runs|benchmarks|versions|release|charts/version|collections/[^/]+/leaderboard",
    ),
    Entry(
        "Inbox",
        "inbox",
        below=r"inbox|review|rejections|appeals|conflicts|codes|pairs|collections/[^/]+/(queue|clean-up|two-reviewers)",
    ),
    Entry("People", "workers", below=r"workers|staff"),
)
OF_USER = (
    Entry("Activity", "activity"),
    Entry("API and webhooks", "tokens"),
    Entry("Doctor", "doctor", admins_only),
    Entry("Password", "password"),
)
ELSEWHERE = (
    Entry("Import a collection", "collection_import", researchers_only),
    Entry("Add an annotator", "annotator_add", researchers_only),
    Entry("Plan a round", "round_plan", researchers_only),
    Entry("Release a version", "release", releasers_only),
    Entry("Staff", "staff", admins_only),
    Entry("All calls of the API", "api_reference"),
)


def entry_of(path: str) -> Entry | None:
    """Return the entry of the menu under which an address belongs; None outside of them. Longer beginnings count
    before shorter ones, as those of a leaderboard before those of its collection."""
    begins = [(match.end(), one) for one in MENU if one.below and (match := re.match(rf"/({one.below})/", path))]
    return max(begins, key=lambda found: found[0], default=(0, None))[1]
