"""The middleware's own settings: the keys that an adapter accepts, and the adapters for which a typed key is meant."""

from collections.abc import Iterable, Mapping, Sequence

from middlemark.model.description import Description
from middlemark.model.pairs import sides_of
from middlemark.model.spelling import did_you_mean, listing, nearest, there_are
from middlemark.model.user_file import KEY, user_file
from middlemark.model.version import adapter_of, is_version
from middlemark.plan.targets import Context
from middlemark.problems import Problem
from middlemark.suite.sweep import Suite, Sweep, TypedNative


def accepts(adapter: Description, key: str) -> bool:
    """Say whether the adapter accepts the key.

    ``Domain/*`` in its description accepts all keys that begin with ``Domain/``.

    The adapter checks the rest of such a key, and every value, when it opens the middleware.
    """
    return ("*" in adapter.native and key != KEY) or _knows(adapter, key)


def native_of(sweep: Sweep, context: Context, adapter: Description) -> tuple[tuple[str, str], ...]:
    """Return an adapter's settings in a sweep, sorted by key.

    Settings of the command line override those of the suite.
    """
    written = {each.adapter: each.settings for each in sweep.native}
    settings = dict(written.get(adapter_of(adapter.name), ())) | dict(written.get(adapter.name, ()))
    # The most specific key wins, whatever the order: ADAPTER@VERSION.KEY, then ADAPTER.KEY, then KEY.
    for typed in sorted(sweep.typed_native, key=lambda each: _closeness(_owner(each.word, context))):
        key = _keys(typed, sweep, context).get(adapter.name)
        if key is not None:
            settings[key] = typed.value
    return tuple(sorted(settings.items()))


def native_of_target(sweep: Sweep, context: Context, adapter: Description) -> tuple[tuple[str, str], ...]:
    """Return the settings of an adapter.

    For a pair, these are the settings of both sides, each key with the name of its adapter before it.
    """
    sides = sides_of(adapter.name)
    if sides[0] == sides[1]:
        return native_of(sweep, context, adapter)
    builds = [next(each for each in context.descriptions if each.name == side) for side in sides]
    found = [(f"{each.name}.{key}", value) for each in builds for key, value in native_of(sweep, context, each)]
    return tuple(sorted(found))


def _closeness(owner: str | None) -> int:
    return 0 if owner is None else 1 + ("@" in owner)


def check_native(sweep: Sweep, context: Context) -> list[Problem]:
    """Return a problem for each setting of a suite with an unknown adapter or an unknown key."""
    here = {each.name: each for each in context.descriptions}
    problems: list[Problem] = []
    for native in sweep.native:
        adapter = here.get(native.adapter)
        if adapter is None:
            if native.adapter not in context.absent:
                hint = did_you_mean(native.adapter, [*here, *context.absent])
                problems.append(Problem(native.place, f"no adapter is called '{native.adapter}'; {hint}"))
            continue
        for key, value in native.settings:
            if (wrong := _wrong(adapter, key, value, context)) is not None:
                problems.append(Problem(native.place if key == KEY else f"{native.place}: {key}", wrong))
    return problems


def check_typed_native(suites: Sequence[Suite], context: Context) -> list[Problem]:
    """Return a problem for each ``--native`` that no sweep of the whole request can use."""
    sweeps = [sweep for suite in suites for sweep in suite.sweeps]
    typed = dict.fromkeys(each for sweep in sweeps for each in sweep.typed_native)
    measured = {each.name: each for sweep in sweeps for each in _adapters(sweep, context)}
    asked = {str(name) for sweep in sweeps for name in sweep.adapters}
    problems: list[Problem] = []
    for each in typed:
        owner = _owner(each.word, context)
        if owner is not None:
            builds = [build for name, build in measured.items() if owner in (name, adapter_of(name))]
            if builds:
                key = each.word[len(owner) + 1 :]
                if (wrong := _wrong(builds[0], key, each.value, context)) is not None:
                    problems.append(Problem(each.place, wrong))
            elif owner not in asked:  # else the missing adapter is already a problem
                problems.append(Problem(each.place, f"{owner} is not measured; {there_are(measured)}"))
        elif measured and not any(_keys(each, sweep, context) for sweep in sweeps):
            problems.append(Problem(each.place, _for_no_adapter(each.word, measured.values(), context)))
    return problems


def _keys(typed: TypedNative, sweep: Sweep, context: Context) -> dict[str, str]:
    """Return adapter → key, for the adapters of the sweep for which a typed setting is meant."""
    adapters = _adapters(sweep, context)
    owner = _owner(typed.word, context)
    if owner is not None:
        key = typed.word[len(owner) + 1 :]
        builds = [each for each in adapters if owner in (each.name, adapter_of(each.name))]
        return {each.name: key for each in builds if accepts(each, key)}
    accepting = [each for each in adapters if accepts(each, typed.word)]
    # An adapter that accepts any key gets the setting only if no other adapter lists its key.
    knowing = [each for each in accepting if _knows(each, typed.word)]
    return {each.name: typed.word for each in knowing or accepting}


def _knows(adapter: Description, key: str) -> bool:
    stems = [key[:-1] for key in adapter.native if key.endswith("*") and key != "*"]
    return key in adapter.native or any(key.startswith(stem) for stem in stems)


def _adapters(sweep: Sweep, context: Context) -> list[Description]:
    asked = sweep.adapters
    if asked == ("all",):
        return [each for each in context.descriptions if not each.bench_only and "@" not in each.name]
    return [each for each in context.descriptions if any(is_version(each, str(name)) for name in asked)]


def _owner(word: str, context: Context) -> str | None:
    """Return the adapter with whose name ``word`` begins; None: ``word`` is only a key.

    Names may contain dots, so the longest matching name is returned.
    """
    names = [*(each.name for each in context.descriptions), *context.absent]
    return max((name for name in names if word.startswith(f"{name}.")), key=len, default=None)


def _wrong(adapter: Description, key: str, value: str, context: Context) -> str | None:
    """Return the problem of the setting; None: no problem. A path needs a hash, because the file may change."""
    if key == KEY and accepts(adapter, key):
        return None if user_file(value) else "a configuration file is given with --config ADAPTER=FILE, or in [config]"
    if key == KEY:
        takers = [each.name for each in context.descriptions if KEY in each.native]
        return f"{adapter.name} cannot use a configuration file; adapters that can: {listing(takers) or 'none here'}"
    return None if accepts(adapter, key) else _unknown(adapter, key)


def _unknown(adapter: Description, key: str) -> str:
    return f"{adapter.name} has no native setting '{key}'; {_hint(key, tuple(adapter.native))}"


def _for_no_adapter(word: str, adapters: Iterable[Description], context: Context) -> str:
    adapters_by_key = {key: each.name for each in adapters for key in each.native}
    name, dot, key = word.partition(".")
    owner = nearest(name, [each.name for each in context.descriptions]) if dot else None
    if owner is not None and nearest(key, adapters_by_key) is not None:
        return f"no adapter is called '{name}'; did you mean '{owner}.{nearest(key, adapters_by_key)}'?"
    near = nearest(word, adapters_by_key)
    hint = f"did you mean '{near}' of {adapters_by_key[near]}?" if near else _hint(word, adapters_by_key)
    return f"no adapter that is measured has a native setting '{word}'; {hint}"


def _hint(key: str, names: Sequence[str] | Mapping[str, str]) -> str:
    return did_you_mean(key, names) if names else "the adapter has no native settings"
