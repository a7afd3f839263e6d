import { userAnnotations } from '../../../kinds/annotations';
import { BANNED_ARE, CONTENT_HASH, NOT_BANNED, NOT_LOADED, OLDER_VERSION } from '../init-containers';

/**
 * The scripts that run in the hub's pod, in Python, since the hub's image has it: no second image is pulled. Every path
 * is an argument, so that they run on a development node as well.
 */

/**
 * `prepare-config CONFIG CONFIGURATION SECRETS VERDICT ALLOW_DOWNGRADE`: links the mounted files (CONFIGURATION,
 * SECRETS) into the hub's directory (CONFIG), so that a change of them reaches the hub while it runs, creates every file
 * that they include and that does not exist, and lets the hub's own check read the result. A configuration that the hub
 * would not load, or that it would load without one of its sections, does not become active: links to the copy of the
 * last good one take its place. Without such a copy the start is refused, or goes on without the section. Files are linked
 * one by one, since a backup that the hub restores could not contain a link to a directory. An image that is older than the version that last ran on the
 * volume is refused, unless the file ALLOW_DOWNGRADE says `true`. VERDICT, the termination message, says what happened.
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
known_warnings = own / "warnings"


def cut(text, size):
    return text.encode()[:size].decode(errors="ignore")


def say(message):
    print(message)
    # A kubelet keeps the last 4096 bytes, and the beginning says what happened.
    verdict.write_text(cut(message, 4000))


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


def link(path, target):
    if path.is_symlink() and os.readlink(path) == str(target):
        return
    temporary = own / (path.name + ".tmp")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(target)
    temporary.replace(path)


def put(files, place):
    written = written_before()
    for name, content in files.items():
        target, kept = config / name, config / (name + ".before-hub-operator")
        present = target.read_bytes() if target.is_file() else None
        if present is not None and present != content and name not in written and not kept.exists():
            write(kept, present)
    # Before the links, but after the copies: a file of the user's is never taken for one of ours.
    remember(written | set(files))
    for name in files:
        link(config / name, place(name))
    for name in written - set(files):
        (config / name).unlink(missing_ok=True)
    # Secrets may come later, to a hub that runs. To the hub, a link that leads nowhere is a file that is not there.
    if "secrets.yaml" not in files and not (config / "secrets.yaml").is_file():
        link(config / "secrets.yaml", mounted("secrets.yaml"))
    remember(files)


def mounted(name):
    return (secrets if name == "secrets.yaml" else configuration) / name


def copied(name):
    return good / name


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
            # By its name: what the generated files link to is elsewhere.
            path = pathlib.Path(os.path.normpath(including.parent / name))
            if path in found or config not in path.parents:
                continue
            found.append(path)
            if not path.exists() and not path.is_symlink() and config.resolve() in path.resolve().parents:
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
        found = check_config.check(str(config))
    print(masked(printed.getvalue()))
    texts = ((word for about in found[kind].values() for word in about if isinstance(word, str)) for kind in ("except", "warn"))
    return tuple(masked("\\n".join(words))[-3000:] for words in texts)


def is_known(warnings):
    # The same ones as of the last good configuration, perhaps in other lines.
    try:
        before = known_warnings.read_text(errors="replace")
    except OSError:
        before = ""
    plain = lambda text: {re.sub(r"\\bline \\d+", "", line) for line in text.splitlines()}
    return plain(warnings) <= plain(before)


def content_hash():
    try:
        words = [(configuration / ".content-hash").read_text().strip()]
    except OSError:
        return ""
    try:
        words.append(str(yaml.safe_load((secrets / "secrets.yaml").read_bytes())["hub_operator_hash"]))
    except (OSError, yaml.YAMLError, KeyError, TypeError):
        pass
    return "\\n${CONTENT_HASH}" + " ".join(words)


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
# The hub serves it under /local only if it exists at its start, and plugins are installed into it later.
if not os.path.lexists(config / "www"):
    (config / "www").mkdir()
if former_good.exists() and not good.exists():
    former_good.rename(good)

generated = files_in(configuration)
if "configuration.yaml" not in generated:
    if files_in(good):
        put(files_in(good), copied)
    if not (config / "configuration.yaml").exists():
        say("There is no configuration: create a HubConfiguration for this Hub.")
        sys.exit(1)
    say("The generated configuration is gone; the one of the last start stays.")
    create_included()
    sys.exit(0)

generated.update(files_in(secrets))
digest = hashlib.sha256(repr([version("homeassistant"), sorted(generated.items())]).encode()).hexdigest()
put(generated, mounted)
create_included()
if checked.exists() and checked.read_bytes() == digest.encode():
    say("The configuration is the one that was checked before." + content_hash())
    sys.exit(0)
errors, warnings = check()
last_good = files_in(good)
# After an update of the image the last good one may be this one: there is nothing to go back to.
accepted = not errors and (is_known(warnings) or not last_good or last_good == generated)
problem = cut("\\n".join(filter(None, (errors, warnings))), 3400)
if accepted:
    replace_last_good(generated)
    write(known_warnings, warnings.encode())
    write(checked, digest.encode())
    say("The configuration was checked." + ("\\n" + problem if problem else "") + content_hash())
elif last_good:
    put(last_good, copied)
    create_included()
    say("${NOT_LOADED}, so the last good one stays:\\n" + problem + content_hash())
else:
    say("${NOT_LOADED}:\\n" + problem + content_hash())
# Taking apart all that the check has loaded would take a second more.
sys.stdout.flush()
os._exit(0 if accepted or last_good else 1)
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
