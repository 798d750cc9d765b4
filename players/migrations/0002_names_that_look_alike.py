"""What names look like is kept with them, and no two registered players are shown by names that look alike."""

from django.db import migrations, models

from players.lookalikes import keys


def fill_in(apps, _schema_editor):
    """Keys of the names that are there. Of registered players who look alike the first one keeps the name, and the
    others get their number behind it."""
    player_model = apps.get_model("players", "Player")
    seen = set()
    for player in player_model.objects.order_by("pk").iterator(chunk_size=1000):
        player.name_key, player.username_key = keys(player.shown_name)[0], keys(player.username)[0]
        if not player.is_guest and player.name_key in seen:
            number = f" {player.pk}"
            player.shown_name = player.shown_name[: 40 - len(number)] + number
            player.name_key = keys(player.shown_name)[0]
        if not player.is_guest and player.name_key:
            seen.add(player.name_key)
        player.save(update_fields=["name_key", "username_key", "shown_name"])


class Migration(migrations.Migration):
    dependencies = [("players", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="player",
            name="name_key",
            field=models.TextField(default="", editable=False),
        ),
        migrations.AddField(
            model_name="player",
            name="username_key",
            field=models.TextField(default="", editable=False),
        ),
        migrations.RunPython(fill_in, migrations.RunPython.noop, elidable=True),
        migrations.AddIndex(
            model_name="player",
            index=models.Index(
                condition=models.Q(("is_guest", False)), fields=["username_key"], name="registered_username_key"
            ),
        ),
        migrations.AddConstraint(
            model_name="player",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_guest", False), models.Q(("name_key", ""), _negated=True)),
                fields=("name_key",),
                name="no_registered_player_looks_like_another",
            ),
        ),
    ]
