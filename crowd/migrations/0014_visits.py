"""What a platform says of an assignment becomes a row of its own, a visit."""

import django.db.models.deletion
from django.db import migrations, models


COPIED = (
    "channel", "environment", "external_id", "finish_url", "finish_fields", "auto_approval_at", "decided_at", "content",
)  # fmt: skip
AT_ONCE = 2_000


def copy_visits(apps, schema_editor):
    """Copy the platform's columns of assignments, whose posting was named by its id there."""
    alias = schema_editor.connection.alias
    visits = apps.get_model("crowd", "Visit").objects.using(alias)
    postings = apps.get_model("crowd", "Posting").objects.using(alias).exclude(external_id="")
    keys = {
        (channel, environment, name): key
        for channel, environment, name, key in postings.values_list("channel", "environment", "external_id", "pk")
    }
    work = apps.get_model("annotation", "Assignment").objects.using(alias).exclude(external_id="")
    rows = work.order_by("pk").values("pk", "worker", "external_posting", "platform_state", *COPIED)
    visit = apps.get_model("crowd", "Visit")
    some = []
    for row in rows.iterator(chunk_size=AT_ONCE):
        posting = keys.get((row["channel"], row["environment"], row["external_posting"]))
        if posting is None:
            raise RuntimeError(
                f"Assignment {row['pk']} names the posting {row['external_posting']!r}, which has no row. Restore the "
                "posting, then migrate again."
            )
        known = {name: row[name] for name in COPIED}
        some.append(
            visit(
                assignment_id=row["pk"],
                worker_id=row["worker"],
                posting_id=posting,
                state=row["platform_state"],
                **known,
            )
        )
        if len(some) == AT_ONCE:
            visits.bulk_create(some)
            some = []
    visits.bulk_create(some)


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0020_keys_outside'),
        ('crowd', '0001_squashed_0013_stopped_postings'),
    ]

    operations = [
        migrations.CreateModel(
            name='Visit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('channel', models.CharField(max_length=20)),
                ('environment', models.CharField(max_length=20)),
                ('external_id', models.CharField(help_text="The platform's id of the assignment or session.", max_length=64)),
                ('state', models.CharField(blank=True, choices=[('', 'claimed by a visitor, not confirmed'), ('submitted', 'Submitted'), ('approved', 'Approved'), ('rejected', 'Rejected'), ('returned', 'Returned'), ('expired', 'ran out of time there'), ('settled', 'settled there otherwise: screened out, or paid in part')], default='', max_length=9)),
                ('finish_url', models.CharField(blank=True, help_text='Where the finished page sends its form.', max_length=500)),
                ('finish_fields', models.JSONField(default=dict, help_text='What that form holds; for a claim also answers and receipt.')),
                ('auto_approval_at', models.DateTimeField(help_text='When the platform approves undecided work.', null=True)),
                ('decided_at', models.DateTimeField(help_text='When it was approved or rejected on the platform.', null=True)),
                ('content', models.TextField(blank=True, help_text='The answer as the platform gave it, unparsed.')),
                ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='visit', to='annotation.assignment')),
                ('posting', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='visits', to='crowd.posting')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.worker')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['posting', 'state'], name='visits_to_a_posting')],
                'constraints': [models.UniqueConstraint(fields=('channel', 'environment', 'external_id', 'worker'), name='visit_once_per_worker'), models.UniqueConstraint(condition=models.Q(('state', ''), _negated=True), fields=('channel', 'environment', 'external_id'), name='listed_visit_once')],
            },
        ),
        migrations.RunPython(copy_visits, migrations.RunPython.noop),
    ]
