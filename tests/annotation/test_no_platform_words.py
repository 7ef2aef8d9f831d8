"""What a platform says of work is a visit's, in ``crowd``: ``annotation`` knows no column and no state of it."""

import re
from pathlib import Path

from django.conf import settings

from annotation.models import Assignment
from crowd.models import Visit

KEPT = {"id", "assignment", "worker", "channel", "environment", "state", "sheet"}  # names of other things as well
OF_VISITS = {field.name for field in Visit._meta.concrete_fields} - KEPT - {"posting", "content", "external_id"}
WORD = re.compile(
    rf"\b({'|'.join(sorted(OF_VISITS))})\b|\bvisit__|\.visit\b|PlatformState|platform_state|external_posting"
)


def test_no_module_of_annotation_names_what_a_platform_says():
    assert {"finish_url", "auto_approval_at"} <= OF_VISITS
    for path in (Path(settings.BASE_DIR) / "annotation").rglob("*.py"):
        if "migrations" not in path.parts:
            assert not WORD.search(path.read_text()), path


def test_an_assignment_has_no_column_of_a_visit():
    assert not {field.name for field in Assignment._meta.concrete_fields} & (OF_VISITS | {"content", "external_id"})
