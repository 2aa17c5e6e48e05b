"""What was told."""

from django.db import models


class Digest(models.Model):
    """A digest, kept for the archive."""

    envelope = models.UUIDField(primary_key=True)
    audience = models.CharField(max_length=50)
    instant = models.DateTimeField()
