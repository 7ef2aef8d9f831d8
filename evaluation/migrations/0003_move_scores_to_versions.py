"""A run was a model's rankings on one version; now it is its rankings of a collection, scored on each version."""

from django.db import migrations


def move(apps, schema_editor):
    Run, Score = (apps.get_model('evaluation', name) for name in ('Run', 'Score'))
    Retrieval = apps.get_model('mitl', 'Retrieval')
    alias = schema_editor.connection.alias
    first = {}
    for run in Run.objects.using(alias).select_related('version').order_by('pk'):
        Score.objects.using(alias).filter(run=run).update(version=run.version_id)
        kept = first.setdefault((run.version.collection_id, run.model, run.sha256), run)
        if kept.pk != run.pk:
            Score.objects.using(alias).filter(run=run).update(run=kept.pk)
            run.delete(using=alias)
            continue
        run.collection_id = run.version.collection_id
        run.retrieval = (
            Retrieval.objects.using(alias)
            .filter(annotator__name=run.model, collection=run.collection_id, sha256=run.sha256)
            .first()
        )
        run.save(using=alias, update_fields=['collection', 'retrieval'])


class Migration(migrations.Migration):
    dependencies = [('evaluation', '0002_runs_of_collections')]
    operations = [migrations.RunPython(move, migrations.RunPython.noop, elidable=False)]
