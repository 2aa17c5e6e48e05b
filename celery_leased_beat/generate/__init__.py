"""Jobs, events and listeners written into a package: stubs that run, registered where the others are.

Code is found by its syntax tree, and what is there stays as it is, byte for byte. All is worked out before anything is
written, and a call that finds its work done changes nothing. No Celery here.
"""

from celery_leased_beat.generate.files import Change, write_changes
from celery_leased_beat.generate.imports import Import
from celery_leased_beat.generate.package import Package
from celery_leased_beat.generate.plans import Plan, plan_event, plan_job, plan_listener, require_event
from celery_leased_beat.generate.when import When, read_when

__all__ = [
    "Change",
    "Import",
    "Package",
    "Plan",
    "When",
    "plan_event",
    "plan_job",
    "plan_listener",
    "read_when",
    "require_event",
    "write_changes",
]
