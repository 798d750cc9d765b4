"""Each player's fact says itself which match it is of and when that ended, with an index for the leaderboards."""

import django.db.models.deletion
from django.db import migrations, models

REPEAT = """
UPDATE stats_playerfact p SET match_id = m.match_id, game = m.game, finished_at = m.finished_at
FROM stats_matchfact m WHERE m.id = p.fact_id"""


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0003_seat_registered"),
        ("stats", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="playerfact",
            name="match",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="games.match",
            ),
        ),
        migrations.AddField(model_name="playerfact", name="game", field=models.CharField(max_length=20, null=True)),
        migrations.AddField(model_name="playerfact", name="finished_at", field=models.DateTimeField(null=True)),
        migrations.RunSQL(REPEAT, migrations.RunSQL.noop),
        # What waits for the end of the transaction must be done before the columns change.
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED", migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="playerfact",
            name="match",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="games.match",
            ),
        ),
        migrations.AlterField(model_name="playerfact", name="game", field=models.CharField(max_length=20)),
        migrations.AlterField(model_name="playerfact", name="finished_at", field=models.DateTimeField()),
        migrations.AddIndex(
            model_name="playerfact",
            index=models.Index(
                fields=["player", "game", "-finished_at", "-match"],
                include=["rating"],
                name="player_facts_newest_first",
            ),
        ),
        migrations.AddIndex(
            model_name="playerfact",
            index=models.Index(fields=["game", "finished_at"], name="player_facts_by_time"),
        ),
    ]
