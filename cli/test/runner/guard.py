"""Confines a home to its folder: other people may have written it, and the machine may be a build server.

The hub opens each file that `!include` names, and reads each environment variable that `!env_var` names.
"""

import errno
import mimetypes
import os
import shutil
import signal
import sys
import sysconfig
import tempfile
import time
import zoneinfo
from pathlib import Path
from typing import Any

import homeassistant

from clock import Endless, clock

# Real seconds between two checks of the process that has started this one.
_BETWEEN_LOOKS = 1.0
# Processor seconds. The start of a hub with hundreds of automations needs several of them.
MOST_SECONDS_AT_ONE_INSTANT = 30
_ENDLESS = "a template or a regular expression has no end, or takes too long"

_OPENINGS = frozenset(("os.listdir", "os.scandir"))
_CHANGES = frozenset(
    (
        *("os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.setxattr"),
        *("os.symlink", "os.truncate", "os.utime", "sqlite3.connect"),
    )
)
_NEVER = frozenset(
    (
        *("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn"),
        *("socket.bind", "socket.connect", "socket.getaddrinfo", "socket.gethostbyaddr", "socket.gethostbyname"),
        *("socket.getnameinfo", "socket.sendmsg", "socket.sendto", "subprocess.Popen"),
    )
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

# Files outside of the folder to which access was refused, in order.
refused: dict[str, None] = {}


def confine(folder: Path) -> None:
    """Allows this process to open only files in this folder and in its libraries, no connections and no other programs.

    Access to another file raises FileNotFoundError, for which the hub reports the line with the reference.
    """
    os.environ.clear()
    os.chdir(folder)
    tempfile.tempdir = str(folder)
    own = os.path.realpath(folder)
    libraries = _libraries()
    system = {os.path.realpath(each) for each in (*mimetypes.knownfiles, "/etc/localtime", os.devnull)}

    def may_open(path: str, is_change: bool) -> bool:
        real = os.path.realpath(path)
        if _is_below(real, (own,)):
            return True
        if is_change:
            return real == os.devnull or (f"{os.sep}__pycache__{os.sep}" in real and _is_below(real, libraries))
        return real in system or _is_below(real, libraries)

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _NEVER:
            raise PermissionError(errno.EACCES, "the program of the tests has no network and starts no programs", event)
        if event == "open":
            is_change = bool((arguments[2] or 0) & _WRITING)
        elif event in _OPENINGS or event in _CHANGES:
            is_change = event in _CHANGES
        else:
            return
        path = arguments[0]
        # A number is the descriptor of an open file.
        if isinstance(path, str | bytes | os.PathLike) and not may_open(os.fsdecode(path), is_change):
            refused[os.fsdecode(path)] = None
            raise FileNotFoundError(errno.ENOENT, "it is outside of the hub's directory", os.fsdecode(path))

    sys.addaudithook(look)


def _libraries() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    # In the hub's image, the source of Home Assistant is in a folder of its own.
    own = (*homeassistant.__path__, *(paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")))
    return tuple(os.path.realpath(each) for each in (*own, *zoneinfo.TZPATH, *sys.path) if each)


def _is_below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == each or path.startswith(f"{each}{os.sep}") for each in folders)


def watch(folder: Path) -> None:
    """Ends the process at Ctrl-C and SIGTERM, and when the command line that started it is gone; and ends endless work.

    Before the process ends, the folder is removed.

    Raises:
        Endless: in the work itself, such as a template.
    """
    parent, progress = os.getppid(), [0.0, 0.0]

    def end(*_: object) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)

    def look(*_: object) -> None:
        if os.getppid() != parent:
            end()
        used = time.process_time()
        if progress[0] != clock.monotonic():
            progress[:] = clock.monotonic(), used
        elif used - progress[1] > MOST_SECONDS_AT_ONE_INSTANT:
            progress[1] = used
            raise Endless(f"the hub has worked for {MOST_SECONDS_AT_ONE_INSTANT} seconds at one moment: {_ENDLESS}")

    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, end)
    # A signal also interrupts a regular expression; a thread would have to wait for its end.
    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _BETWEEN_LOOKS, _BETWEEN_LOOKS)
