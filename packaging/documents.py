"""Hooks of mkdocs: add the pages that are outside docs/, and translate links between files into links between pages.

A link to a file that is no page, such as a suite, becomes a link into the repository. While the repository's address is
a placeholder (pyproject.toml), such a link becomes plain text. The page of a middleware is the text choosing.md in its
adapter's folder, with the facts and figures that other files have about it.
"""

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = re.search(r'^__version__ = "(.+)"', (ROOT / "src/middlemark/__init__.py").read_text(), re.MULTILINE)
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "project/changelog.md",
    "CODE_OF_CONDUCT.md": "project/code-of-conduct.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "packaging/README.md": "project/packaging.md",
    "results/README.md": "reference/results.md",
}
"""Pages outside docs/: the path of the file, and that of the page."""
PAGES |= {
    f"adapters/{each.parent.name}/README.md": f"adapters/{each.parent.name}.md"
    for each in ROOT.glob("adapters/*/README.md")
}
PAGES |= {
    f"adapters/{each.parent.name}/choosing.md": f"choose/middleware/{each.parent.name}.md"
    for each in ROOT.glob("adapters/*/choosing.md")
}
FILES = {page: file for file, page in PAGES.items()}
WIDE = """\
.md-grid { max-width: 80rem }
.md-typeset table:not([class]) code { white-space: nowrap }
.md-typeset pre > code { font-size: .58rem }
"""
"""A style sheet that gives tables more room, and fits outputs of 100 columns into a page of 1280 pixels."""
DEFINITIONS = "reference/glossary.md"
"""The page that a search for one of its terms lists first."""
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
CODE = re.compile(
    r"^(?P<fence>```+|~~~+).*?^(?P=fence)|^(?: {4}|\t)[^\n]*|(?P<ticks>`+)[^`].*?(?<!`)(?P=ticks)(?!`)",
    re.DOTALL | re.MULTILINE,
)


def address(name: str) -> str | None:
    """Return an address of [project.urls]; None while it is a placeholder."""
    found = PROJECT["urls"][name]
    return None if "example" in found else found


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the addresses and the version, and list the pages of a folder that the navigation names as FOLDER/*."""
    assert VERSION is not None
    config.site_url = address("Documentation")
    config.repo_url = address("Repository")
    config.copyright = f"Middlemark {VERSION[1]} · Apache-2.0"
    config.nav = expanded(config.nav)
    return config


def expanded(entry: Any) -> Any:
    """Return an entry of the navigation with the pages of each FOLDER/*."""
    match entry:
        case list():
            return [expanded(each) for each in entry]
        case dict():
            return {title: expanded(each) for title, each in entry.items()}
        case str() if entry.endswith("/*"):
            folder = entry.removesuffix("*")
            own = (str(each.relative_to(ROOT / "docs")) for each in (ROOT / "docs" / folder).glob("*.md"))
            return sorted(
                [*own, *(page for page in FILES if page.startswith(folder))],
                key=lambda page: (not page.endswith("README.md"), page),
            )
    return entry


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages outside docs/, and the style sheet."""
    for file, page in PAGES.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        if file.endswith("/choosing.md"):
            text += figures_and_facts(Path(file).parent.name, text.partition("\n")[0].removeprefix("# "))
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "wide.css", content=WIDE))
    return files


def figures_and_facts(adapter: str, title: str) -> str:
    """Return the sections that a middleware's page ends with: its rows of other pages, and its facts."""
    sizes = rows_of("choose/how-to-choose.md", f"[{title}](", ("1 KiB", "64 KiB", "1 MiB"))
    columns = ("holds", "first to fail", "processors", "resident memory, MB", "discovery, ms")
    robots = [
        [f"[{page.stem}](../../docs/choose/robots/{page.name}): {section.lower()}", *cells]
        for page in sorted((ROOT / "docs/choose/robots").glob("*.md"))
        for section, *cells in rows_of(f"choose/robots/{page.name}", f"{title} |", columns)
    ]
    figures = ["", "## Figures on this project's machine", ""]
    if sizes:
        link = "[first-look](../../docs/choose/how-to-choose.md#by-message-size)"
        figures += [f"p50 of a round trip in µs, with the ratio to the baseline and the transport ({link}):", ""]
        figures += table(("1 KiB", "64 KiB", "1 MiB"), [cells for _, *cells in sizes])
    if robots:
        figures += ["Whole robots, with the default configuration:", "", *table(("robot", *columns), robots)]
    if not sizes and not robots:
        figures += ["No stored run has it.", ""]
    frameworks = tomllib.loads((ROOT / "src/middlemark/suite/frameworks.toml").read_text(encoding="utf-8"))["framework"]
    framework = next((each for each in frameworks.values() if each.get("adapter") == adapter), {})
    facts = [[key.replace("_", " "), fact[0]] for key, fact in framework.items() if isinstance(fact, list)]
    readme = (ROOT / "adapters" / adapter / "README.md").read_text(encoding="utf-8")
    facts += [["tested versions", found[1]] for found in re.finditer(r"Tested versions: (.+)\.$", readme, re.MULTILINE)]
    links = (
        "Sources: [the frameworks themselves](../../docs/reference/frameworks.md). Every setting: [README](README.md)."
    )
    return "\n".join([*figures, "## Facts", "", *table(("", ""), facts), links, ""])


def rows_of(page: str, begin: str, columns: Sequence[str]) -> list[list[str]]:
    """Return, for each table row of a page under docs/ that begins so, its section and its cells in these columns."""
    found = []
    for section in (ROOT / "docs" / page).read_text(encoding="utf-8").split("\n## "):
        lines = [line for line in section.splitlines() if line.startswith("|")]
        for line in lines:
            if line.startswith(f"| {begin}"):
                heads, cells = ([cell.strip() for cell in each.strip("|").split("|")] for each in (lines[0], line))
                row = dict(zip(heads, cells, strict=False))
                found.append([section.splitlines()[0], *(row.get(column, "–") for column in columns)])
    return found


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, and an empty line."""
    return [*(f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows)), ""]


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Translate the links of a page. A comment before its title is left out: mkdocs would not find the title."""
    if page.file.src_uri == DEFINITIONS:
        page.meta["search"] = {"boost": 20}
    markdown = re.sub(r"\A<!--.*?-->\s*", "", markdown, flags=re.DOTALL)
    source = FILES.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    code = [match.span() for match in CODE.finditer(markdown)]

    def translated(link: re.Match[str]) -> str:
        if any(start <= link.start() and link.end() <= end for start, end in code):
            return link[0]
        mark, text, target = link.groups()
        path, anchor, fragment = target.partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return link[0]
        file = os.path.normpath(Path(source).parent / path)
        if not (ROOT / file).exists():
            raise PluginError(f"{source}: {target} is not a file of this project")
        if f"{file}/README.md" in PAGES or (ROOT / file / "README.md").exists():
            file = f"{file}/README.md"
        uri = PAGES.get(file) or (file.removeprefix("docs/") if file.startswith("docs/") else None)
        if uri and files.get_file_from_path(uri):
            return f"{mark}[{text}]({os.path.relpath(uri, Path(page.file.src_uri).parent)}{anchor}{fragment})"
        if config.repo_url:
            return f"[{text}]({config.repo_url}/blob/main/{file}{anchor}{fragment})"
        return text

    return LINK.sub(translated, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Remove the backslash before a bar in a table's code. Markdown needs the backslash; GitHub does not print it."""
    return re.sub(r"<td[^>]*>.*?</td>", lambda cell: cell[0].replace("\\|", "|"), html, flags=re.DOTALL)
