"""Arguments in the forms that the library takes: options, paths, texts and numpy's scalars."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from fuselage._core import Error

_LARGEST = 2**31 - 1

# What is no text, but would pass for an iterable of lines.
BYTES = (bytes, bytearray, memoryview)


def plain(value: Any) -> Any:
    """Give a scalar of numpy, also an array without dimensions, as Python's own number."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    return value


def flag(name: str, value: Any) -> bool:
    """Give the value of an option that is true or false."""
    value = plain(value)
    if not isinstance(value, bool):
        raise TypeError(f"option {name} is a {type(value).__name__}; give a bool")
    return value


def whole(name: str, value: Any) -> int:
    """Give the value of an option that is a whole number."""
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"option {name} is a {type(value).__name__}; give a whole number")
    if not -_LARGEST <= value <= _LARGEST:
        raise Error(f"option {name} is {value}, but at most {_LARGEST} is possible")
    return value


def expect_text(what: str, value: Any) -> None:
    """Raise TypeError for what is no text."""
    if not isinstance(value, str):
        hint = "; decode it" if isinstance(value, BYTES) else ""
        raise TypeError(f"{what} is a text, not {type(value).__name__}{hint}")


def one_line(what: str, line: Any) -> str:
    """Give a text without line breaks at its end; warn of those inside, which count as spaces."""
    expect_text(what, line)
    line = line.rstrip("\r\n")
    if "\n" in line:
        _warn(
            f"{what} has a line break inside, which counts as a space, since a text is one line; "
            "translate its lines one by one if they are texts of their own"
        )
    return line


def _warn(message: str) -> None:
    """Warn at the line of the caller's code."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "fuselage":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)


def path_text(what: str, path: Any) -> str:
    """Give a path as a text; bytes that are not UTF-8 are surrogates, as os.fsdecode has them."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{what} is a {type(path).__name__}; give a text or a path")
    path = os.fspath(path)
    return os.fsdecode(path) if isinstance(path, bytes) else path


def as_bytes(argument: str) -> bytes:
    """Give an option or path as the bytes that the system has for it."""
    if "\0" in argument:
        raise Error(f"{argument!r} has a NUL, which no option and no path can have")
    try:
        return argument.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        code = ord(argument[error.start])
        raise Error(
            f"{argument!r} has the lone surrogate U+{code:04X}, which no option and no path has"
        ) from None


def all_as_bytes(arguments: Iterable[str]) -> list[bytes]:
    """Give the arguments of a command as bytes."""
    return [as_bytes(argument) for argument in arguments]


def _text(name: str, value: Any) -> str:
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, os.PathLike)):
        return path_text(name, value)
    if isinstance(value, (int, float)):
        return str(value)
    raise TypeError(
        f"option {name} is a {type(value).__name__}; "
        "give a text, a path, a number, a bool, or a list of these"
    )


def arguments_of(options: Mapping[str, Any]) -> list[str]:
    """Turn {"beam_size": 4} into ["--beam-size=4"]; None stands for an option that is not given."""
    arguments = []
    for name, given in options.items():
        option = "--" + name.replace("_", "-")
        value = plain(given)
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if value is None:
            continue
        if value is True:
            arguments.append(option)
        elif isinstance(value, (list, tuple)):
            arguments += [option, *(_text(name, item) for item in value)]
        else:
            arguments.append(f"{option}={_text(name, value)}")
    return arguments
