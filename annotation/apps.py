from typing import Any

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation.reconciling import healing

        healing.connect(_grade_waiting, dispatch_uid="annotation.grading")


def _grade_waiting(**_: Any) -> dict[str, int]:
    from annotation.grading import grade_waiting

    return {"ungraded assignments": grade_waiting()}
