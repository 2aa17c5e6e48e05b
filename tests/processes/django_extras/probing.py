"""Settings with one app more."""

from django_shop.settings import *  # noqa: F403
from django_shop.settings import INSTALLED_APPS as SHOPS_APPS

INSTALLED_APPS = [*SHOPS_APPS, "probe"]
