"""``middlemark certs``: makes a set of certificates and keys, like the set that a trial with security makes."""

from typing import get_args

import click

from middlemark import exits
from middlemark.commands.page import argument, page
from middlemark.problems import Problem, RequestError


@page(
    "certs",
    ("certs my-certs", "makes the folder"),
    (
        "run --adapter cyclonedds --security encrypted --certs my-certs",
        "measures with this set, or with your own",
    ),
    notes=("Without --certs, each trial with --security makes its own set.",),
)
@argument("folder", metavar="FOLDER", says="The folder to make, which must not exist yet.")
def command(folder: str) -> int:
    """Make the folder and print the purpose of each file; return the exit code."""
    from middlemark.model.description import Credential
    from middlemark.security.authority import LIFE, make_set
    from middlemark.security.layout import IDENTITIES, files
    from middlemark.show.output import say, write_facts

    try:
        make_set(folder)
    except FileExistsError:
        raise RequestError([Problem(folder, "exists already; name a folder that does not exist")]) from None
    except OSError as error:
        raise RequestError([Problem(folder, f"cannot be made: {error.strerror or error}")]) from None
    click.echo(f"{folder}: certificates valid for {LIFE.days} days. The key of their authority was not stored.")
    listed = files(get_args(Credential), IDENTITIES)
    whose = {True: " (readable only by you)", False: ""}
    write_facts(*((f"  {each.name}", f"{each.what}{whose[each.secret]}") for each in listed))
    say(f"To measure with this set: middlemark run … --security encrypted --certs {folder}")
    return exits.OK
