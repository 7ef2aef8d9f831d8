"""Who may do what: three groups of staff. Researchers launch rounds, reviewers decide, admins release and pay."""

from typing import Any

RESEARCHER, REVIEWER, ADMIN = "researcher", "reviewer", "admin"

PERMISSIONS = {
    RESEARCHER: ["launch_round"],
    REVIEWER: ["decide_assignment"],
    ADMIN: ["launch_round", "decide_assignment", "release_version", "pay_workers"],
}


def make_groups(**_: Any) -> None:
    """Create the groups with their permissions; run after every migration, so that a new one reaches old sites."""
    from django.contrib.auth.models import Group, Permission

    for name, codenames in PERMISSIONS.items():
        group, _created = Group.objects.get_or_create(name=name)
        group.permissions.set(Permission.objects.filter(codename__in=codenames))
