"""unban_operator_ip BANS ADDRESS REPORT

Removes the address in the file ADDRESS from the hub's `ip_bans.yaml` (BANS); the rest of it stays byte for byte. The
hub reads that file only when it starts. REPORT, the termination message, is one line of JSON:
operator/sync/hub-pod/termination-messages.ts has its fields. Nothing in either file keeps the hub from starting.
"""

import ipaddress
import json
import os
import sys
from pathlib import Path

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# A kubelet keeps 4096 bytes.
MOST_BANS = 50

bans, address, report = (Path(argument) for argument in sys.argv[1:4])


def say(result: str, **fields: object) -> None:
    line = json.dumps({"result": result, **fields})
    report.write_text(line)
    print(line)


def parsed(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text.strip())
    except ValueError:
        return None


def address_in(line: str) -> Address | None:
    return parsed(line.strip().removesuffix(":").strip("'\""))


def without(operator: Address, text: str) -> tuple[str, list[str]]:
    """The other lines, and the other addresses."""
    kept, others, dropping = [], [], False
    for line in text.splitlines(keepends=True):
        if line[:1] not in (" ", "\t"):
            banned = address_in(line)
            dropping = banned == operator
            if banned is not None and not dropping:
                others.append(str(banned))
        if not dropping:
            kept.append(line)
    return "".join(kept), others


def replace(path: Path, content: bytes) -> None:
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def main() -> None:
    operator = parsed(address.read_text(errors="replace")) if address.exists() else None
    if operator is None:
        return say("unknown", banned=[])
    # Bytes that are no UTF-8 are kept as they are.
    text = bans.read_bytes().decode(errors="surrogateescape") if bans.exists() else ""
    kept, others = without(operator, text)
    if kept != text:
        replace(bans, kept.encode(errors="surrogateescape"))
    say("absent" if kept == text else "removed", address=str(operator), banned=others[:MOST_BANS])


main()
