"""Remove what ``crowd.Visit`` holds now."""

import django.db.models.deletion
from django.db import migrations, models


def leave_to_postings(apps, schema_editor):
    """The channel of work from outside is its posting's."""
    work = apps.get_model("annotation", "Assignment")._base_manager.using(schema_editor.connection.alias)
    work.exclude(outside_key="").update(channel="")


class Migration(migrations.Migration):

    dependencies = [('annotation', '0020_keys_outside'), ('crowd', '0014_visits'), ('hits', '0001_squashed_0009_images_alone')]

    operations = [
        migrations.RemoveConstraint(
            model_name='assignment',
            name='platform_assignment_once_per_worker',
        ),
        migrations.RemoveConstraint(
            model_name='assignment',
            name='listed_platform_assignment_once',
        ),
        migrations.RemoveConstraint(
            model_name='assignment',
            name='only_platform_work_lacks_a_seat',
        ),
        migrations.RemoveIndex(
            model_name='assignment',
            name='assignments_of_a_posting',
        ),
        migrations.RemoveIndex(
            model_name='assignment',
            name='undecided_on_the_platform',
        ),
        migrations.RemoveField(
            model_name='assignment',
            name='auto_approval_at',
        ),
        migrations.RemoveField(
            model_name='assignment',
            name='content',
        ),
        migrations.RemoveField(
            model_name='assignment',
            name='decided_at',
        ),
        migrations.RemoveField(
            model_name='assignment',
            name='environment',
        ),
        migrations.RemoveField(
            model_name='assignment',
            name='external_id',
        ),
        migrations.RemoveField(
            model_name='assignment',
            name='external_posting',
        ),
        migrations.RemoveField(
            model_name='assignment',
            name='finish_fields',
        ),
        migrations.RemoveField(
            model_name='assignment',
            name='finish_url',
        ),
        migrations.RemoveField(
            model_name='assignment',
            name='platform_state',
        ),
        migrations.RunPython(leave_to_postings, migrations.RunPython.noop),
        migrations.AlterField(
            model_name='assignment',
            name='channel',
            field=models.CharField(blank=True, help_text="Of its answers, where it is not the round's.", max_length=20),
        ),
        migrations.AlterField(
            model_name='assignment',
            name='seat',
            field=models.ForeignKey(help_text='Null: a claim, or paid for without being counted.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='hits.seat'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.CheckConstraint(condition=models.Q(('seat__isnull', False), ('state__in', ('flagged', 'excluded')), models.Q(('state', 'leased'), models.Q(('outside_key', ''), _negated=True)), _connector='OR'), name='only_work_from_outside_lacks_a_seat'),
        ),
    ]
