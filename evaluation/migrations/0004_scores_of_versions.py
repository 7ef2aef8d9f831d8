from django.db import migrations, models
import django.db.models.deletion


class Migration(migrations.Migration):
    dependencies = [('evaluation', '0003_move_scores_to_versions')]

    operations = [
        migrations.RemoveField(model_name='run', name='version'),
        migrations.AlterField(
            model_name='run',
            name='collection',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='corpus.collection'),
        ),
        migrations.AlterField(
            model_name='score',
            name='version',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='dataset.version'),
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
