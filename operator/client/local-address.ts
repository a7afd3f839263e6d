import { OperationalError } from '../errors';
import { lookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/**
 * Rejects addresses of the operator's own machine, or of services that only that machine reaches, such as a cloud's
 * metadata service: loopback, link-local and unspecified addresses. Used for addresses from users' resources.
 */

const local = new BlockList();
local.addSubnet('0.0.0.0', 8, 'ipv4');
local.addSubnet('127.0.0.0', 8, 'ipv4');
local.addSubnet('169.254.0.0', 16, 'ipv4');
local.addAddress('::', 'ipv6');
local.addAddress('::1', 'ipv6');
local.addSubnet('fe80::', 10, 'ipv6');
// IPv4 addresses embedded in IPv6: the list itself handles IPv4-mapped ones but not these.
local.addSubnet('::', 96, 'ipv6');
local.addSubnet('64:ff9b::7f00:0', 104, 'ipv6');
local.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');

/** Whether an IP address is loopback, link-local or unspecified. */
export function isLocalAddress(ip: string): boolean {
  const [address = ip] = ip.split('%'); // fe80::1%eth0
  const family = isIP(address);
  return family !== 0 && local.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Whether the host of a URL is such an address, in any notation: `http://0x7f.1` is `127.0.0.1`. */
export function hasLocalHost(url: URL): boolean {
  return isLocalAddress(url.hostname.replace(/^\[|\]$/g, ''));
}

/**
 * Resolves names as Node does and rejects those that resolve to a local address. The connection itself uses it, so that
 * a name cannot resolve to one address when it is checked and to another when it is used (DNS rebinding).
 */
export const lookupNonLocal: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 0);
    const refused = addresses.some(({ address }) => isLocalAddress(address));
    if (refused) return callback(new LocalAddressRefused(), '', 0);
    if (options.all) return callback(null, addresses);
    const [first] = addresses as [LookupAddress];
    return callback(null, first.address, first.family);
  });
};

export class LocalAddressRefused extends OperationalError {
  readonly code = 'LOCAL_ADDRESS_REFUSED';
  constructor() {
    super('its name leads to a loopback or link-local address, which is refused');
  }
}
