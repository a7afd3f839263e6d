import { userAnnotations } from '../../../kinds/annotations';

/**
 * The scripts that run in the hub's pod, in Python, since the hub's image has it: no second image is pulled. Every path
 * is an argument, so that they run on a development node as well.
 */

/** The init container that runs {@link PREPARE_CONFIG}. */
export const PREPARE_CONTAINER = 'prepare-config';

/** In its verdict: the generated configuration is not the one that runs. */
export const NOT_LOADED = 'The hub would not load this configuration';

/** In its verdict: the image is older than what has run on the volume. */
export const OLDER_VERSION = 'may not be able to read what a newer version has written';

/**
 * `prepare-config CONFIG CONFIGURATION SECRETS VERDICT ALLOW_DOWNGRADE`: puts the generated files (CONFIGURATION,
 * SECRETS) into the hub's directory (CONFIG), creates every file that they include and that does not exist, and lets
 * the hub's own check read the result. A configuration that the hub would not load does not become active: the last
 * good one is restored, or the start is refused when there is none. An image that is older than the version that last
 * ran on the volume is refused, unless the file ALLOW_DOWNGRADE says `true`. VERDICT, the termination message, says
 * what happened.
 *
 * A power loss or a full volume may end it anywhere: files are replaced as a whole, and its own files are read
 * tolerantly.
 */
export const PREPARE_CONFIG = `
import contextlib, hashlib, io, json, logging, os, pathlib, re, shutil, sys
import yaml
from awesomeversion import AwesomeVersion, AwesomeVersionException
from importlib.metadata import version

config, configuration, secrets, verdict, allow_downgrade = (pathlib.Path(argument) for argument in sys.argv[1:6])
own = config / "hub-operator"
good, former_good, written_list, checked = own / "last-good", own / "last-good.old", own / "written.json", own / "checked"


def say(message):
    print(message)
    verdict.write_text(message[-4000:])


def write(path, content, mode=0o644):
    # At any time the path has either the old or the new content.
    temporary = own / (path.name + ".tmp")
    with open(temporary, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.chmod(mode)
    temporary.replace(path)


def files_in(directory):
    # A mounted volume contains links to hidden directories; only plain names are content.
    if not directory.is_dir():
        return {}
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir()) if not path.name.startswith(".") and path.is_file()}


def newer_version_that_ran():
    try:
        ran = (config / ".HA_VERSION").read_text(errors="replace").strip()
        return ran if AwesomeVersion(version("homeassistant")) < AwesomeVersion(ran) else None
    except (OSError, AwesomeVersionException):
        return None  # a new volume, or a version that cannot be compared


def written_before():
    try:
        names = json.loads(written_list.read_bytes())
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            return set(names)
    except FileNotFoundError:
        return set()
    except ValueError:
        pass
    # Truncated by a power loss, or edited. The last good configuration has most of the names.
    written_list.replace(own / "written.json.broken")
    return set(files_in(good))


def remember(names):
    content = json.dumps(sorted(names)).encode()
    if not written_list.exists() or written_list.read_bytes() != content:
        write(written_list, content)


def put(files):
    written = written_before()
    changed = {}
    for name, content in files.items():
        target, kept = config / name, config / (name + ".before-hub-operator")
        present = target.read_bytes() if target.exists() else None
        if present is not None and present != content and name not in written and not kept.exists():
            write(kept, present)
        if present != content:
            changed[name] = content
    # Before the files, but after the copies: a file of the user's is never taken for one of ours.
    remember(written | set(files))
    for name, content in changed.items():
        write(config / name, content, 0o600 if name == "secrets.yaml" else 0o644)
    for name in written - set(files):
        (config / name).unlink(missing_ok=True)
    remember(files)


def included_in(path):
    try:
        content = path.read_bytes()
        if b"!include" not in content:
            return []
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        events = yaml.parse(content, Loader=loader)
        return [event.value for event in events if isinstance(event, yaml.ScalarEvent) and event.tag == "!include"]
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return []  # the check says what is wrong with it


def create_included():
    # The hub refuses its whole configuration when one included file is missing, also one that an included file includes.
    found = [config / "configuration.yaml"]
    for including in found:
        for name in included_in(including):
            path = including.parent / name
            if path in found or config.resolve() not in path.resolve().parents:
                continue
            found.append(path)
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("[]\\n" if path.name == "automations.yaml" else "")


def masked(text):
    # The check quotes what it refuses, and this text ends in the status of the pod.
    secrets_file = config / "secrets.yaml"
    try:
        known = yaml.safe_load(secrets_file.read_bytes()) if secrets_file.exists() else None
    except yaml.YAMLError:
        return "secrets.yaml is not valid YAML" if text else text
    values = map(str, known.values()) if isinstance(known, dict) else ()
    for value in sorted(values, key=len, reverse=True):
        for form in (value, repr(value)[1:-1]) if len(value) > 3 else ():
            text = text.replace(form, "***")
    return text


def check():
    # The hub's own check, without its command line: that one would install a package from the internet only to print in
    # colours.
    from homeassistant.scripts import check_config

    check_config.color = lambda _colour, *words, reset=None: " ".join(words)
    printed = io.StringIO()
    logging.basicConfig(stream=printed, level=logging.WARNING, format="%(message)s")
    with contextlib.redirect_stdout(printed):
        found = check_config.check(str(config))["except"]
    print(masked(printed.getvalue()))
    words = "\\n".join(word for about in found.values() for word in about if isinstance(word, str))
    return masked(words)[-3000:] or None


def replace_last_good(files):
    fresh = own / "last-good.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    for name, content in files.items():
        write(fresh / name, content, 0o600)
    shutil.rmtree(former_good, ignore_errors=True)
    if good.exists():
        good.rename(former_good)
    fresh.rename(good)
    shutil.rmtree(former_good, ignore_errors=True)


newer = newer_version_that_ran()
if newer and not (allow_downgrade.exists() and allow_downgrade.read_text().strip() == "true"):
    say(
        newer + " has run on this volume, and " + version("homeassistant") + " ${OLDER_VERSION}. Set spec.version to "
        + newer + " or later, or restore a backup and annotate the Hub with ${userAnnotations.allowDowngrade}=true."
    )
    sys.exit(1)

own.mkdir(parents=True, exist_ok=True)
if former_good.exists() and not good.exists():
    former_good.rename(good)

generated = files_in(configuration)
if "configuration.yaml" not in generated:
    if not (config / "configuration.yaml").exists():
        say("There is no configuration: create a HubConfiguration for this Hub.")
        sys.exit(1)
    say("The generated configuration is gone; the one of the last start stays.")
    create_included()
    sys.exit(0)

generated.update(files_in(secrets))
digest = hashlib.sha256(repr([version("homeassistant"), sorted(generated.items())]).encode()).hexdigest()
put(generated)
create_included()
if checked.exists() and checked.read_bytes() == digest.encode():
    say("The configuration is the one that was checked before.")
    sys.exit(0)
problem = check()
last_good = files_in(good)
if problem is None:
    replace_last_good(generated)
    write(checked, digest.encode())
    say("The configuration was checked.")
elif last_good:
    put(last_good)
    create_included()
    say("${NOT_LOADED}, so the last good one stays:\\n" + problem)
else:
    say("${NOT_LOADED}:\\n" + problem)
# Taking apart all that the check has loaded would take a second more.
sys.stdout.flush()
os._exit(0 if problem is None or last_good else 1)
`.trim();

/**
 * `PORT`: whether the hub answers HTTP on this port of its own pod. Any answer counts, also a 403: a hub that has
 * banned the address of a probe is alive. A request without a token to this path is no failed login.
 */
export const PROBE = `
import socket, sys

try:
    with socket.create_connection(("localhost", int(sys.argv[1])), 10) as connection:
        connection.sendall(b"GET /manifest.json HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n")
        answer = connection.recv(5)
except OSError as error:
    sys.exit("the hub does not answer: " + str(error))
sys.exit(None if answer == b"HTTP/" else "the hub does not answer in HTTP")
`.trim();

/** The init container that runs {@link UNBAN_OPERATOR_IP}. */
export const UNBAN_CONTAINER = 'unban-operator-ip';

/** In its verdict: a restart cannot have helped, since there was no ban to lift. */
export const NOT_BANNED = 'is not among the bans';

/** In its verdict, before the addresses whose bans stay. */
export const BANNED_ARE = 'banned are ';

/**
 * `unban-operator-ip BANS ADDRESS VERDICT`: removes the address in the file ADDRESS from the hub's `ip_bans.yaml`; the
 * rest of it stays byte for byte. The hub reads that file only when it starts. VERDICT, the termination message, says
 * what it contained. Nothing in either file keeps the hub from starting.
 */
export const UNBAN_OPERATOR_IP = `
import ipaddress, os, pathlib, sys

bans, address = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def say(message):
    print(message)
    pathlib.Path(sys.argv[3]).write_text(message[:4000])


def address_in(line):
    try:
        return ipaddress.ip_address(line.strip().removesuffix(":").strip("'\\""))
    except ValueError:
        return None


try:
    operator = ipaddress.ip_address(address.read_text().strip())
except (OSError, ValueError):
    say("The address of the operator is not known.")
    sys.exit(0)
kept, others, dropping, dropped = [], [], False, False
# Bytes that are no UTF-8 are kept as they are.
text = bans.read_bytes().decode(errors="surrogateescape") if bans.exists() else ""
for line in text.splitlines(keepends=True):
    if line[:1] not in (" ", "\\t"):
        banned = address_in(line)
        dropping = banned == operator
        dropped = dropped or dropping
        if banned is not None and not dropping:
            others.append(str(banned))
    if not dropping:
        kept.append(line)
if dropped:
    temporary = bans.with_name(bans.name + ".tmp")
    with open(temporary, "wb") as file:
        file.write("".join(kept).encode(errors="surrogateescape"))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(bans)
still = "; ${BANNED_ARE}" + ", ".join(others) if others else ""
say(str(operator) + (" was taken out of the bans" if dropped else " ${NOT_BANNED}") + still)
`.trim();
