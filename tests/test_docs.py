"""The pages for people: each is reached from the README, and each link leads somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("examples/**/README.md"))]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """The links of a page to other files of the project, each with its anchor."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            yield (page.parent / path).resolve() if path else page, anchor


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_link_leads_somewhere(page: Path) -> None:
    assert [target for target, _ in links(page) if not target.exists()] == []
    assert [(target, anchor) for target, anchor in links(page) if anchor and anchor not in anchors(target)] == []


def test_each_page_is_reached_from_the_readme() -> None:
    reached, found = {README}, {README}
    while found:
        found = {target for page in found for target, _ in links(page) if target.suffix == ".md"} - reached
        reached |= found
    assert [page for page in PAGES if page not in reached and page.parent == ROOT / "docs"] == []


def test_the_readme_stays_short() -> None:
    assert len(README.read_text().splitlines()) < 150
