"""install CONFIG PARTS REPORT REQUEST

Puts the files of a community repository into the hub's directory (CONFIG), and removes those of former targets. PARTS
has the parts of a gzip stream: a line of JSON with the paths and sizes of the files, then their contents. REQUEST is
JSON: `{"install": {"target", "isFile", "digest"} | null, "remove": [targets]}`. REPORT, the termination message, is
JSON: `{"result": "done" | "conflict" | "failed", "message", "id"}`. `id` is that of the last installation that wrote
files of the target: putting the same files there again leaves it as it is.

A target is replaced by one rename, so that a crash or a power loss leaves the old files or the new ones. What the
operator put there is recorded in `hub-operator/community.json` on the volume, with all names before a change and with
those that remain after it: only recorded files are replaced or removed. A lock keeps others from the record meanwhile.
A target that is not recorded belongs to a person, unless it equals what is to be installed. Nothing is written through
a link.
"""

import contextlib
import ctypes
import fcntl
import gzip
import hashlib
import io
import json
import os
import platform
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NoReturn

Files = dict[str, bytes]
# The paths of the files of each target.
Record = dict[str, list[str]]

config, parts, report = (Path(argument) for argument in sys.argv[1:4])
request = json.loads(sys.argv[4])
own = config / "hub-operator"
record_file, ids_file, work = own / "community.json", own / "community-ids.json", own / "community"
fresh, aside, journal = work / "new", work / "old", work / "journal.json"


class Conflict(Exception):
    pass


def end(result: str, message: str, id: str | None = None) -> NoReturn:
    # A kubelet keeps 4096 bytes.
    text = message.encode()[:3000].decode(errors="ignore")
    report.write_text(json.dumps({"result": result, "message": text, "id": id}))
    print(result, text)
    sys.stdout.flush()
    os._exit(0 if result == "done" else 1)


def flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write(path: Path, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def write_json(path: Path, value: object) -> None:
    temporary = path.with_name(path.name + ".tmp")
    write(temporary, json.dumps(value, sort_keys=True).encode())
    temporary.replace(path)
    flush(path.parent)


def read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
        return value if isinstance(value, dict) else {}
    except (FileNotFoundError, ValueError):
        return {}  # without a record, what equals the new files is still recognised


def discard(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def place(target: str) -> Path:
    # No folder on the way may be a link: it could lead out of the volume.
    path = config
    for part in target.split("/")[:-1]:
        path = path / part
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            raise Conflict("/config/" + str(path.relative_to(config)) + " is not a folder")
    path = config / target
    if path.is_symlink():
        raise Conflict("/config/" + target + " is a link")
    return path


def is_cache(path: str) -> bool:
    return "__pycache__" in path.split("/") or path.endswith(".pyc")


def files_in(path: Path) -> dict[str, Path]:
    if not path.is_dir():
        return {path.name: path} if path.exists() else {}
    found = {}
    for folder, names, files in os.walk(path):
        links = [name for name in names if os.path.islink(os.path.join(folder, name))]
        for name in files + links:
            file = Path(folder) / name
            found[file.relative_to(path).as_posix()] = file
    return {name: file for name, file in found.items() if not is_cache(name)}


def has_all(present: Mapping[str, Path], files: Files) -> bool:
    return all(
        name in present
        and not present[name].is_symlink()
        and present[name].is_file()
        and present[name].read_bytes() == content
        for name, content in files.items()
    )


def same_content(path: Path, files: Files) -> bool:
    present = files_in(path)
    return set(present) == set(files) and has_all(present, files)


def digest_of(files: Files) -> str:
    lines = (hashlib.sha256(files[name]).hexdigest() + "  " + name + "\n" for name in sorted(files, key=str.encode))
    return "sha256:" + hashlib.sha256("".join(lines).encode()).hexdigest()


def received() -> Files:
    sorted_parts = sorted(path for path in parts.iterdir() if not path.name.startswith("."))
    stream = io.BytesIO(gzip.decompress(b"".join(path.read_bytes() for path in sorted_parts)))
    listed = json.loads(stream.readline())
    return {name: stream.read(size) for name, size in listed}


def exchange(one: Path, other: Path) -> bool:
    # renameat2 with RENAME_EXCHANGE, which Python does not have: both names stay at all times.
    number = {"x86_64": 316, "aarch64": 276, "riscv64": 276, "armv7l": 382, "i686": 353}.get(platform.machine())
    if sys.platform != "linux" or number is None:
        return False
    current = -100
    result: int = ctypes.CDLL(None).syscall(number, current, os.fsencode(one), current, os.fsencode(other), 2)
    return result == 0


def swap(path: Path, target: str) -> None:
    # A file system that cannot exchange two names: what a crash in between leaves is repaired at the next start.
    write_json(journal, {"target": target})
    discard(aside)
    path.rename(aside)
    fresh.rename(path)
    discard(aside)
    journal.unlink()


def lock() -> IO[str]:
    # Pods of several repositories may run on one volume. Opened to append: a link in its place loses no content.
    file = (own / "community.lock").open("a")
    with contextlib.suppress(OSError):  # a file system without locks
        fcntl.flock(file, fcntl.LOCK_EX)
    return file


def repair() -> None:
    target = read_json(journal).get("target")
    if target and not (config / target).exists() and aside.exists():
        aside.rename(config / target)
    journal.unlink(missing_ok=True)


def keep_others(path: Path, recorded: set[str], files: Files) -> None:
    # What a person added to the folder stays.
    folders = {name[:end] for name in files for end, letter in enumerate(name) if letter == "/"}
    for name, file in files_in(path).items():
        if name in recorded:
            continue
        parents = {name[:end] for end, letter in enumerate(name) if letter == "/"}
        if name in files or name in folders or parents & set(files):
            raise Conflict(
                "/config/" + path.relative_to(config).as_posix() + "/" + name + " was put there by someone else"
            )
        copy = fresh / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, copy, follow_symlinks=False)
        if not copy.is_symlink():
            flush(copy)


def set_id(target: str, id: str | None) -> None:
    ids = {name: value for name, value in read_json(ids_file).items() if name != target}
    write_json(ids_file, {**ids, target: id} if id else ids)


def new_id(target: str) -> str:
    id = os.urandom(8).hex()
    set_id(target, id)
    return id


def install(target: str, is_file: bool, digest: str, record: Record) -> str:
    files = received()
    if digest_of(files) != digest:
        raise OSError("the files that arrived are not those that were sent")
    path = place(target)
    recorded = set(record.get(target, ()))
    present = path.exists()
    if present and path.is_dir() == is_file:
        raise Conflict("/config/" + target + " is " + ("a folder" if is_file else "a file"))
    if present and target not in record:
        if not same_content(path, files):
            raise Conflict("/config/" + target + " exists and was not put there by the operator")
        recorded = set(files)
    present_files = files_in(path)
    if has_all(present_files, files) and not (recorded - set(files)) & set(present_files):
        record[target] = sorted(files)
        write_json(record_file, record)
        # A run that was ended after its change has left an id that was not reported.
        return read_json(ids_file).get(target) or new_id(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    discard(fresh)
    if is_file:
        write(fresh, files[path.name])
    else:
        fresh.mkdir()
        for name, content in files.items():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            write(fresh / name, content)
        if present:
            keep_others(path, recorded, files)
        for folder, _, _ in os.walk(fresh):
            flush(Path(folder))
    id = new_id(target)
    write_json(record_file, {**record, target: sorted(recorded | set(files))})
    if is_file or not present:
        fresh.replace(path)
    elif not exchange(fresh, path):
        swap(path, target)
    flush(path.parent)
    record[target] = sorted(files)
    write_json(record_file, record)
    discard(fresh)
    return id


def remove(target: str, record: Record) -> None:
    if target not in record:
        return
    path = place(target)
    present = files_in(path)
    recorded = set(record[target])
    if set(present) <= recorded:
        if path.exists():
            discard(fresh)
            path.rename(fresh)
            flush(path.parent)
            discard(fresh)
    else:
        for name in recorded & set(present):
            present[name].unlink()
        for folder, _, _ in os.walk(path, topdown=False):
            if os.path.basename(folder) == "__pycache__":
                shutil.rmtree(folder)
            elif not os.listdir(folder):
                os.rmdir(folder)
    del record[target]
    write_json(record_file, record)
    set_id(target, None)


try:
    work.mkdir(parents=True, exist_ok=True)
    locked = lock()  # until the process ends
    repair()
    record = read_json(record_file)
    requested = request["install"]
    id = install(requested["target"], requested["isFile"], requested["digest"], record) if requested else None
    for target in request["remove"]:
        remove(target, record)
    end("done", "", id)
except Conflict as conflict:
    end("conflict", str(conflict))
except OSError as error:
    end("failed", str(error))
