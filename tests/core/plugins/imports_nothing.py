"""A module that asks another one for what is not there."""

from os import nothing_of_that_name  # noqa: F401
