import { OperationalError } from '../../base/errors';
import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/**
 * Rejects addresses at which only the operator's own pod and machine, or services for them, can be reached.
 * Such addresses are loopback, link-local and unspecified ones, and those of cloud metadata services. The
 * check is for addresses from users' resources.
 */

/** Describes the rejected addresses in messages. */
export const LOCAL_ADDRESS =
  'a loopback or link-local address, a metadata service of a cloud, or the operator itself';

const local = new BlockList();
local.addSubnet('0.0.0.0', 8, 'ipv4');
local.addSubnet('127.0.0.0', 8, 'ipv4');
local.addSubnet('169.254.0.0', 16, 'ipv4');
local.addAddress('::', 'ipv6');
local.addAddress('::1', 'ipv6');
local.addSubnet('fe80::', 10, 'ipv6');
// IPv4 addresses embedded in IPv6. The BlockList itself handles IPv4-mapped addresses, but not these.
local.addSubnet('::', 96, 'ipv6');
local.addSubnet('64:ff9b::7f00:0', 104, 'ipv6');
local.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');

// Cloud metadata services of AWS, Google Cloud, Alibaba Cloud and Azure that have no link-local address.
local.addAddress('fd00:ec2::254', 'ipv6');
local.addAddress('fd20:ce::254', 'ipv6');
for (const [address, embedded] of [
  ['100.100.100.200', '64:ff9b::6464:64c8'],
  ['168.63.129.16', '64:ff9b::a83f:8110'],
] as const) {
  local.addAddress(address, 'ipv4');
  local.addAddress(embedded, 'ipv6');
}

/**
 * Also rejects the addresses of this pod, according to its environment: its own address, and those of the API
 * server and of the Services of its namespace, which the kubelet sets.
 */
export function rejectOwnAddresses(environment: Readonly<Record<string, string | undefined>>): void {
  for (const [name, address = ''] of Object.entries(environment)) {
    const family = isIP(address);
    if (family !== 0 && /^POD_IP$|_SERVICE_HOST$/.test(name))
      local.addAddress(address, family === 6 ? 'ipv6' : 'ipv4');
  }
}

/**
 * Reports whether an IP address is loopback, link-local, a metadata service, or this pod's own: a hub is
 * never at such an address.
 */
export function isLocalAddress(ip: string): boolean {
  const [address = ip] = ip.split('%'); // fe80::1%eth0
  const family = isIP(address);
  return family !== 0 && local.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Whether the host of a URL is a local address, in any notation: `http://0x7f.1` is `127.0.0.1`. */
export function hasLocalHost(url: URL): boolean {
  return isLocalAddress(url.hostname.replace(/^\[|\]$/g, ''));
}

/**
 * Resolves names like Node.js, and rejects those that resolve to a local address. The connection itself uses
 * this function, so that a name cannot resolve to one address during the check and to another one for the
 * connection (DNS rebinding).
 */
export const lookupNonLocal: LookupFunction = (hostname, options, callback) =>
  refusingLocal(lookup)(hostname, options, callback);

type LookupAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Like {@link lookupNonLocal}, with another function to resolve names. A name with one local address among
 * others is rejected too.
 */
export const refusingLocal =
  (resolve: LookupAll): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const refused = addresses.some(({ address }) => isLocalAddress(address));
      if (refused) return callback(new LocalAddressRefused(), '', 0);
      if (options.all) return callback(null, addresses);
      const [first] = addresses as [LookupAddress];
      return callback(null, first.address, first.family);
    });
  };

class LocalAddressRefused extends OperationalError {
  readonly code = 'LOCAL_ADDRESS_REFUSED';
  constructor() {
    super(`its name leads to ${LOCAL_ADDRESS}, which is refused`);
  }
}
