/**
 * The scripts of the hub pod's init containers, in Python, since the hub's image has it: no second image is pulled.
 * Every path is an argument, so that they run on a development node as well.
 */

/** The init container that runs {@link PREPARE_CONFIG}. */
export const PREPARE_CONTAINER = 'prepare-config';

/** In its verdict: what was generated is not what runs. */
export const NOT_LOADED = 'The hub would not load this configuration';

/**
 * `prepare-config CONFIG CONFIGURATION SECRETS VERDICT`: puts the generated files (CONFIGURATION, SECRETS) into the
 * hub's directory (CONFIG), creates every file that they include and that is not there, and lets the hub's own check
 * read the result. A configuration that the hub would not load never gets active: the last good one is put back, or
 * the start is refused when there is none. VERDICT, the termination message, says what happened.
 */
export const PREPARE_CONFIG = `
import contextlib, hashlib, io, json, logging, os, pathlib, re, shutil, sys
import yaml
from importlib.metadata import version

config, configuration, secrets, verdict = (pathlib.Path(argument) for argument in sys.argv[1:5])
own = config / "hub-operator"
good, written_list = own / "last-good", own / "written.json"
own.mkdir(parents=True, exist_ok=True)


def say(message):
    print(message)
    verdict.write_text(message[-4000:])


def files_in(directory):
    # A mounted volume holds links to hidden directories; only what has a plain name is content.
    if not directory.is_dir():
        return {}
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir()) if not path.name.startswith(".") and path.is_file()}


def put(files):
    written = json.loads(written_list.read_text()) if written_list.exists() else []
    for name in set(written) - set(files):
        (config / name).unlink(missing_ok=True)
    for name, content in files.items():
        target = config / name
        if target.exists() and name not in written:
            kept = config / (name + ".before-hub-operator")
            if target.read_bytes() != content and not kept.exists():
                shutil.copy2(target, kept)
        temporary = own / (name + ".tmp")
        temporary.write_bytes(content)
        if name == "secrets.yaml":
            temporary.chmod(0o600)
        temporary.replace(target)
    written_list.write_text(json.dumps(sorted(files)))


def create_included():
    # The hub refuses its whole configuration when one included file is missing.
    text = (config / "configuration.yaml").read_text(errors="replace")
    for name in re.findall(r"^[^#\\n]*!include\\s+[\\"']?([^\\s\\"'#]+)", text, re.M):
        path = config / name
        if config.resolve() in path.resolve().parents and not path.exists():
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
    fresh.mkdir()
    for name, content in files.items():
        (fresh / name).write_bytes(content)
    fresh.chmod(0o700)
    shutil.rmtree(good, ignore_errors=True)
    fresh.rename(good)


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
checked = own / "checked"
put(generated)
create_included()
if checked.exists() and checked.read_text() == digest:
    say("The configuration is the one that was checked before.")
    sys.exit(0)
problem = check()
last_good = files_in(good)
if problem is None:
    replace_last_good(generated)
    checked.write_text(digest)
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

/** The init container that runs {@link UNBAN_OPERATOR_IP}. */
export const UNBAN_CONTAINER = 'unban-operator-ip';

/** In its verdict: a restart cannot have helped, since there was nothing to take out. */
export const NOT_BANNED = 'is not among the bans';

/**
 * `unban-operator-ip BANS ADDRESS VERDICT`: takes the address in the file ADDRESS out of the hub's `ip_bans.yaml`; all
 * else in it stays byte for byte. The hub reads that file only when it starts. VERDICT, the termination message, says
 * what was there.
 */
export const UNBAN_OPERATOR_IP = `
import ipaddress, pathlib, sys

bans, address = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def say(message):
    print(message)
    pathlib.Path(sys.argv[3]).write_text(message[:4000])


def address_in(line):
    try:
        return ipaddress.ip_address(line.strip().removesuffix(":").strip("'\\""))
    except ValueError:
        return None


if not address.exists():
    say("The address of the operator is not known.")
    sys.exit(0)
operator = ipaddress.ip_address(address.read_text().strip())
kept, others, dropping, dropped = [], [], False, False
for line in bans.read_bytes().decode().splitlines(keepends=True) if bans.exists() else []:
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
    temporary.write_bytes("".join(kept).encode())
    temporary.replace(bans)
still = "; banned are " + ", ".join(others) if others else ""
say(str(operator) + (" was taken out of the bans" if dropped else " ${NOT_BANNED}") + still)
`.trim();
