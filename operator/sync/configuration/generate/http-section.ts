import { isIPv4, isIPv6 } from 'node:net';
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import type { HttpSettings } from '../../../client/connection/api-types';
import { HUB_PORT } from '../../hub-pod/owned-objects';
import { ConfigFiles, type Files, type Place } from './config-files';
import { parseHubYaml } from './hub-yaml';

/** The type with which the hub reads each key of the section. */
const TYPES = {
  server_host: 'list',
  server_port: 'integer',
  ssl_certificate: 'text',
  ssl_key: 'text',
  ssl_peer_certificate: 'text',
  ssl_profile: 'text',
  cors_allowed_origins: 'list',
  use_x_forwarded_for: 'boolean',
  trusted_proxies: 'networks',
  login_attempts_threshold: 'integer',
  ip_ban_enabled: 'boolean',
  use_x_frame_options: 'boolean',
} as const;

/** A key that the hub ignores. */
const IGNORED = 'base_url';

type Type = (typeof TYPES)[keyof typeof TYPES];

export type HttpSection =
  /** The user has no such section: the settings of the hub are left alone. */
  | { readonly type: 'absent' }
  | { readonly type: 'settings'; readonly settings: HttpSettings }
  /** The section cannot be read. `message`: a sentence that says why. */
  | { readonly type: 'invalid'; readonly message: string };

/** The section `http:` of `configuration.yaml`, in the form in which the hub's API returns settings. */
export const readHttpSection = (files: Files, parse = parseHubYaml): HttpSection =>
  httpSectionIn(new ConfigFiles(files, parse));

/** Like {@link readHttpSection}, for files that are already parsed. */
export function httpSectionIn(files: ConfigFiles): HttpSection {
  const { own, inPackages } = files.section('http');
  if (inPackages.length > 0)
    return invalid('a package has it, and this hub takes it from spec.configuration itself: write it there');
  if (!own) return { type: 'absent' };
  const { node } = files.follow(own);
  const isEmpty = node === null || (isScalar(node) && node.value === '');
  if (!isEmpty && !isMap(node)) return invalid('http must be a mapping of settings');
  const settings: Record<string, unknown> = {};
  for (const [key, place] of files.entries(own)) {
    if (key === IGNORED) continue;
    if (!Object.hasOwn(TYPES, key)) return invalid(`http has no setting ${key}`);
    const read = convert(TYPES[key as keyof typeof TYPES], place, files);
    if (read === undefined)
      return invalid(`http.${key} must be a plain value, since the operator sends it to the hub itself`);
    settings[key] = read;
  }
  return { type: 'settings', settings };
}

/**
 * A setting with which neither the probes of the pod nor the operator could reach the hub, with its place.
 */
export interface CutOff {
  readonly setting: string;
  readonly place: Place;
}

const EVERYWHERE = ['0.0.0.0', '::'];

/**
 * Finds a setting that makes the hub unreachable.
 *
 * @returns undefined when the hub stays reachable by plain HTTP at its port
 */
export function cutOff(files: ConfigFiles): CutOff | undefined {
  const { own, inPackages } = files.section('http');
  for (const section of own ? [own, ...inPackages] : inPackages) {
    for (const [setting, place] of files.entries(section)) {
      const text = textOf(files.follow(place).node);
      const isTls = setting === 'ssl_certificate' || setting === 'ssl_key';
      // The value of a secret is unknown here, so a port from a secret is not judged.
      const isOtherPort = setting === 'server_port' && text !== undefined && text !== String(HUB_PORT);
      const hosts = setting === 'server_host' ? convert('list', place, files) : undefined;
      const isElsewhere = Array.isArray(hosts) && !hosts.some((host) => EVERYWHERE.includes(String(host)));
      if (isTls || isOtherPort || isElsewhere) return { setting, place };
    }
  }
  return undefined;
}

const invalid = (problem: string): HttpSection => ({
  type: 'invalid',
  message: `The section http: in spec.configuration cannot be applied: ${problem}.`,
});

/**
 * The value of a setting.
 *
 * @returns undefined when the value has another type, or a tag that only the hub resolves
 */
function convert(type: Type, place: Place, files: ConfigFiles): unknown {
  const { node, file } = files.follow(place);
  if (type === 'list' || type === 'networks') {
    const items = isSeq(node) ? (node.items as Node[]) : [node];
    const texts = items.map((item) => textOf(files.follow({ node: item, file }).node));
    if (texts.some((text) => text === undefined)) return undefined;
    return type === 'networks' ? texts.map((text) => networkOf(text!)) : texts;
  }
  const text = textOf(node);
  if (text === undefined) return undefined;
  if (type === 'text') return text;
  if (type === 'integer') return /^-?\d+$/.test(text) ? Number(text) : undefined;
  if (/^(true|yes|on|enable|1)$/i.test(text)) return true;
  return /^(false|no|off|disable|0)$/i.test(text) ? false : undefined;
}

const textOf = (node: Node | null): string | undefined =>
  isScalar(node) && !node.tag?.startsWith('!') ? String(node.value) : undefined;

/**
 * A network as the hub returns it: an address becomes a network of one address, a mask a number of bits, and
 * IPv6 is compressed.
 */
function networkOf(text: string): string {
  const [address = '', mask] = text.split('/', 2);
  const bits = mask !== undefined && /^\d+$/.test(mask) ? Number(mask) : mask;
  if (isIPv6(address) && !address.includes('%')) return `${compressed(address)}/${bits ?? 128}`;
  return `${address}/${mask !== undefined && isIPv4(mask) ? bitsOf(mask) : (bits ?? 32)}`;
}

function compressed(address: string): string {
  const short = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(short) ?? [];
  if (high === undefined || low === undefined) return short;
  // An IPv4 address that is mapped to IPv6 keeps its dots.
  const bytes = [high, low].flatMap((part) => [parseInt(part, 16) >> 8, parseInt(part, 16) & 0xff]);
  return `::ffff:${bytes.join('.')}`;
}

/** Number of bits of a mask such as `255.255.0.0`, or of its inverse. */
function bitsOf(mask: string): number {
  const bits = mask
    .split('.')
    .map((part) => Number(part).toString(2).padStart(8, '0'))
    .join('');
  const isInverse = bits.startsWith('0') && bits.includes('1');
  return [...bits].filter((bit) => bit === (isInverse ? '0' : '1')).length;
}
