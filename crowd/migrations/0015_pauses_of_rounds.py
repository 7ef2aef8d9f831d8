"""A person's pause is a fact of the round, as rounds of the browser pool are paused too."""

from django.db import migrations
from django.utils import timezone


def move_pauses(apps, schema_editor):
    alias = schema_editor.connection.alias
    stopped = apps.get_model("crowd", "Posting").objects.using(alias).filter(is_stopped=True)
    rounds = apps.get_model("hits", "Round").objects.using(alias)
    rounds.filter(pk__in=stopped.values("round"), closed_at=None).update(paused_at=timezone.now())


class Migration(migrations.Migration):

    dependencies = [
        ("crowd", "0014_visits"),
        ("hits", "0012_paused_rounds"),
    ]

    operations = [
        migrations.RunPython(move_pauses, migrations.RunPython.noop),
        migrations.RemoveField(model_name="posting", name="is_stopped"),
    ]
