"""The command's door. It imports nothing until Ctrl-C is in hand: what the command needs takes a tenth of a second."""

import os
import sys


def main() -> None:
    """Run the command line; every error is printed once, here, and never as a traceback."""
    try:
        _end_silently_when_told_to()
        from middlemark.standard_streams import hold

        hold()
        from middlemark.limits import too_few_descriptors

        if told := too_few_descriptors():
            sys.exit(_refused(told))
        # A thread a processor, which nothing here has work for: where one is refused it ends the process by SIGINT.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        sys.exit(_run())
    except KeyboardInterrupt:
        from middlemark.exits import INTERRUPTED

        sys.exit(INTERRUPTED)
    except Exception as error:
        from middlemark.limits import sentence

        told = sentence(error)
        if told is None:
            raise
        sys.exit(_refused(told))
    finally:
        _stay_until_the_end()


def _refused(told: str) -> int:
    from middlemark.exits import CELL_FAILED

    print(f"middlemark: {told}", file=sys.stderr)
    return CELL_FAILED


def _end_silently_when_told_to() -> None:
    """Let SIGINT and SIGTERM end the process at once; a verb that has something to clear away asks for more.

    Python's own way, an exception at any instruction, ends in a traceback when the instruction lies in a destructor or
    in a callback of the import system, and is swallowed there. Whoever ignores SIGINT (nohup) is left alone.
    """
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))  # ./middlemark lets them wait for this


def _stay_until_the_end() -> None:
    """Let no signal change the status that is due: Python takes back its handlers before it ends, some 20 ms."""
    import signal

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _terminated(_number: int, _frame: object) -> None:
    os._exit(130)  # exits.INTERRUPTED, which must not be imported here


def _tell_what_is_owed() -> None:
    """Begin with what a run that was killed has left changed on this machine. It looks for one file, as a rule."""
    if sys.argv[1:2] == ["tune"] or any(each.startswith("_") and each.endswith("_COMPLETE") for each in os.environ):
        return
    from middlemark.state import changed

    if os.path.exists(changed()):
        from middlemark.system.changes import owed

        if told := owed():
            print(f"middlemark: {told}", file=sys.stderr)


def _run() -> int:
    import click

    from middlemark import exits
    from middlemark.commands import group
    from middlemark.problems import MeasureError, RequestError

    _tell_what_is_owed()
    try:
        status: object = group.main(prog_name="middlemark", standalone_mode=False)
    except RequestError as error:
        for problem in error.problems:
            click.echo(f"middlemark: {problem}", err=True)
        return exits.BAD_REQUEST
    except MeasureError as error:
        click.echo(f"middlemark: {error}", err=True)
        if error.advice:
            click.echo(f"  {error.advice}", err=True)
        return exits.NOTHING_MEASURED
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return exits.BAD_REQUEST
    except click.Abort:  # click's word for KeyboardInterrupt
        return exits.INTERRUPTED
    except OSError as error:
        from middlemark.limits import is_a_limit

        if is_a_limit(error):
            raise
        # Those of a run are told where they happen; what is left is the output of a verb that only prints.
        from middlemark.show.output import discard

        discard()
        what = f"{error.filename}: " if error.filename else "the output cannot be written: "
        click.echo(f"middlemark: {what}{error.strerror or error}", err=True)
        return exits.CELL_FAILED
    return status if isinstance(status, int) else exits.OK
