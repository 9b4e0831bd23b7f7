"""The day of the month that a monthly step means, where its date is the last day of a shorter month."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables


# Pages and turns wait behind this lock, so it is asked for in short attempts.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["coaching_actionitem"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):
    dependencies = [("coaching", "0069_recall_turns")]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.AddField(
            model_name="actionitem",
            name="month_day",
            field=models.SmallIntegerField(blank=True, editable=False, null=True),
        ),
        AddConstraintNotValid(
            model_name="actionitem",
            constraint=models.CheckConstraint(
                condition=models.Q(("month_day", None), ("month_day__range", (1, 31)), _connector="OR"),
                name="action_month_day_known",
            ),
        ),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
