"""``middlemark certs``: a set of certificates and keys, like the one that a trial with security makes."""

from typing import get_args

import click

from middlemark import exits
from middlemark.problems import Problem, RequestError


@click.command(name="certs")
@click.argument("folder", metavar="FOLDER")
def command(folder: str) -> int:
    """Make a set of certificates and keys in FOLDER, which must not exist yet, and print what each file is.

    A trial with --security makes such a set for itself. `run --certs FOLDER` measures with this one, or with your own.
    """
    from middlemark.model.description import Credential
    from middlemark.security.authority import LIFE, make_set
    from middlemark.security.layout import IDENTITIES, files
    from middlemark.show.output import write_facts

    try:
        make_set(folder)
    except FileExistsError:
        raise RequestError([Problem(folder, "is there already; name a folder that is not")]) from None
    except OSError as error:
        raise RequestError([Problem(folder, f"cannot be made: {error.strerror or error}")]) from None
    click.echo(f"{folder}: certificates good for {LIFE.days} days, of an authority whose own key is forgotten")
    listed = files(get_args(Credential), IDENTITIES)
    whose = {True: " (yours alone to read)", False: ""}
    write_facts(*((f"  {each.name}", f"{each.what}{whose[each.secret]}") for each in listed))
    click.echo(f"Measure with it: middlemark run … --security encrypted --certs {folder}")
    return exits.OK
