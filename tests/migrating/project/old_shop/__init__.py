"""A Django project from before this package, with ten entries of all kinds in its settings."""

from old_shop.celery import app

__all__ = ["app"]
