"""The tables of crowd at 0.3.1."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('crowd', '0001_initial'),
        ('crowd', '0002_terms_of_postings'),
        ('crowd', '0003_top_workers'),
        ('crowd', '0004_outbox_waits'),
        ('crowd', '0005_posting_tried_at'),
        ('crowd', '0006_prolong_call'),
        ('crowd', '0007_posting_round'),
        ('crowd', '0008_fill_posting_round'),
        ('crowd', '0009_postings_of_rounds'),
        ('crowd', '0010_outbox_sent'),
        ('crowd', '0011_hints'),
        ('crowd', '0012_paused_postings'),
        ('crowd', '0013_stopped_postings'),
    ]

    dependencies = [
        ('annotation', '0001_squashed_0019_reports_of_items'),
        ('hits', '0001_squashed_0009_images_alone'),
    ]

    operations = [
        migrations.CreateModel(
            name='AccountBalance',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('channel', models.CharField(max_length=20)),
                ('environment', models.CharField(max_length=20)),
                ('amount', models.DecimalField(decimal_places=2, max_digits=12)),
                ('changed_at', models.DateTimeField(default=django.utils.timezone.now, help_text='When this amount was first read.')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('channel', 'environment'), name='one_balance_per_account')],
            },
        ),
        migrations.CreateModel(
            name='Audit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('by', models.CharField(max_length=150)),
                ('differences', models.JSONField(default=list, help_text='Rows of text, each with whether it can be repaired.')),
                ('repaired', models.PositiveIntegerField(help_text='Number of repairs just before; null for a mere audit.', null=True)),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='audits', to='hits.round')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Hint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('channel', models.CharField(max_length=20)),
                ('environment', models.CharField(max_length=20)),
                ('external_id', models.CharField(max_length=64)),
                ('at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('channel', 'environment', 'external_id'), name='hint_once')],
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('subject', models.CharField(max_length=200)),
                ('text', models.TextField(max_length=4096)),
                ('by', models.CharField(max_length=150)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('failure', models.TextField(blank=True, help_text='Why the platform could not deliver it.')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='messages', to='annotation.worker')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Sync',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('submitted', models.PositiveIntegerField(help_text='New submissions.')),
                ('taken_in', models.PositiveIntegerField(help_text='Submissions whose answers were stored.')),
                ('asked_for', models.PositiveIntegerField(help_text='Open seats that were posted again.')),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='syncs', to='hits.round')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Outbox',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('channel', models.CharField(max_length=20)),
                ('environment', models.CharField(blank=True, max_length=20)),
                ('call', models.CharField(choices=[('publish', 'put a HIT on the platform'), ('extend', 'post more answer sets of a posted HIT'), ('prolong', 'let workers accept a posted HIT for longer'), ('close', 'close a posted HIT'), ('pause', 'let no visitors come for a while, or let them come again'), ('dispose', 'remove a finished HIT from the platform'), ('pay', 'pay a reward or a bonus'), ('reject', 'reject work'), ('message', 'write to a worker'), ('exclude', 'exclude a worker'), ('readmit', 'readmit a worker')], max_length=20)),
                ('subject', models.CharField(help_text='The row it is about, as app.model:key.', max_length=120)),
                ('payload', models.JSONField(default=dict)),
                ('state', models.CharField(choices=[('pending', 'Pending'), ('sending', 'Sending'), ('done', 'Done'), ('failed', 'Failed')], default='pending', max_length=7)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('waits', models.PositiveSmallIntegerField(default=0, help_text='How often in a row the platform asked to wait, for money or because of too many calls.')),
                ('unclear', models.BooleanField(default=False, help_text='It was sent, and its effect is unknown.')),
                ('sent', models.JSONField(help_text='Of a call that is never repeated: that it was made, with what the platform listed before.', null=True)),
                ('error', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('due_at', models.DateTimeField(default=django.utils.timezone.now, help_text='It is made after this time. If it is being made, it is lost after this time.')),
                ('round', models.ForeignKey(help_text='Empty for calls of no single round.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='calls', to='hits.round')),
            ],
            options={
                'verbose_name_plural': 'outbox',
                'ordering': ['created_at'],
                'indexes': [models.Index(fields=['state', 'due_at'], name='crowd_outbo_state_72dd4c_idx')],
                'constraints': [models.UniqueConstraint(fields=('call', 'subject', 'channel', 'environment'), name='one_call_per_subject')],
            },
        ),
        migrations.CreateModel(
            name='Posting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('channel', models.CharField(max_length=20)),
                ('environment', models.CharField(max_length=20)),
                ('external_id', models.CharField(blank=True, help_text="The platform's id; empty until it is posted.", max_length=64)),
                ('terms_id', models.CharField(blank=True, help_text="The platform's id of the terms, which postings may share.", max_length=64)),
                ('max_assignments', models.PositiveSmallIntegerField(help_text='Maximum number of answer sets.')),
                ('posted_assignments', models.PositiveSmallIntegerField(default=0, help_text='How many of them the platform lists.')),
                ('excludes', models.CharField(blank=True, help_text="The platform's id of the group of workers who do not see it.", max_length=64)),
                ('state', models.CharField(choices=[('planned', 'planned (not on the platform yet)'), ('live', 'Live'), ('closed', 'closed (no worker can accept it; accepted work may still be submitted)'), ('disposed', 'disposed (removed from the platform)')], default='planned', max_length=8)),
                ('status', models.CharField(blank=True, help_text="The platform's status, as last read.", max_length=20)),
                ('pending', models.PositiveSmallIntegerField(default=0, help_text='Accepted and not yet submitted, as last read.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('posted_at', models.DateTimeField(null=True)),
                ('expires_at', models.DateTimeField(null=True)),
                ('seen_at', models.DateTimeField(help_text='When its submissions were last listed.', null=True)),
                ('tried_at', models.DateTimeField(help_text='When a sync last tried to list its submissions.', null=True)),
                ('paused_at', models.DateTimeField(help_text='Since when we have it take no visitors.', null=True)),
                ('is_stopped', models.BooleanField(default=False, help_text='A person has it take no visitors for a while.')),
                ('over_since', models.DateTimeField(help_text='Since when the platform has listed it as over.', null=True)),
                ('settled_at', models.DateTimeField(help_text='When it had been over for SYNC_LAG_SECONDS.', null=True)),
                ('hit', models.ForeignKey(help_text='Null: of the whole round.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='postings', to='hits.hit')),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='postings', to='hits.round')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['state', 'hit'], name='crowd_posti_state_c0150d_idx')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('external_id', ''), _negated=True), fields=('channel', 'environment', 'external_id'), name='posting_once')],
            },
        ),
    ]
