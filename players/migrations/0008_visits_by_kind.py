from collections.abc import Iterable

from django.db import migrations, models

from players.devices import kind


def joined(rows: Iterable[tuple[int, int, str, str]]) -> tuple[dict[int, str], list[int]]:
    """Of rows (number, player, network, what the browser said), the latest first: the kind of browser of those that
    stay, and those that say the same as one of them."""
    seen, stay, same = set(), {}, []
    for number, player, network, said in rows:
        place = (player, network, kind(said))
        if place in seen:
            same.append(number)
        else:
            seen.add(place)
            stay[number] = place[2]
    return stay, same


def fill_in(apps, _editor):
    visits = apps.get_model("players", "Visit").objects
    rows = visits.order_by("-at", "-pk").values_list("pk", "player_id", "network", "user_agent")
    stay, same = joined(rows.iterator())
    visits.filter(pk__in=same).delete()
    for browser in set(stay.values()):
        visits.filter(pk__in=[number for number, one in stay.items() if one == browser]).update(browser=browser)


class Migration(migrations.Migration):
    dependencies = [
        ("players", "0007_session_salt"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="visit",
            name="one_row_for_a_visit",
        ),
        migrations.AddField(
            model_name="visit",
            name="browser",
            field=models.CharField(blank=True, default="", max_length=40),
        ),
        migrations.RunPython(fill_in, migrations.RunPython.noop, elidable=True),
        migrations.RemoveField(
            model_name="visit",
            name="user_agent",
        ),
        migrations.AddConstraint(
            model_name="visit",
            constraint=models.UniqueConstraint(fields=("player", "network", "browser"), name="one_row_for_a_visit"),
        ),
    ]
