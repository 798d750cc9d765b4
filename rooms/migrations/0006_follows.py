import django.db.models.deletion
from django.db import migrations, models

FOLLOWS = "UPDATE rooms_room AS new SET follows_id = old.id FROM rooms_room AS old WHERE old.rematch_id = new.id"


class Migration(migrations.Migration):
    dependencies = [
        ("rooms", "0005_watchers_by_address"),
    ]

    operations = [
        migrations.AddField(
            model_name="room",
            name="follows",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="rooms.room",
            ),
        ),
        migrations.RunSQL(FOLLOWS, migrations.RunSQL.noop),
    ]
