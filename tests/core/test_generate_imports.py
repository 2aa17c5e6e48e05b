"""Where an import goes: as isort and Ruff sort them, in the manner of the file."""

import pytest

from celery_leased_beat.errors import DuplicateNameError
from celery_leased_beat.generate import Import
from celery_leased_beat.generate.imports import with_import
from celery_leased_beat.generate.source import Module

LOGGING = Import("logging")
FIRE = Import("celery_leased_beat", "Fire")
DIGEST = Import("shop.events", "DigestDue")
EVENTS = Import("proj.celery", "events")
PART = Import("shop.tasks", "send_digest", exported=True)


def added(text: str, wanted: Import, *, name: str = "shop.tasks", package: bool = False) -> str:
    module = Module(name, "tasks.py", text, package, frozenset({"proj", "shop"}))
    return with_import(module, wanted)[0].text


def known(text: str, wanted: Import) -> str:
    module = Module("shop.tasks", "tasks.py", text)
    same, name = with_import(module, wanted)
    assert same is module
    return name


@pytest.mark.parametrize(
    ("before", "wanted", "after"),
    [
        ("", LOGGING, "import logging\n"),
        ('"""Doc."""\n', LOGGING, '"""Doc."""\n\nimport logging\n'),
        ('"""Doc."""\n\nx = 1\n', LOGGING, '"""Doc."""\n\nimport logging\n\nx = 1\n'),
        ('"""Doc."""\nx = 1\n', LOGGING, '"""Doc."""\n\nimport logging\n\nx = 1\n'),
        ('"""Doc."""\n\n\ndef f(): ...\n', LOGGING, '"""Doc."""\n\nimport logging\n\n\ndef f(): ...\n'),
        ("@d\ndef f(): ...\n", LOGGING, "import logging\n\n\n@d\ndef f(): ...\n"),
        ("#!python\n# Mine.\n\nx = 1\n", LOGGING, "#!python\n# Mine.\n\nimport logging\n\nx = 1\n"),
        ("# Create your tasks here\n", LOGGING, "# Create your tasks here\n\nimport logging\n"),
        ("# Mine.\nimport os\n", LOGGING, "# Mine.\nimport logging\nimport os\n"),
        ("import os\n", LOGGING, "import logging\nimport os\n"),
        ("import abc\n# Why.\nimport os\n", LOGGING, "import abc\nimport logging\n# Why.\nimport os\n"),
        ("import abc\nfrom a2 import b\n", LOGGING, "import abc\nimport logging\nfrom a2 import b\n"),
        ("from os import sep\n", LOGGING, "import logging\nfrom os import sep\n"),
        (
            "from __future__ import annotations\n\nx = 1\n",
            LOGGING,
            "from __future__ import annotations\n\nimport logging\n\nx = 1\n",
        ),
        ("import attrs\n", LOGGING, "import logging\n\nimport attrs\n"),
        ("import os\n\nimport a\n", FIRE, "import os\n\nimport a\nfrom celery_leased_beat import Fire\n"),
        ("import os\n\nimport shop\n", FIRE, "import os\n\nfrom celery_leased_beat import Fire\n\nimport shop\n"),
        ("import celery\nimport redis\n", FIRE, "import celery\nimport redis\nfrom celery_leased_beat import Fire\n"),
        (
            "from celery import app\nfrom django import db\n",
            FIRE,
            "from celery import app\nfrom celery_leased_beat import Fire\nfrom django import db\n",
        ),
        ("from .. import a\n", DIGEST, "from .. import a\nfrom .events import DigestDue\n"),
        ("from .a import b\nfrom .z import b\n", DIGEST,
         "from .a import b\nfrom .events import DigestDue\nfrom .z import b\n"),
        ("from shop.a import b\n", DIGEST, "from shop.a import b\nfrom shop.events import DigestDue\n"),
        ("from shop.a import b\n", EVENTS, "from proj.celery import events\nfrom shop.a import b\n"),
        ("import redis\n", EVENTS, "import redis\n\nfrom proj.celery import events\n"),
        ("from .a import b\n", EVENTS, "from proj.celery import events\n\nfrom .a import b\n"),
    ],
)  # fmt: skip
def test_a_statement_goes_where_it_is_sorted(before: str, wanted: Import, after: str) -> None:
    assert added(before, wanted) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from celery_leased_beat import Schedule\n", "from celery_leased_beat import Fire, Schedule\n"),
        ("from celery_leased_beat import Envelope, event\n", "from celery_leased_beat import Envelope, Fire, event\n"),
        ("from celery_leased_beat import (Envelope)  # a\n", "from celery_leased_beat import (Envelope, Fire)  # a\n"),
        (
            "from celery_leased_beat import (\n    Envelope,  # a\n    event,\n)\n",
            "from celery_leased_beat import (\n    Envelope,  # a\n    Fire,\n    event,\n)\n",
        ),
        (
            "from celery_leased_beat import (\n    Cron,\n    Envelope,  # a\n)\n",
            "from celery_leased_beat import (\n    Cron,\n    Envelope,  # a\n    Fire,\n)\n",
        ),
        (
            "from celery_leased_beat import (\n  Cron,\n  Envelope)\n",
            "from celery_leased_beat import (\n  Cron,\n  Envelope,\n  Fire)\n",
        ),
        (
            "from celery_leased_beat import Cron, \\\n    Envelope\n",
            "from celery_leased_beat import Cron, \\\n    Envelope, Fire\n",
        ),
        (
            "from celery_leased_beat import Cron, Envelope, Events, Every, LeasedTask, Schedule, event\n",
            "from celery_leased_beat import (\n    Cron,\n    Envelope,\n    Events,\n    Every,\n    Fire,\n"
            "    LeasedTask,\n    Schedule,\n    event,\n)\n",
        ),
        (
            "from celery_leased_beat import event as e\n",
            "from celery_leased_beat import Fire\nfrom celery_leased_beat import event as e\n",
        ),
        (
            "from celery_leased_beat import *\n",
            "from celery_leased_beat import Fire\nfrom celery_leased_beat import *\n",
        ),
        (
            "if x:\n    from celery_leased_beat import Cron\n",
            "from celery_leased_beat import Fire\n\nif x:\n    from celery_leased_beat import Cron\n",
        ),
    ],
)
def test_a_name_goes_among_those_of_its_module(before: str, after: str) -> None:
    assert added(before, FIRE) == after


@pytest.mark.parametrize(
    ("text", "wanted", "name"),
    [
        ("import os, logging as log\n", LOGGING, "log"),
        ("x = 1\nimport logging\n", LOGGING, "logging"),
        ("from celery_leased_beat import Cron, Fire as TheFire\n", FIRE, "TheFire"),
        ("from .events import DigestDue\n", DIGEST, "DigestDue"),
        ("from ..shop.events import DigestDue\n", DIGEST, "DigestDue"),
        ("from shop.events import DigestDue as Due\n", DIGEST, "Due"),
    ],
)
def test_what_is_imported_keeps_its_name(text: str, wanted: Import, name: str) -> None:
    assert known(text, wanted) == name


def test_a_package_imports_its_own_modules() -> None:
    assert added("", PART, package=True) == "from . import send_digest as send_digest\n"
    one = added("from . import archive as archive\n", PART, package=True)
    assert one == "from . import archive as archive\nfrom . import send_digest as send_digest\n"


def test_a_module_below_writes_full_names() -> None:
    assert added("", DIGEST, name="shop.tasks.mail") == "from shop.events import DigestDue\n"


def test_who_writes_a_package_together_with_his_own_takes_it_for_one_of_those() -> None:
    before = (
        "from celery_leased_beat import Envelope\nfrom proj.celery import app\nfrom shop.events import SyncInventory\n"
    )
    after = added(before.replace("from proj.celery import app\n", ""), EVENTS)
    assert after == before.replace("import app", "import events")


def test_a_line_that_is_too_long_is_broken() -> None:
    wanted = Import("proj.a_package_with_a_long_name.another_package_with_a_long_name.celery", "events")
    assert added("", wanted) == f"from {wanted.module} import (\n    events,\n)\n"


@pytest.mark.parametrize("taken", ["def events(): ...", "from shop import events", "if x:\n    events = 5"])
def test_a_name_that_is_taken_is_an_error(taken: str) -> None:
    with pytest.raises(DuplicateNameError, match=r"^tasks\.py has a 'events' of its own, and that of proj\."):
        added(f"{taken}\n", EVENTS)
