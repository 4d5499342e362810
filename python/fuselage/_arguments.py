"""Options as arguments of the commands, whose names they have."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, (int, float)):
        return str(value)
    raise TypeError(
        f"option {name} is a {type(value).__name__}; "
        "give a text, a path, a number, a bool, or a list of these"
    )


def arguments_of(options: Mapping[str, Any]) -> list[str]:
    """Turn {"beam_size": 4} into ["--beam-size=4"]; None stands for an option that is not given."""
    arguments = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None:
            continue
        if value is True:
            arguments.append(flag)
        elif isinstance(value, (list, tuple)):
            arguments += [flag, *(_text(name, item) for item in value)]
        else:
            arguments.append(f"{flag}={_text(name, value)}")
    return arguments
