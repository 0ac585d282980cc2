"""The entry point of the command.

This module handles Ctrl-C before all other imports, because the imports take 0.1 s.
"""

import os
import sys


def main() -> None:
    """Run the command line, and end the process. Prints every error once, here, and never as a traceback."""
    try:
        status = _status()
    finally:
        _ignore_signals()
    _end(status)


def _status() -> int:
    """Run the command line; return the exit status."""
    try:
        _end_silently_on_signals()
        from middlemark.standard_streams import hold

        hold()
        from middlemark.limits import too_few_descriptors

        if message := too_few_descriptors():
            return _print_refusal(message)
        # BLAS starts a thread per processor, which nothing in Middlemark uses, and raises SIGINT if the system refuses
        # a thread.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        return _run()
    except KeyboardInterrupt:
        from middlemark.exits import INTERRUPTED

        return INTERRUPTED
    except Exception as error:
        from middlemark.limits import sentence

        message = sentence(error)
        if message is None:
            raise
        return _print_refusal(message)


def _end(status: int) -> None:
    """End the process at once, without Python's clean-up, which takes a fifth of the time of a short command.

    If a thread still runs or the output cannot be written, end with Python's clean-up.
    """
    import contextlib
    import threading

    if threading.active_count() == 1:
        with contextlib.suppress(OSError, ValueError):
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
            os._exit(status)
    sys.exit(status)


def _print_refusal(message: str) -> int:
    from middlemark.exits import CELL_FAILED

    print(f"middlemark: {message}", file=sys.stderr)
    return CELL_FAILED


def _end_silently_on_signals() -> None:
    """Let SIGINT and SIGTERM end the process at once. A command that must clean up installs its own handlers.

    Python's default raises KeyboardInterrupt at any instruction. In a destructor or an import callback the exception is
    swallowed or printed as a traceback. An ignored SIGINT (nohup) stays ignored.
    """
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)
    # ./middlemark blocks these signals until here
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))


def _ignore_signals() -> None:
    """Ignore SIGINT and SIGTERM until the process ends, so that a late signal cannot change the exit status."""
    import signal

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _terminated(_number: int, _frame: object) -> None:
    os._exit(130)  # the value of exits.INTERRUPTED: a signal handler must not import


def _print_unrestored_settings() -> None:
    """Print the settings that a killed run left changed on this machine.

    Usually this function only looks for one file.
    """
    if sys.argv[1:2] == ["tune"] or any(name.startswith("_") and name.endswith("_COMPLETE") for name in os.environ):
        return
    from middlemark.state import changed

    if os.path.exists(changed()):
        from middlemark.system.changes import unrestored_warning

        if warning := unrestored_warning():
            print(f"middlemark: {warning}", file=sys.stderr)


def _run() -> int:
    import click

    from middlemark import exits
    from middlemark.commands import group
    from middlemark.problems import MeasureError, RequestError
    from middlemark.show.output import tell

    _print_unrestored_settings()
    try:
        status: object = group.main(prog_name="middlemark", standalone_mode=False)
    except RequestError as error:
        for problem in error.problems:
            tell(str(problem))
        return exits.BAD_REQUEST
    except MeasureError as error:
        tell(str(error), error.advice)
        return exits.NOTHING_MEASURED
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return exits.BAD_REQUEST
    except click.ClickException as error:
        from middlemark.commands.page import explained

        tell(*explained(error))
        return exits.BAD_REQUEST
    except click.Abort:  # click raises Abort for KeyboardInterrupt
        return exits.INTERRUPTED
    except OSError as error:
        from middlemark.limits import is_a_limit

        if is_a_limit(error):
            raise
        # A run handles its own OSErrors. An OSError here comes from printing.
        from middlemark.show.output import discard

        discard()
        what = f"{error.filename}: " if error.filename else "the output cannot be written: "
        click.echo(f"middlemark: {what}{error.strerror or error}", err=True)
        return exits.CELL_FAILED
    return status if isinstance(status, int) else exits.OK
