"""prepare_config CONFIG CONFIGURATION SECRETS REPORT ALLOW_DOWNGRADE PORT DELIVERY PARTS

Links the mounted files (CONFIGURATION, PARTS, SECRETS) into the hub's directory (CONFIG), so that a change of them
reaches the hub while it runs, creates every file that they include and that does not exist, and lets the hub's own
check read it all. A configuration that the hub would not load, or would load without a part, does not become active:
links to the copy of the last good one take its place. Without such a copy the start is refused, or goes on without
that part.

Files are linked one by one, since a backup that the hub restores could not contain a link to a directory. An image that
is older than the version that last ran on the volume is refused, unless the file ALLOW_DOWNGRADE says `true`. Settings
with which the hub would not be reached at PORT are set back. Definitions that are delivered as files are mounted at
DELIVERY. REPORT, the termination message, is one line of JSON: operator/sync/hub-pod/termination-messages.ts has
its fields.

A power loss or a full volume may end the script anywhere: files are replaced as a whole, and its own files are read
tolerantly.
"""

import contextlib
import hashlib
import io
import itertools
import json
import logging
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, NoReturn

import yaml
from awesomeversion import AwesomeVersion, AwesomeVersionException

from mounted import Files, Mounted, Mounts, are_plain, bytes_of, read_json, texts_in
from stored_http import heal

# A kubelet keeps 4096 bytes, and less of a pod with more than three containers. JSON escapes are counted.
LONGEST_PROBLEMS = 2000
LONGEST_NAMES = 300
LONGEST_FOLDERS = 500
MOST_FOLDERS = 20
# The hub's API writes these: they are empty in a new hub. Delivered files have the same names in other directories.
FILES_OF_THE_API = {"automations.yaml", "scripts.yaml", "scenes.yaml"}
# The check does not return these errors, it only logs them: for a template, an automation or a script that it drops.
LOGGERS = ("homeassistant.config", "homeassistant.components.", "custom_components.")
# How often the check is made again, because its files have changed meanwhile.
MOST_CHECKS = 5

config, configuration, secrets, report, allow_downgrade = (Path(argument) for argument in sys.argv[1:6])
own = config / "hub-operator"
last_good = own / "last-good"
# The copy of a content with folders: an earlier version of this script would take a part of it for the whole.
last_good_folders = own / "last-good-folders"
# The hub takes its default from this variable.
port = int(os.environ.get("SETUP_PORT") or sys.argv[6])
delivery, parts = (Path(argument) for argument in sys.argv[7:9])
# For each kind, how the hub includes the files in its directory.
DELIVERED = {"automations": "list", "scenes": "list", "scripts": "named"}
mounts = Mounts(configuration, parts, secrets)


class Problem(NamedTuple):
    kind: str  # "error" or "warning"
    text: str

    def without_line(self) -> str:
        return re.sub(r"\bline \d+", "line", self.text)


class Checked(NamedTuple):
    """The result of a check, kept on the volume."""

    digest: str
    problems: list[Problem]


def write(path: Path, content: bytes, mode: int = 0o644) -> None:
    """At any time the path has either the old or the new content."""
    temporary = own / (path.name + ".tmp")
    with open(temporary, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.chmod(mode)
    temporary.replace(path)


def write_changed(path: Path, value: object) -> None:
    content = json.dumps(value).encode()
    if bytes_of(path) != content:
        write(path, content)


def size_of(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode(errors="replace")) + len(", ")


def shortened(problems: Iterable[Problem]) -> list[dict[str, str]]:
    kept: list[dict[str, str]] = []
    room = LONGEST_PROBLEMS
    for problem in problems:
        shown = problem._asdict()
        while shown["text"] and size_of(shown) > room:
            shown["text"] = shown["text"][: min(len(shown["text"]) - 1, room)]
        if not shown["text"]:
            break
        room -= size_of(shown)
        kept.append(shown)
    return kept


def few(names: Iterable[str], room: int = LONGEST_NAMES) -> list[str]:
    kept: list[str] = []
    for name in names:
        if size_of([*kept, name]) > room:
            break
        kept.append(name)
    return kept


def shown_folders() -> dict[str, object]:
    """The folders that the configuration includes, and of which it has no file: what the volume has of them.

    Those that are missing come first, where there is no room for all.
    """
    names = texts_in(read_json(configuration / ".folders"))
    found: dict[str, list[str]] = {"missing": [], "empty": [], "present": []}
    for name in names:
        found[state_of_folder(config / name)].append(name)
    room, named = LONGEST_FOLDERS, 0
    shown: dict[str, object] = {}
    for state, folders in found.items():
        kept = few(folders[: MOST_FOLDERS - named], room)
        room -= size_of(kept)
        named += len(kept)
        shown[state] = kept
    return {**shown, "unnamed": len(names) - named}


def state_of_folder(folder: Path) -> str:
    if not os.path.isdir(folder):  # also where the name is too long
        return "missing"
    return "empty" if next(files_of_folder(folder), None) is None else "present"


def files_of_folder(folder: Path) -> Iterator[Path]:
    """The files that the hub reads when the folder is included."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in sorted(names):
            if name.endswith(".yaml") and not name.startswith(".") and name != "secrets.yaml":
                yield Path(place, name)


def say(result: str, problems: Iterable[Problem] = (), **fields: object) -> None:
    # The problems are the last key: the operator reads the others of a report that a kubelet has cut.
    message = {"result": result, "version": version("homeassistant"), **fields, "problems": shortened(problems)}
    line = json.dumps({key: value for key, value in message.items() if value is not None}, ensure_ascii=False)
    report.write_bytes(line.encode(errors="replace"))
    print(line)


def last_good_copy() -> Path:
    # Where both are there, an earlier version of this script has written the one that it knows since.
    return last_good if last_good.exists() else last_good_folders


def last_good_files() -> Files:
    copy = last_good_copy()
    paths = [path for path in sorted(copy.rglob("*")) if path.is_file()]
    return {path.relative_to(copy).as_posix(): path.read_bytes() for path in paths}


def newer_version_that_ran() -> str | None:
    try:
        ran = (config / ".HA_VERSION").read_text(errors="replace").strip()
        return ran if AwesomeVersion(version("homeassistant")) < AwesomeVersion(ran) else None
    except (OSError, AwesomeVersionException):
        return None  # a new volume, or a version that cannot be compared


# Files of the hub's directory


def written_before() -> set[str]:
    written_list = own / "written.json"
    if not written_list.exists():
        return set()
    names = read_json(written_list)
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return set(names)
    # Truncated by a power loss, or edited. The last good configuration has most of the names.
    written_list.replace(own / "written.json.broken")
    return set(last_good_files())


def link(path: Path, target: Path) -> None:
    if path.is_symlink() and os.readlink(path) == str(target):
        return
    make_folders(path.parent)
    if path.is_dir() and not path.is_symlink():
        path.rename(free_name(path))
    temporary = own / (path.name + ".tmp")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(target)
    temporary.replace(path)


def clear_folders(path: Path, written: set[str]) -> None:
    """Moves a person's file or link in the place of a folder aside: a link may lead out of the hub's directory."""
    # The outermost first: what lies beneath a link is not in this directory.
    for folder in reversed(folders_of(path)):
        if folder.is_symlink() and folder.relative_to(config).as_posix() in written:
            folder.unlink()
        elif folder.is_symlink() or folder.is_file():
            folder.rename(free_name(folder))


def folders_of(path: Path) -> list[Path]:
    """The folders that the path is in, in the hub's directory, the innermost first."""
    return [folder for folder in path.parents if config in folder.parents]


def made_folders() -> set[str]:
    return set(texts_in(read_json(own / "folders.json")))


def make_folders(folder: Path) -> None:
    missing = [each for each in (folder, *folders_of(folder)) if not each.exists()]
    if missing:
        made = {each.relative_to(config).as_posix() for each in missing}
        # Before they are made: one that is not in the list is a person's.
        write_changed(own / "folders.json", sorted(made_folders() | made))
        folder.mkdir(parents=True, exist_ok=True)


def keep_copy(path: Path, content: bytes) -> None:
    """Of a file that a person has put in the place of a generated one."""
    if path.is_symlink() or not path.is_file():
        return
    present = path.read_bytes()
    # A backup that was restored has files in place of the links.
    if present in (content, bytes_of(last_good_copy() / path.relative_to(config))):
        return
    for copy in kept_names(path):
        if bytes_of(copy) == present:
            return
        if not copy.exists():
            return write(copy, present)


def kept_names(path: Path) -> Iterator[Path]:
    for number in itertools.count(1):
        yield path.with_name(f"{path.name}.before-hub-operator{f'-{number}' if number > 1 else ''}")


def free_name(path: Path) -> Path:
    return next(name for name in kept_names(path) if not os.path.lexists(name))


def remove_link(path: Path) -> None:
    path.unlink()
    made, removed = made_folders(), set()
    with contextlib.suppress(OSError):  # the first one that is not empty
        for folder in folders_of(path):
            name = folder.relative_to(config).as_posix()
            if name not in made:
                break
            folder.rmdir()
            removed.add(name)
    write_changed(own / "folders.json", sorted(made - removed))


def put(files: Files, place: Callable[[str], Path]) -> list[str]:
    """Returns the names of the files that stay where a link was expected."""
    written = written_before()
    for name, content in files.items():
        clear_folders(config / name, written)
        keep_copy(config / name, content)
    # Before the links, but after the copies: a file of the user's is never taken for one of ours.
    write_changed(own / "written.json", sorted(written | set(files)))
    for name in files:
        link(config / name, place(name))
    former = [config / name for name in sorted(written - set(files))]
    for path in former:
        if path.is_symlink():
            remove_link(path)
    # Secrets may come later, to a hub that runs. To the hub, a link that leads nowhere is a file that is not there.
    if "secrets.yaml" not in files and not (config / "secrets.yaml").is_file():
        link(config / "secrets.yaml", secrets / "secrets.yaml")
    write_changed(own / "written.json", sorted(files))
    kept = [path.relative_to(config).as_posix() for path in former if path.exists()]
    return [name for name in kept if name != "secrets.yaml"]


def copied(name: str) -> Path:
    return last_good_copy() / name


def include_delivered() -> None:
    """The configuration includes these files: a path of the pod has no place in it.

    A directory that is not there is an empty one to the hub.
    """
    for kind, merged in DELIVERED.items():
        content = f"!include_dir_merge_{merged} {json.dumps(str(delivery / kind))}\n".encode()
        if bytes_of(own / f"{kind}.yaml") != content:
            write(own / f"{kind}.yaml", content)


def included_in(path: Path) -> list[str]:
    try:
        content = path.read_bytes()
        if b"!include" not in content:
            return []
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        scalars = [event for event in yaml.parse(content, Loader=loader) if isinstance(event, yaml.ScalarEvent)]
        names = [event.value for event in scalars if event.tag == "!include"]
        for folder in (event.value for event in scalars if (event.tag or "").startswith("!include_dir")):
            names += [str(each) for each in files_of_folder(path.parent / folder)]
        return names
    except (OSError, ValueError, yaml.YAMLError):
        return []  # the check reports its faults


def create(path: Path) -> bool:
    """False: something is there, or no file can be there, which the check reports."""
    try:
        if path.exists() or path.is_symlink() or config.resolve() not in path.resolve().parents:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("[]\n" if path.name == "automations.yaml" else "")
    except (OSError, ValueError):
        return False
    return True


def create_included() -> list[str]:
    """Returns the names of the files that only this script has made, and that are empty.

    The hub refuses its whole configuration when one included file is missing, also one that an included file includes.
    """
    created_list = own / "created.json"
    before = read_json(created_list)
    created = set(before) if isinstance(before, list) else set()
    empty = []
    found = [config / "configuration.yaml"]
    known = set(found)
    for including in found:
        for name in included_in(including):
            # By its name: the targets of the links among the generated files are elsewhere.
            path = Path(os.path.normpath(including.parent / name))
            # An include of the hub's directory itself reaches the copies of this script: they stay as they are.
            if path in known or config not in path.parents or own in path.parents:
                continue
            known.add(path)
            found.append(path)
            shown = path.relative_to(config).as_posix()
            if create(path):
                created.add(shown)
            if shown in created - FILES_OF_THE_API and path.is_file() and path.stat().st_size == 0:
                empty.append(shown)
    write_changed(created_list, sorted(created, key=str))
    return empty


# The check


def folders_with_secrets() -> set[Path]:
    """The hub looks for the secrets of a file in its folder, and then in those above."""
    included = [config / name / "any" for name in texts_in(read_json(configuration / ".folders"))]
    files = [config / name for name in texts_in(read_json(own / "written.json"))]
    return {config, *(folder for file in (*included, *files) for folder in folders_of(file))}


def masked(text: str) -> str:
    # The check quotes the values that it refuses, and this text ends in the status of the pod.
    try:
        known = [yaml.safe_load(bytes_of(folder / "secrets.yaml") or b"") for folder in folders_with_secrets()]
    except yaml.YAMLError:
        return "secrets.yaml is not valid YAML" if text else text
    values = [str(value) for each in known if isinstance(each, dict) for value in each.values()]
    for value in sorted(values, key=len, reverse=True):
        for form in (value, repr(value)[1:-1]) if len(value) > 3 else ():
            text = text.replace(form, "***")
    return text


class ErrorLog(logging.Handler):
    """What the hub logs about the configuration while it checks it."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.startswith(LOGGERS) and not is_of_the_api(file_in_check()):
            self.lines.append(record.getMessage())


def file_in_check() -> Path | None:
    """The file of the item that the hub is checking now: the line of an automation does not name it."""
    frame = sys._getframe()
    while frame.f_back:
        frame = frame.f_back
        file = getattr(frame.f_locals.get("config"), "__config_file__", None)
        if file:
            return Path(file)
    return None


def is_of_the_api(file: Path | None) -> bool:
    """A file of the API or of the delivered definitions, and none of a folder that has such a name."""
    if file is None or file.name not in FILES_OF_THE_API:
        return False
    return file.parent in (config, own) or delivery in file.parents


def check() -> list[Problem]:
    # The hub's own check, without its command line: that one would install a package from the internet only to print in
    # colours.
    from homeassistant.scripts import check_config

    check_config.color = lambda _colour, *words, reset=None: " ".join(words)
    printed, errors = io.StringIO(), ErrorLog()
    logger = logging.getLogger()
    handlers = (logging.StreamHandler(printed), errors)
    logger.setLevel(logging.WARNING)
    for handler in handlers:
        logger.addHandler(handler)
    with contextlib.redirect_stdout(printed):
        found = check_config.check(str(config))
    for handler in handlers:
        logger.removeHandler(handler)
    print(masked(printed.getvalue()))
    problems = [*texts("error", found["except"]), *texts("warning", found["warn"])]
    # An automation of which the device has gone is no mistake of the configuration.
    mounted = re.escape("/".join(delivery.parts[-2:]))
    of_the_api = re.compile(rf" at (\S*{mounted}/\S+/)?({'|'.join(map(re.escape, FILES_OF_THE_API))}), line ")
    problems = [each for each in problems if each.kind == "error" or not of_the_api.search(each.text)]
    said = "\n".join(problem.text for problem in problems)
    logged = [Problem("warning", line) for line in errors.lines if line not in said]
    return list(dict.fromkeys(Problem(kind, masked(text)) for kind, text in [*problems, *logged]))


def texts(kind: str, found: Mapping[str, Iterable[object]]) -> list[Problem]:
    return [Problem(kind, word) for about in found.values() for word in about if isinstance(word, str)]


def former_check() -> Checked | None:
    """Of the last good configuration."""
    kept = read_json(own / "checked.json")
    try:
        problems = [Problem(str(each["kind"]), str(each["text"])) for each in kept["problems"]]
        return Checked(str(kept["digest"]), problems)
    except (KeyError, TypeError):
        return None


def accept(files: Files, checked: Checked) -> None:
    replace_last_good(files)
    problems = [problem._asdict() for problem in checked.problems]
    write_changed(own / "checked.json", {**checked._asdict(), "problems": problems})
    for former in ("checked", "warnings"):  # of earlier versions
        (own / former).unlink(missing_ok=True)


def replace_last_good(files: Files) -> None:
    fresh, former = own / "last-good.new", own / "last-good.old"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    for name, content in files.items():
        (fresh / name).parent.mkdir(parents=True, exist_ok=True)
        write(fresh / name, content, 0o600)
    shutil.rmtree(former, ignore_errors=True)
    if last_good.exists():
        shutil.rmtree(last_good_folders, ignore_errors=True)
    if last_good_copy().exists():
        last_good_copy().rename(former)
    fresh.rename(place_of_copy(files))
    shutil.rmtree(former, ignore_errors=True)


def place_of_copy(names: Iterable[str]) -> Path:
    return last_good if are_plain(names) else last_good_folders


def restore_former_copy() -> None:
    """After a power loss between its two renames."""
    former = own / "last-good.old"
    if former.exists() and not last_good_copy().exists():
        names = [path.relative_to(former).as_posix() for path in former.rglob("*") if path.is_file()]
        former.rename(place_of_copy(names))


def new_problems(problems: list[Problem], good: Files) -> list[Problem]:
    """Those that the last good configuration does not give now, perhaps in other lines."""
    put(good, copied)
    create_included()
    known = {problem.without_line() for problem in check()}
    return [problem for problem in problems if problem.without_line() not in known]


# The start


def log_of_failed_start() -> list[str]:
    """The errors of the last start of the hub, if it has ended in recovery mode: the hub begins another log then."""
    log = (bytes_of(config / "home-assistant.log.1") or b"")[-(2**18) :].decode(errors="replace")
    if "Activating recovery mode" not in log:
        return []
    lines = [line.split("] ", 1)[-1] for line in log.splitlines() if re.match(r"\S+ \S+ (ERROR|CRITICAL) ", line)]
    return [masked(line)[:300] for line in lines[-3:]]


def prepare() -> NoReturn:
    own.mkdir(parents=True, exist_ok=True)
    # The hub serves it under /local only if it exists at its start, and plugins are installed into it later.
    if not os.path.lexists(config / "www"):
        (config / "www").mkdir()
    restore_former_copy()
    include_delivered()
    if changed := heal(config, port):
        print(f"set back in .storage/http: {', '.join(changed)}")
    for _ in range(MOST_CHECKS):
        now = mounts.now()
        if "configuration.yaml" not in now.files:
            start_without_configuration()
        starts = start_with(now)
        if mounts.now() == now:
            break
    # Taking apart all that the check has loaded would take a second more.
    sys.stdout.flush()
    os._exit(0 if starts else 1)


def start_without_configuration() -> NoReturn:
    good = last_good_files()
    if good:
        put(good, copied)
    if not (config / "configuration.yaml").exists():
        say("missing")
        sys.exit(1)
    say("kept", created=few(create_included()))
    sys.exit(0)


def digest_of(files: Files) -> str:
    # The files that the installer puts on the volume change the result of the check as well.
    installed = bytes_of(own / "community-ids.json")
    parts = [version("homeassistant"), sorted(files.items()), installed]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def start_with(now: Mounted) -> bool:
    """Returns whether the hub can start."""
    digest = digest_of(now.files)
    kept = put(now.files, mounts.places(now))
    about = {
        "content": now.content,
        "created": few(create_included()),
        "kept": few(kept),
        "folders": shown_folders(),
        "lastStart": few(log_of_failed_start()),
    }
    before = former_check()
    if before and before.digest == digest:
        say("unchanged", before.problems, **about)
        return True
    good = last_good_files()
    problems = check()
    rejected = problems
    if not any(problem.kind == "error" for problem in problems):
        # After an update of the image the last good one may be this one: there is nothing to go back to.
        rejected = new_problems(problems, good) if problems and good and good != now.files else []
    if not rejected:
        put(now.files, mounts.places(now))
        accept(now.files, Checked(digest, problems))
        say("loaded", problems, **about)
    elif good:
        put(good, copied)
        create_included()
        say("replaced", rejected, **about)
    else:
        say("refused", rejected, **about)
    return not rejected or bool(good)


newer = newer_version_that_ran()
if newer and (bytes_of(allow_downgrade) or b"").strip() != b"true":
    say("downgrade", ran=newer)
    sys.exit(1)
prepare()
