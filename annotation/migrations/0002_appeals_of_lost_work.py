import django.db.models.deletion
from django.db import migrations, models
from django.db.models import OuterRef, Q, Subquery


def name_the_assignments(apps, schema_editor):
    rejections = apps.get_model("annotation", "Rejection").objects.filter(pk=OuterRef("rejection"))
    appeals = apps.get_model("annotation", "Appeal").objects.using(schema_editor.connection.alias)
    appeals.update(assignment=Subquery(rejections.values("assignment")[:1]))
    schema_editor.connection.check_constraints()  # PostgreSQL alters no table with checks pending


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="appeal",
            name="assignment",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="appeals",
                to="annotation.assignment",
            ),
        ),
        migrations.RunPython(name_the_assignments, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="appeal",
            name="assignment",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="appeals", to="annotation.assignment"
            ),
        ),
        migrations.AlterField(
            model_name="appeal",
            name="rejection",
            field=models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="appeal",
                to="annotation.rejection",
            ),
        ),
        migrations.AddConstraint(
            model_name="appeal",
            constraint=models.UniqueConstraint(
                condition=Q(rejection=None), fields=("assignment",), name="one_appeal_for_the_pay_of_lost_work"
            ),
        ),
    ]
