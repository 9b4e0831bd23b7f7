"""The status that an archived client gets when it is restored."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("coaching", "0072_admin_names")]

    operations = [
        migrations.AddField(
            model_name="client",
            name="was_prospect",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Whether an archived client is a prospect once restored.",
            ),
        ),
    ]
