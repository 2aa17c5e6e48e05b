"""What was done. The envelope's id as the key makes a second run change nothing."""

from django.db import models


class Sync(models.Model):
    """The stock was brought in line with a warehouse."""

    envelope = models.UUIDField(primary_key=True)
    warehouse = models.CharField(max_length=50)
    instant = models.DateTimeField()


class DailyCount(models.Model):
    """How many of them there were by the night of a day."""

    day = models.DateField(primary_key=True)
    syncs = models.PositiveIntegerField()
