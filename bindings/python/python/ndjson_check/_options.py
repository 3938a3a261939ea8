"""What a caller says, before the native part sees it. Each error names the option."""

from __future__ import annotations

import inspect
import operator
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Optional, Union, cast, get_args

# The exit status of a process, or what returns it once the stream has ended, such as its `wait`.
Status = Union[int, Callable[[], Optional[int]], None]
AsyncStatus = Union[int, Callable[[], Union[int, Awaitable[Optional[int]], None]], None]

# What a process wrote to standard error, or what returns it once the stream has ended.
Stderr = Union[str, bytes, Callable[[], Union[str, bytes]], None]
AsyncStderr = Union[str, bytes, Callable[[], Union[str, bytes, Awaitable[Union[str, bytes]]]], None]

_LEVELS = ("error", "warning", "off")
_UNSIGNED_MAX = 2**64 - 1
# Messages have no smaller unit.
_LIMIT_MIN = 0.001


def whole(option: str, value: object, least: int = 0, most: int = _UNSIGNED_MAX) -> None:
    if value is None:
        return
    try:
        number = operator.index(cast(Any, value))
    except TypeError:
        raise TypeError(f"{option}={value!r}: must be a whole number") from None
    if not least <= number <= most:
        raise ValueError(f"{option}={value!r}: must be from {least} to {most}")


def process_end(exit_status: object, signal: object) -> None:
    if not callable(exit_status):
        _status(exit_status)
    whole("signal", signal, 0, 255)


def _status(number: object) -> None:
    whole("exit_status", number, -(2**63), 2**63 - 1)


def ended(exit_status: Status) -> int | None:
    """The exit status at the end of the stream."""
    return _returned(exit_status()) if callable(exit_status) else exit_status


async def ended_later(exit_status: AsyncStatus) -> int | None:
    if not callable(exit_status):
        return exit_status
    number = exit_status()
    return _returned(await number if inspect.isawaitable(number) else number)


def said(option: str, value: object) -> None:
    if value is not None and not callable(value) and not isinstance(value, (str, bytes)):
        raise TypeError(f"{option}: must be a string, bytes or a function, not {type(value).__name__}")


async def said_later(stderr: AsyncStderr) -> str | bytes | None:
    if not callable(stderr):
        return stderr
    text = stderr()
    return await text if inspect.isawaitable(text) else text


def text_of(stderr: object) -> str | None:
    """What was written to standard error, as text."""
    if isinstance(stderr, bytes):
        return stderr.decode("utf-8", "replace")
    if stderr is None or isinstance(stderr, str):
        return stderr
    raise TypeError(f"stderr: must be a string or bytes, not {type(stderr).__name__}")


def _returned(number: int | None) -> int:
    if number is None:
        # It must not become a success.
        raise ValueError("exit_status: the function returned None, as `poll` does while the process "
                         "runs; pass the `wait` of the process")
    _status(number)
    return number


def flag(option: str, value: object) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"{option}={value!r}: must be True or False")


def callback(option: str, value: object) -> None:
    if value is None:
        return
    if not callable(value):
        raise TypeError(f"{option}: must be a function, not {type(value).__name__}")
    if any(map(inspect.iscoroutinefunction, (value, getattr(value, "__call__", None)))):
        raise TypeError(f"{option}: must be a plain function; an async one would never run")


def seconds(option: str, value: object, least: float = _LIMIT_MIN) -> None:
    """A time; infinity is the longest."""
    try:
        is_long_enough = value is None or cast(Any, value) >= least
    except TypeError:
        raise TypeError(f"{option}={value!r}: must be a number of seconds") from None
    if not is_long_enough:
        raise ValueError(f"{option}={value!r}: must be at least {least} s")


def data(option: str, value: object) -> bytes | None:
    """Bytes, or a text as UTF-8."""
    if value is None or isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise TypeError(f"{option}: must be a str or bytes, not {type(value).__name__}")
    return value.encode()


def path(option: str, value: object) -> str:
    try:
        return os.fsdecode(cast(Any, value))
    except TypeError as error:
        raise TypeError(f"{option}: {error}") from None


def iterable(option: str, value: object) -> None:
    if not isinstance(value, Iterable):
        raise TypeError(f"{option}: must be a list, not {type(value).__name__}")


def command(given: object) -> list[str]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(f"the command is a list of arguments, not a {type(given).__name__}")
    words = [path("command", word) for word in cast("Iterable[object]", given)]
    if words[:1] == [""]:
        raise ValueError("the command is empty")
    return words


def levels(rules: object) -> tuple[tuple[str, str], ...]:
    if rules is None:
        return ()
    if not isinstance(rules, Mapping):
        raise TypeError("rules: must be a mapping of names of rules to levels")
    items = tuple(cast("Mapping[str, str]", rules).items())
    for name, level in items:
        if level not in _LEVELS:
            said = ", ".join(map(repr, _LEVELS))
            raise ValueError(f"rules: the level of {name!r} is one of {said}, not {level!r}")
    return items


def variables(env: object) -> list[tuple[str, str | None]]:
    if env is None:
        return []
    if not isinstance(env, Mapping):
        raise TypeError(f"env: must be a mapping, not {type(env).__name__}")
    given: list[tuple[str, str | None]] = []
    for key, value in cast("Mapping[str, str | None]", env).items():
        name = path("env", key)
        if not name or "=" in name:
            raise ValueError(f"env: {name!r} cannot be the name of a variable")
        given.append((name, None if value is None else path(f"env[{name!r}]", value)))
    return given


def choice(option: str, value: str, words: object) -> None:
    """One of a Literal of `_words`."""
    choices: tuple[str, ...] = get_args(words)
    if value not in choices:
        raise ValueError(f"{option}={value!r}: no such {option}; there are {', '.join(choices)}")
