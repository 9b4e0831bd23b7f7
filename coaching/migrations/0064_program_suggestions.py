"""What other programs suggest is made by a program. Grants of programs go with their user in the database, too:
processes of the version before delete users without knowing allauth's new table.
"""

from django.conf import settings
from django.db import migrations, models

from sessions_app.migrations._locks import lock_tables

KEY = """
ALTER TABLE allauth_idp_oidc_token ADD CONSTRAINT program_grant_user FOREIGN KEY (user_id)
    REFERENCES auth_user (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE allauth_idp_oidc_client ADD CONSTRAINT program_client_owner FOREIGN KEY (owner_id)
    REFERENCES auth_user (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
"""
REMOVE_KEY = """
ALTER TABLE allauth_idp_oidc_token DROP CONSTRAINT program_grant_user;
ALTER TABLE allauth_idp_oidc_client DROP CONSTRAINT program_client_owner;
"""
MADE_BY = ["pipeline", "chat", "user", "program"]
CHOICES = [
    ("pipeline", "Sage, from a document"),
    ("chat", "Sage, in a conversation"),
    ("user", "You"),
    ("program", "Another program"),
]


# Sign-ins and turns wait behind these locks, so they are asked for in short attempts.
def lock(apps, schema_editor):
    tables = ["auth_user", "coaching_knowledgeentry", "coaching_libraryeffect"]
    lock_tables(schema_editor.connection, tables, mode="ACCESS EXCLUSIVE")


class Migration(migrations.Migration):
    dependencies = [
        ("coaching", "0063_program_tokens"),
        ("allauth_idp_oidc", "0003_client_allow_uri_wildcards"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(lock, migrations.RunPython.noop),
        migrations.RemoveConstraint(model_name="knowledgeentry", name="entry_made_by_known"),
        migrations.RemoveConstraint(model_name="libraryeffect", name="effect_made_by_known"),
        migrations.AlterField(
            model_name="knowledgeentry",
            name="made_by",
            field=models.CharField(choices=CHOICES, default="user", max_length=16),
        ),
        migrations.AlterField(
            model_name="libraryeffect",
            name="made_by",
            field=models.CharField(choices=CHOICES, max_length=16),
        ),
        migrations.AddConstraint(
            model_name="knowledgeentry",
            constraint=models.CheckConstraint(
                condition=models.Q(("made_by__in", MADE_BY)), name="entry_made_by_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="libraryeffect",
            constraint=models.CheckConstraint(
                condition=models.Q(("made_by__in", MADE_BY)), name="effect_made_by_known"
            ),
        ),
        migrations.RunSQL(KEY, REMOVE_KEY),
        migrations.RunPython(migrations.RunPython.noop, lock),
    ]
