from django.conf import settings
from django.db import migrations, models
import django.db.models.deletion


class Migration(migrations.Migration):
    dependencies = [
        ('evaluation', '0001_initial'),
        ('corpus', '0001_initial'),
        ('dataset', '0001_initial'),
        ('mitl', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='run', name='run_once_per_rankings'),
        migrations.RemoveConstraint(model_name='score', name='score_once_per_run'),
        migrations.AddField(
            model_name='run',
            name='collection',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='corpus.collection'),
        ),
        migrations.AddField(
            model_name='run',
            name='file',
            field=models.CharField(blank=True, default='', help_text='Path of the rankings in the storage.', max_length=400),
        ),
        migrations.AddField(
            model_name='run',
            name='file_name',
            field=models.CharField(blank=True, default='', help_text='Its name before; the suffix tells the form.', max_length=255),
        ),
        migrations.AddField(
            model_name='run',
            name='retrieval',
            field=models.ForeignKey(help_text='Whose lists are the rankings.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='runs', to='mitl.retrieval'),
        ),
        migrations.AddField(
            model_name='run',
            name='digest',
            field=models.CharField(blank=True, default='', help_text='Of the first items of all lists; equal ones are copies.', max_length=32),
        ),
        migrations.AddField(
            model_name='run',
            name='marks',
            field=models.JSONField(default=dict, help_text='Each mark of suspicion with its note.'),
        ),
        migrations.AddField(
            model_name='run',
            name='registered_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='run',
            name='model',
            field=models.CharField(help_text='Name of the model.', max_length=80),
        ),
        migrations.AddField(
            model_name='score',
            name='version',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='dataset.version'),
        ),
        migrations.AddField(
            model_name='score',
            name='low',
            field=models.FloatField(help_text='Null if it was scored before 0.2.0.', null=True),
        ),
        migrations.AddField(
            model_name='score',
            name='high',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='score',
            name='values_file',
            field=models.CharField(blank=True, default='', help_text='Path of the values of single queries in the storage.', max_length=400),
        ),
        migrations.AddField(
            model_name='score',
            name='values_sha256',
            field=models.CharField(blank=True, default='', max_length=64),
        ),
    ]
