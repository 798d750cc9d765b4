import django.db.models.deletion
from django.db import migrations, models

NAME = "rooms_connection_seat_id_3785b36a_fk_rooms_seat_id"
KEY = f"""
ALTER TABLE rooms_connection DROP CONSTRAINT {NAME};
ALTER TABLE rooms_connection ADD CONSTRAINT {NAME}
    FOREIGN KEY (seat_id) REFERENCES rooms_seat (id) %s DEFERRABLE INITIALLY DEFERRED;
"""
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
        migrations.AlterField(
            model_name="connection",
            name="seat",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.DO_NOTHING, related_name="connections", to="rooms.seat"
            ),
        ),
        migrations.RunSQL(KEY % "ON DELETE CASCADE", KEY % ""),
    ]
