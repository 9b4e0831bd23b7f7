"""The name that the admin's start page gives to verdicts on messages."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0037_session_deleted")]

    operations = [
        migrations.AlterModelOptions(
            name="safetyverdict",
            options={
                "verbose_name": "safety check of a message",
                "verbose_name_plural": "safety checks of messages",
            },
        ),
    ]
