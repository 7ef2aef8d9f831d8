"""Remove what was usual in rounds by fewer features of their pairs: it is measured again with the next answer set."""

from typing import Any

from django.db import migrations


def remove_norms(apps: Any, schema_editor: Any) -> None:
    apps.get_model("annotation", "Norm").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("annotation", "0026_consent_in_a_round")]
    operations = [migrations.RunPython(remove_norms, migrations.RunPython.noop)]
