"""Searches by parts run in one process or on Ray; those that wait for the engine of Celery's workers run in one."""

from django.db import migrations


def search_in_one_process(apps, schema_editor):
    jobs = apps.get_model("core", "Job").objects.using(schema_editor.connection.alias)
    waiting = jobs.filter(task="mitl.tasks.retrieve_by_parts", state__in=("queued", "running"), params__engine="celery")
    for job in waiting:
        job.params["engine"] = "local"
        job.save(update_fields=["params"])


class Migration(migrations.Migration):

    dependencies = [
        ("core", "0005_times_of_the_database"),
        ("mitl", "0007_times_of_the_database"),
    ]

    operations = [
        migrations.RunPython(search_in_one_process, migrations.RunPython.noop),
        migrations.DeleteModel(
            name="UnitLease",
        ),
    ]
