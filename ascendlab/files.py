"""Files of strangers read without surprises, and files written whole or not at all.

Reading opens regular files only (a pipe would wait for its writer, a device would never end) and never more than was
asked for.  Writing stays below one folder that the caller names.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = write_below(folder, "input/x.bin", b"abc")
...     path.name, read_regular(path, 64), read_regular(path, 2)
('x.bin', b'abc', b'ab')
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ascendlab.errors import FileProblemError

__all__ = ["as_path", "below", "check_free", "open_regular", "read_regular", "read_whole", "write_below", "write_file"]

# What all systems take for a file's name; a leading dot would hide the file, and a leading minus look like an option.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,79}")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.I)
# Opening must not wait, whatever has taken the file's place since it was looked at.
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def as_path(value: object) -> Path:
    """Return a str or a path object as a `pathlib.Path`, and refuse everything else."""
    if isinstance(value, (str, os.PathLike)):
        try:
            return Path(value)
        except Exception:  # a path object that cannot say its path, or says it in bytes
            pass
    raise FileProblemError(value, "is no path", "Give a pathlib.Path or a str")


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


@contextmanager
def open_regular(path: object) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular file for reading; yields it with its size in bytes.

    Raises
    ------
    FileProblemError
        If there is no such file, or it is a folder, pipe or device, or nobody may read it.
    """
    where = as_path(path)
    try:
        # Even opening changes something with some devices: look first.
        regular = stat.S_ISREG(where.stat().st_mode)
        descriptor = os.open(where, _OPEN) if regular else -1
    except (OSError, RuntimeError, ValueError) as error:
        raise FileProblemError(where, f"cannot be read: {_reason(error)}", "Give a file that can be read") from None
    if not regular:
        raise FileProblemError(where, "is no regular file", "Give a file: no folder, no device, no pipe")
    with open(descriptor, "rb") as file:  # noqa: PTH123 - by its number
        try:
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode):  # still, after the look above
                yield file, status.st_size
                return
        except OSError as error:
            raise FileProblemError(where, f"cannot be read: {_reason(error)}", "Try again") from None
    raise FileProblemError(where, "is no regular file", "Give a file: no folder, no device, no pipe")


def read_regular(path: object, limit: int) -> bytes:
    """Read a regular file, at most its first `limit` bytes.

    Raises
    ------
    FileProblemError
        If there is no such file, or it is a folder, pipe or device, or nobody may read it.
    """
    with open_regular(path) as (file, _):
        return file.read(limit)


def read_whole(path: object, limit: int) -> bytes:
    """Read a regular file, if it has at most `limit` bytes.

    Raises
    ------
    FileProblemError
        For a larger file, before it is read, and for what `read_regular` refuses.
    """
    with open_regular(path) as (file, size):
        data = file.read(limit + 1) if size <= limit else b""
        size = max(size, len(data))
    if size > limit:
        raise FileProblemError(path, f"has {size:,} bytes", f"At most {limit:,} are read: give a smaller file")
    return data


def below(folder: object, name: object) -> Path:
    """Return the path of a file below a folder, refusing every name that leads elsewhere.

    Parameters
    ----------
    folder : path
        The folder; it may be a link itself.
    name : str
        Relative, with ``/`` between its parts: letters, digits and ``_ . + -``.

    Raises
    ------
    FileProblemError
        For another name, and where a part of it is a symbolic link that leads out of the folder, or nowhere.

    Examples
    --------
    >>> below("data", "input/x.bin").as_posix()
    'data/input/x.bin'
    >>> below("data", "../x.bin")
    Traceback (most recent call last):
        ...
    ascendlab.errors.FileProblemError: ../x.bin leads out of its folder. Give a name below the folder, of letters, \
digits and _ . + -, such as input/src.bin
    """
    root = as_path(folder)
    parts = name.split("/") if isinstance(name, str) and len(name) <= 400 else [""]
    if not all(_NAME.fullmatch(part) and not _RESERVED.fullmatch(part) and part[-1] != "." for part in parts):
        wrong = "leads out of its folder" if ".." in parts or parts[0] == "" else "is no name of a file"
        fix = "Give a name below the folder, of letters, digits and _ . + -, such as input/src.bin"
        raise FileProblemError(name, wrong, fix)
    path = root.joinpath(*parts)
    try:
        inside = path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, for instance
        raise FileProblemError(path, f"cannot be reached: {_reason(error)}", "Remove the link") from None
    if not inside:
        raise FileProblemError(path, "is a link that leads out of its folder", "Put the file itself there")
    return path


def check_free(path: Path, *, overwrite: bool) -> None:
    """Refuse to write where something is already: with `overwrite`, where something other than a file is."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise FileProblemError(path, f"cannot be written: {_reason(error)}", "Choose another folder") from None
    if not stat.S_ISREG(mode):
        raise FileProblemError(path, "is in the way, and no regular file", "Remove it, or choose another folder")
    if not overwrite:
        raise FileProblemError(
            path, "exists already", "Choose another place, or let it be overwritten (overwrite=True, --overwrite)"
        )


def write_below(folder: object, name: str, data: bytes | memoryview, *, overwrite: bool = False) -> Path:
    """Write a file below a folder, which is made if need be: whole, or not at all.

    Parameters
    ----------
    folder : path
        The folder.
    name : str
        As for `below`.
    data : bytes or memoryview
        What the file will hold.
    overwrite : bool
        Replace a regular file that is there already.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    FileProblemError
        For a name that leads elsewhere, a file that is there already, and what the system refuses.
    """
    return write_file(below(folder, name), data, overwrite=overwrite, folders=True)


def write_file(path: object, data: bytes | memoryview, *, overwrite: bool = False, folders: bool = False) -> Path:
    """Write a file where its caller says: whole, or not at all.

    Parameters
    ----------
    path : path
        The file.
    data : bytes or memoryview
        What it will hold.
    overwrite : bool
        Replace a regular file that is there already.
    folders : bool
        Make the folders that lead to it.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    FileProblemError
        For a file that is there already, or something that is none, and what the system refuses.
    """
    where = as_path(path)
    check_free(where, overwrite=overwrite)
    try:
        scratch = where.with_name(f".{where.name[:200]}.{secrets.token_hex(4)}")
        if folders:
            where.parent.mkdir(parents=True, exist_ok=True)
        try:
            with scratch.open("xb") as file:
                file.write(data)
            if overwrite:
                scratch.replace(where)
            else:
                _publish(scratch, where)
        finally:
            scratch.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise FileProblemError(where, f"cannot be written: {_reason(error)}", "Choose another place") from None
    return where


def _publish(scratch: Path, path: Path) -> None:
    """Give a finished file its name, unless somebody has taken the name meanwhile."""
    try:
        os.link(scratch, path)
    except FileExistsError:
        raise
    except (OSError, AttributeError):  # file systems without hard links
        if path.exists():
            raise FileExistsError(17, "File exists") from None
        scratch.replace(path)
