"""What holds of every module that the generators change."""

import ast
import io
import re
import tokenize

from hypothesis import given, settings
from hypothesis import strategies as st

from celery_leased_beat.generate.source import Module
from tests.core.changes import CHANGES, Change, read
from tests.core.jobs_modules import PARTS, put_together

modules = st.tuples(*map(st.sampled_from, PARTS)).map(lambda parts: read(put_together(*parts)))
changes = st.sampled_from(list(CHANGES.values()))
calls = st.sampled_from([CHANGES["job"], CHANGES["entry"], CHANGES["inclusion"]])


def comments(text: str) -> list[str]:
    return [token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.string[:1] == "#"]


def statements(text: str) -> list[str]:
    """What a module does: its statements but imports and placeholders, and those of ``register``."""
    found = []
    for node in ast.parse(text).body:
        body = node.body if getattr(node, "name", "") == "register" else [node]
        found += [ast.unparse(one) for one in body if not isinstance(one, ast.Import | ast.ImportFrom | ast.Pass)]
    return [code for code in found if code != "..."]


def imported(text: str) -> list[tuple[str, str, str | None]]:
    nodes = [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return [(getattr(node, "module", ""), alias.name, alias.asname) for node in nodes for alias in node.names]


@settings(max_examples=60, deadline=None)
@given(modules, changes)
def test_what_is_there_stays_and_in_its_order(module: Module, change: Change) -> None:
    before, after = module.text, change(module).text
    kept = iter(statements(after))
    assert all(statement in kept for statement in statements(before))
    assert comments(before) == comments(after)
    assert set(imported(before)) <= set(imported(after))


@settings(max_examples=60, deadline=None)
@given(modules, changes)
def test_not_a_character_is_taken_away_but_placeholders(module: Module, change: Change) -> None:
    before = module.text.replace("(schedule): ...", "(schedule):").replace("deps):\n    pass", "deps):")
    after = iter(change(module).text)
    assert all(character in after for character in before)


@settings(max_examples=60, deadline=None)
@given(modules, calls)
def test_the_last_thing_that_register_does_before_it_returns_is_new(module: Module, change: Change) -> None:
    def calls_in_register(text: str) -> list[str]:
        register = next((node for node in ast.parse(text).body if getattr(node, "name", "") == "register"), None)
        return [ast.unparse(node) for node in (register.body if register else []) if isinstance(node, ast.Expr)]

    before, after = calls_in_register(module.text), calls_in_register(change(module).text)
    assert after[:-1] == [call for call in before if call != "..."] or len(after) == 2 > len(before)
    assert re.match(r"(schedule|plan)\.(job|daily_at|include)\(", after[-1])


@settings(max_examples=60, deadline=None)
@given(modules, changes)
def test_a_second_call_changes_nothing(module: Module, change: Change) -> None:
    changed = change(module)
    assert changed != module
    assert change(changed) is changed


@settings(max_examples=60, deadline=None)
@given(modules, changes, changes)
def test_a_module_takes_one_change_after_another(module: Module, first: Change, second: Change) -> None:
    changed = second(first(module))
    assert first(changed) == second(changed) == changed


@settings(max_examples=60, deadline=None)
@given(modules, changes, st.sampled_from(["\r\n", "\r"]))
def test_a_file_keeps_its_newlines(module: Module, change: Change, newline: str) -> None:
    other = read(module.text.replace("\n", newline))
    expected = change(module).text
    if not module.text:
        assert change(other).text == expected
    else:
        assert change(other).text == expected.replace("\n", newline)


@settings(max_examples=60, deadline=None)
@given(modules, changes)
def test_a_last_line_that_was_not_ended_is_ended(module: Module, change: Change) -> None:
    assert change(read(module.text.removesuffix("\n"))).text == change(module).text
