"""What Sage itself noticed of a message, apart from the rules and the second look."""

from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables


# Turns wait behind this lock, so it is asked for in short attempts.
def lock(apps, schema_editor):
    lock_tables(schema_editor.connection, ["sessions_app_safetyverdict"], mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0021_one_chosen_answer'),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.AddField(
            model_name='safetyverdict',
            name='noticed',
            field=models.CharField(blank=True, choices=[('none', 'None'), ('concern', 'Concern'), ('immediate', 'Immediate')], db_default='', default='', max_length=16),
        ),
        migrations.AddField(
            model_name='safetyverdict',
            name='is_foreign',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
