"""The exceptions of the package.

::

    LeasedBeatError
    ├── SettingsError (ValueError)        a setting that cannot be used
    ├── ScheduleError (ValueError)        a mistake where the schedule was written
    │   ├── SpecError                     a timing that cannot be read, or that names no date
    │   ├── OptionError                   an option that is unknown, misplaced or of a wrong value
    │   └── DuplicateNameError            a second entry, job or listener of one name
    ├── EventError (TypeError)            something that is not an event, or cannot become one
    │   └── PayloadError                  a payload that does not fit its event's class
    ├── BrokerError                       the broker gave no usable answer to a publish
    └── StoreError                        the lease's server gave no usable answer
        └── FencedError                   it refused a write: the token is no longer the lease's

Losing the lease is a result, not an exception: ``FencedError`` never leaves the engine.
"""


class LeasedBeatError(Exception):
    """The base of every exception that this package raises on purpose."""


class SettingsError(LeasedBeatError, ValueError):
    """A setting cannot be used; the message names it, its value and what is allowed."""


class ScheduleError(LeasedBeatError, ValueError):
    """A mistake in the schedule, raised where it was written."""


class SpecError(ScheduleError):
    """A timing cannot be read, or no date ever matches it."""


class OptionError(ScheduleError):
    """An option is unknown, stands in the wrong place or has a wrong value."""


class DuplicateNameError(ScheduleError):
    """A second entry, job or listener has a name that is taken."""


class EventError(LeasedBeatError, TypeError):
    """Something is not an event, or cannot become one."""


class PayloadError(EventError):
    """A payload does not fit the class of its event (any more)."""


class BrokerError(LeasedBeatError):
    """The broker could not be reached, or gave no usable answer; whether a message was sent is not known."""


class StoreError(LeasedBeatError):
    """The lease's server gave no usable answer; nothing is known of the call's effect."""


class FencedError(StoreError):
    """A write was refused, since its token is no longer the lease's."""
