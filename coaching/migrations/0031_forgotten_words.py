"""Words of a document go with it: corrections, and what calls hold of it. No call is for key facts alone."""

import django.db.models.deletion
from django.db import migrations, models

FORGET = """
DELETE FROM coaching_documentcorrection WHERE document_id IS NULL;
UPDATE coaching_documentcall SET answer = ''
WHERE purpose IN ('classify', 'critic') AND state = 'answered' AND request = '';
"""


class Migration(migrations.Migration):
    dependencies = [("coaching", "0030_profile_language")]

    operations = [
        migrations.AlterField(
            model_name="documentcorrection",
            name="document",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="corrections",
                to="coaching.document",
            ),
        ),
        migrations.RemoveConstraint(model_name="documentcall", name="document_call_purpose_known"),
        migrations.AlterField(
            model_name="documentcall",
            name="purpose",
            field=models.CharField(
                choices=[
                    ("classify", "Classification"),
                    ("critic", "Second reading"),
                    ("summary", "Summary"),
                    ("transcript", "Transcript"),
                ],
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="documentcall",
            constraint=models.CheckConstraint(
                condition=models.Q(("purpose__in", ["classify", "critic", "summary", "transcript"])),
                name="document_call_purpose_known",
            ),
        ),
        migrations.AddIndex(
            model_name="document",
            index=models.Index(
                condition=models.Q(("is_withheld", True)),
                fields=["user"],
                include=("id",),
                name="document_withheld",
            ),
        ),
        migrations.RunSQL(FORGET, migrations.RunSQL.noop),
    ]
