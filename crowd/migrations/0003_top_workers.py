from django.db import migrations


def rename_in_offers(apps, schema_editor):
    """An offer's key ``masters`` is now ``top_workers``."""
    rounds = apps.get_model("hits", "Round").objects.using(schema_editor.connection.alias)
    for round in rounds.filter(offer__has_key="masters").iterator():
        round.offer["top_workers"] = round.offer.pop("masters")
        round.save(update_fields=["offer"])


class Migration(migrations.Migration):
    dependencies = [("crowd", "0002_terms_of_postings"), ("hits", "0001_initial")]
    operations = [migrations.RunPython(rename_in_offers, migrations.RunPython.noop)]
