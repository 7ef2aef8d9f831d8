"""The tables of evaluation at 0.3.1."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('evaluation', '0001_initial'),
        ('evaluation', '0002_runs_of_collections'),
        ('evaluation', '0003_move_scores_to_versions'),
        ('evaluation', '0004_scores_of_versions'),
    ]

    dependencies = [
        ('corpus', '0001_squashed_0004_exclusions'),
        ('dataset', '0001_squashed_0008_undoing_reviews'),
        ('mitl', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(help_text='Name of the model.', max_length=80)),
                ('sha256', models.CharField(help_text='Checksum of the rankings.', max_length=64)),
                ('file', models.CharField(blank=True, default='', help_text='Path of the rankings in the storage.', max_length=400)),
                ('file_name', models.CharField(blank=True, default='', help_text='Its name before; the suffix tells the form.', max_length=255)),
                ('digest', models.CharField(blank=True, default='', help_text='Of the first items of all lists; equal ones are copies.', max_length=32)),
                ('marks', models.JSONField(default=dict, help_text='Each mark of suspicion with its note.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='corpus.collection')),
                ('registered_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('retrieval', models.ForeignKey(help_text='Whose lists are the rankings.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='runs', to='mitl.retrieval')),
            ],
            options={
                'ordering': ['model'],
            },
        ),
        migrations.CreateModel(
            name='Score',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('metric', models.CharField(max_length=20)),
                ('direction', models.CharField(choices=[('i2t', 'image → captions'), ('t2i', 'caption → images')], max_length=3)),
                ('value', models.FloatField()),
                ('low', models.FloatField(help_text='Null if it was scored before 0.2.0.', null=True)),
                ('high', models.FloatField(null=True)),
                ('queries', models.PositiveIntegerField(help_text='Number of queries in the mean.')),
                ('values_file', models.CharField(blank=True, default='', help_text='Path of the values of single queries in the storage.', max_length=400)),
                ('values_sha256', models.CharField(blank=True, default='', max_length=64)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='evaluation.run')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='dataset.version')),
            ],
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(fields=('collection', 'model', 'sha256'), name='run_once_per_rankings'),
        ),
        migrations.AddConstraint(
            model_name='score',
            constraint=models.UniqueConstraint(fields=('run', 'version', 'metric', 'direction'), name='score_once_per_run'),
        ),
    ]
