"""Hooks of mkdocs: add the pages that are outside docs/, and translate links between files into links between pages.

A link to a file that is no page, such as a suite, becomes a link into the repository. While the repository's address is
a placeholder (pyproject.toml), such a link becomes plain text.
"""

import os
import re
import tomllib
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
}
"""Pages outside docs/: the path of the file, and that of the page."""
PAGES |= {
    f"adapters/{each.parent.name}/README.md": f"adapters/{each.parent.name}.md"
    for each in ROOT.glob("adapters/*/README.md")
}
FILES = {page: file for file, page in PAGES.items()}
WIDE = ".md-grid { max-width: 80rem } .md-typeset table:not([class]) code { white-space: nowrap }"
"""A style sheet that gives tables and commands more room."""
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
        files.append(File.generated(config, page, content=(ROOT / file).read_text(encoding="utf-8")))
    files.append(File.generated(config, "wide.css", content=WIDE))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Translate the links of a page."""
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
        elif f"{file}/README.md" in PAGES or (ROOT / file / "README.md").exists():
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
