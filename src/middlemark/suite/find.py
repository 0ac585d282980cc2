"""Where suites are: the ``suites`` folder of a checkout, or the one inside the installed package."""

import os
from pathlib import Path

from middlemark.suite.spelling import listing, nearest


def suites_folder() -> Path | None:
    """Return the folder with the suites that come with Middlemark; None when the installation has none."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parents[1]
    for folder in (package / "suites", checkout / "suites"):
        # Only a checkout has src/middlemark: beside site-packages a folder "suites" would be somebody else's.
        if folder.is_dir() and (folder.parent == package or package.parent.name == "src"):
            return folder
    return None


def suite_files() -> dict[str, Path]:
    """Return name → file of every suite that comes with Middlemark, sorted by name."""
    folder = suites_folder()
    return {path.stem: path for path in sorted(folder.glob("*.toml"))} if folder else {}


def find_suite(name: str) -> Path | str:
    """Return the file of a suite, given by path (it ends in .toml or has a slash) or by name; or what is wrong."""
    if name.endswith(".toml") or "/" in name:
        return Path(name)
    files = suite_files()
    if name in files:
        return files[name]
    near = nearest(name, files)
    question = f"; did you mean '{near}'?" if near else ""
    known = f"there is {listing(files)}" if files else "none is installed"
    beside = f"; './{name}.toml' would be the file here" if Path(f"{name}.toml").is_file() else ""
    return f"no suite of that name{question}; {known}{beside}"


def shown_path(path: Path) -> str:
    """Return the path as a person would write it from here: relative where that is shorter and stays below."""
    absolute = os.path.abspath(path)
    try:
        relative = os.path.relpath(absolute)
    except (OSError, ValueError):
        return absolute
    return absolute if relative.startswith("..") else relative
