"""The tables of dataset at 0.3.1."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('dataset', '0001_initial'),
        ('dataset', '0002_reviews'),
        ('dataset', '0003_manifest_checksums'),
        ('dataset', '0004_cases'),
        ('dataset', '0005_aggregation_seed'),
        ('dataset', '0006_no_fingerprint'),
        ('dataset', '0007_mark_exclusions'),
        ('dataset', '0008_undoing_reviews'),
    ]

    dependencies = [
        ('corpus', '0001_squashed_0004_exclusions'),
        ('hits', '0001_squashed_0009_images_alone'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Aggregation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('method', models.CharField(max_length=20)),
                ('ties', models.CharField(help_text='Policy for tied levels: median, lower or higher.', max_length=10)),
                ('seed', models.BigIntegerField(default=0, help_text='Seed of the random starts of methods that have any.')),
                ('judgments', models.PositiveIntegerField(help_text='Number of judgments counted.')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='aggregations', to='hits.round')),
            ],
            options={
                'ordering': ['-at'],
            },
        ),
        migrations.CreateModel(
            name='Case',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reasons', models.JSONField(default=dict, help_text='Each reason with its note: what was found.')),
                ('priority', models.PositiveSmallIntegerField(help_text='The most urgent case has the highest.')),
                ('opened_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('done_at', models.DateTimeField(help_text='When a review settled it.', null=True)),
                ('caption', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='corpus.caption')),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='corpus.collection')),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='corpus.image')),
            ],
        ),
        migrations.CreateModel(
            name='QueueCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shown', models.BooleanField()),
                ('at', models.DateTimeField()),
                ('round', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='queue_check', to='hits.round')),
            ],
        ),
        migrations.CreateModel(
            name='Review',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('conclusion', models.CharField(choices=[('level', 'the pair has this level, whatever the votes say'), ('excluded', 'the caption or image leaves the dataset'), ('kept', 'it stays as it is, and the votes hold')], max_length=8)),
                ('level', models.PositiveSmallIntegerField(choices=[(1, '100% YES'), (2, 'Partially YES, but'), (3, 'Mostly NO, because'), (4, '100% NO')], null=True)),
                ('grounds', models.CharField(blank=True, choices=[('meaningless', 'the caption describes no picture'), ('wrong', 'the caption describes another picture'), ('duplicate', 'the picture occurs twice, or in the training set'), ('other', 'another reason')], max_length=11)),
                ('reason', models.TextField(blank=True)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('needs_second', models.BooleanField(default=False, help_text='Holds only when a second person has agreed.')),
                ('seconded_at', models.DateTimeField(null=True)),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('caption', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to='corpus.caption')),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to='corpus.collection')),
                ('image', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to='corpus.image')),
                ('seconded_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('undoes', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='dataset.review')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Verdict',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('level', models.PositiveSmallIntegerField(choices=[(1, '100% YES'), (2, 'Partially YES, but'), (3, 'Mostly NO, because'), (4, '100% NO')])),
                ('distribution', models.JSONField(help_text='Shares of the levels 1-4; they sum to 1.')),
                ('confidence', models.FloatField(help_text='The share of ``level``.')),
                ('votes', models.PositiveSmallIntegerField()),
                ('aggregation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='verdicts', to='dataset.aggregation')),
                ('caption', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='corpus.caption')),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='corpus.image')),
            ],
        ),
        migrations.CreateModel(
            name='Version',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(max_length=80, unique=True)),
                ('manifest', models.JSONField()),
                ('manifest_sha256', models.CharField(blank=True, default='', help_text="Of the manifest's file.", max_length=64)),
                ('folder', models.CharField(help_text='Folder of its files in the storage.', max_length=400)),
                ('pseudonym_key', models.CharField(blank=True, default='', editable=False, help_text="Secret key of its workers' pseudonyms.", max_length=64)),
                ('released_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='corpus.collection')),
                ('released_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('rounds', models.ManyToManyField(related_name='versions', to='hits.round')),
                ('sample', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='corpus.sample')),
            ],
            options={
                'ordering': ['-released_at'],
                'permissions': [('release_version', 'May release versions')],
            },
        ),
        migrations.AddConstraint(
            model_name='aggregation',
            constraint=models.UniqueConstraint(fields=('round', 'method'), name='one_aggregation_per_method'),
        ),
        migrations.AddIndex(
            model_name='case',
            index=models.Index(condition=models.Q(('done_at', None)), fields=['collection', '-priority', 'id'], name='waiting_cases'),
        ),
        migrations.AddConstraint(
            model_name='case',
            constraint=models.UniqueConstraint(fields=('image', 'caption'), name='one_case_per_pair'),
        ),
        migrations.AddConstraint(
            model_name='review',
            constraint=models.CheckConstraint(condition=models.Q(('image__isnull', False), ('caption__isnull', False), _connector='OR'), name='review_subject'),
        ),
        migrations.AddConstraint(
            model_name='review',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('caption__isnull', False), ('conclusion', 'level'), ('image__isnull', False), ('level__range', (1, 4))), models.Q(models.Q(('conclusion', 'level'), _negated=True), ('level', None)), _connector='OR'), name='review_level_of_a_pair'),
        ),
        migrations.AddConstraint(
            model_name='review',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('conclusion', 'excluded'), _negated=True), ('image', None), ('caption', None), _connector='OR'), name='no_pair_is_excluded'),
        ),
        migrations.AddConstraint(
            model_name='review',
            constraint=models.CheckConstraint(condition=models.Q(('seconded_by', models.F('by')), _negated=True), name='nobody_seconds_their_own_review'),
        ),
        migrations.AddConstraint(
            model_name='verdict',
            constraint=models.UniqueConstraint(fields=('aggregation', 'image', 'caption'), name='one_verdict_per_pair'),
        ),
    ]
