"""Modules of jobs as people write them, formatted and sorted as Ruff wants them; for tests of the generators."""

from itertools import product

DOCSTRINGS = ["", '"""When the shop does what."""\n']

IMPORTS = [
    "",
    "from celery_leased_beat import Schedule\n",
    "import logging as log\nimport os\nfrom abc import ABC\n\nfrom celery_leased_beat import Fire, Schedule\n",
    "from __future__ import annotations\n\nimport os\n",
    "import datetime\n\nimport attrs  # of others\nfrom celery_leased_beat import event\n\nfrom .models import Sale\n",
    "from celery_leased_beat import (\n    Envelope,\n    Schedule,  # the schedule\n)\n\nfrom proj import settings\n",
    "from shop.events import DigestDue\nfrom shop.models import Sale\n",
]

PIECES = [
    "",
    "LIMIT = 5\n",
    'def existing(number: int = 1) -> str:\n    """Say é."""\n    return f"{number}"\n',
    "class Existing:\n    # nothing yet\n\n    limit = 1\n",
]

REGISTERS = [
    "",
    "def register(schedule): ...\n",
    "def register(schedule, deps):\n    pass\n",
    'def register(schedule):\n    """Register."""\n',
    'def register(schedule):\n    schedule.job("shop.other", "@hourly", print)\n    # the last word\n',
    'def register(plan, deps=None):\n    if deps:\n        plan.job("shop.other", "@hourly", print)\n        # yet\n',
    'def register(schedule):\n    return schedule.job("shop.other", "@hourly", print)\n',
    '# All that is due.\ndef register(schedule):\n    @schedule.job("shop.other", "@hourly")\n    def other():\n'
    "        pass\n",
    'def register(schedule):\n\tschedule.job("shop.other", "@hourly", print)\n',
]

AFTERS = ["", "def after():\n    pass\n"]


def put_together(*parts: str) -> str:
    """Join the parts of a module with as many blank lines as formatters leave."""
    docstring, imports, *rest = parts
    blocks = [part for part in rest if part]
    head = "\n".join(part for part in (docstring, imports) if part)
    text, previous = head, "import"
    for block in blocks:
        apart = 2 if previous == "block" or not block.startswith("LIMIT") else 1
        text += "\n" * (apart if text else 0) + block
        previous = "block"
    return text


#: All of them put together in all ways.
PARTS = (DOCSTRINGS, IMPORTS, PIECES, REGISTERS, AFTERS)


def all_modules() -> list[str]:
    return [put_together(*parts) for parts in product(*PARTS)]
