import type { LookupFunction } from 'node:net';
import { lookupNonLocal } from './local-address';

/** The address of a hub and the options of connections to it. */
export interface HubAddress {
  /** Base URL, `http(s)://host[:port]`. */
  readonly url: string;
  /** Certificate authorities (PEM) that replace those of the system. */
  readonly ca?: string | undefined;
  /** Source address of all connections, for the sandbox and tests only. */
  readonly localAddress?: string | undefined;
  /** Resolves the host name of the URL. Default: as Node.js does. */
  readonly lookup?: LookupFunction | undefined;
  /**
   * Whether the address comes from a user's resource: the server is then verified to be a hub before a token
   * is sent.
   */
  readonly untrusted?: boolean | undefined;
  /** Whether an untrusted address may be a loopback or link-local one. */
  readonly allowLocal?: boolean | undefined;
}

/** Connection options of all sockets to an address. */
export function connectionOptions({ ca, localAddress, lookup, untrusted, allowLocal }: HubAddress) {
  return {
    ...(ca !== undefined && { ca }),
    ...(localAddress !== undefined && { localAddress }),
    ...(lookup && { lookup }),
    ...(untrusted && !allowLocal && { lookup: lookupNonLocal }),
  };
}
