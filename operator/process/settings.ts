import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { HUB_LABEL } from '../kinds/annotations';
import { WEBHOOK } from '../kinds/object-names';
import { HUB_SETTLE_TIME } from '../base/limits';
import { LOG_LEVELS } from '../base/log';

/**
 * The settings. `podIp` is the flag `--pod-ip` or the environment variable `POD_IP`; the flag has precedence.
 */
const table = {
  watchNamespaces: {
    default: '',
    parse: namespaces,
    about: 'Namespaces to work in, separated by commas. Empty: all.',
  },
  watchNamespaceSelector: {
    default: '',
    parse: String,
    about:
      'Label selector of the namespaces to work in, such as `home=managed`, instead of their names: a namespace that gets or loses the label needs no restart. Not with WATCH_NAMESPACES. Empty: none.',
  },
  podIp: {
    default: '',
    parse: address,
    about:
      'Address from which the hubs see the operator; it is removed from their bans. The Deployment sets it.',
  },
  podNamespace: {
    default: 'hub-operator',
    parse: namespace,
    about: "The operator's own namespace, where its lease is.",
  },
  podName: {
    default: podNameFrom(hostname()),
    parse: objectName,
    about: "The operator pod's name, for lease and events.",
  },
  logLevel: {
    default: 'info',
    parse: oneOf(LOG_LEVELS),
    about: `One of ${LOG_LEVELS.join(', ')}.`,
  },
  httpAddress: {
    default: '',
    parse: String,
    about: 'Address to listen on for probes, metrics and the webhook. Empty: all.',
  },
  httpPort: {
    default: '8080',
    parse: wholeNumber(0, 65_535),
    about: 'Port of /healthz, /readyz and /metrics. 0: a free one, which the log names.',
  },
  workers: {
    default: '16',
    parse: wholeNumber(1, 256),
    about: 'Resources reconciled at the same time, not counting those that wait for longer than a second.',
  },
  workersPerHub: {
    default: '4',
    parse: wholeNumber(1, 256),
    about: 'Resources of one hub reconciled at the same time.',
  },
  hubWriteTimeout: {
    default: '30',
    parse: wholeNumber(1, 60),
    about:
      'Seconds in which a hub has to answer a write or a reload. It parses a whole file for each, which takes a small board long.',
  },
  codeHostUrl: {
    default: 'https://github.com',
    parse: webAddress,
    about:
      'Base URL of the code host of community repositories, or of a mirror with the same paths (`<URL>/owner/name/archive/<ref>.zip`).',
  },
  communityRepositories: {
    default: '',
    parse: repositories,
    about:
      'Community repositories that may be installed, separated by commas: `owner/name`, or `owner/` for all of an owner. Empty: all. `none`: none.',
  },
  requireSecretLabel: {
    default: 'false',
    parse: truth,
    about: `Whether each Secret that a resource names must carry the label \`${HUB_LABEL}: <name of the Hub>\`, or the label without a value, which is for all Hubs of the namespace. The holder of rights to a resource of a hub can then read only Secrets that carry it.`,
  },
  leaderElection: {
    default: 'true',
    parse: truth,
    about: 'Whether replicas agree by a Lease on the one that works.',
  },
  leaseName: {
    default: 'hub-operator',
    parse: objectName,
    about: 'Name of that Lease.',
  },
  webhook: {
    default: 'off',
    parse: oneOf(['off', 'self-signed', 'provided']),
    about:
      'Whether the webhook is served, and who makes its certificate. self-signed: the operator, which also writes the CA into the webhook configuration. provided: another program, such as cert-manager. The Deployment sets it.',
  },
  webhookPort: {
    default: String(WEBHOOK.port),
    parse: wholeNumber(0, 65_535),
    about: 'Port of the webhook. 0: a free one, which the log names.',
  },
  webhookHost: {
    default: '',
    parse: String,
    about: `Name or address by which the API server calls the webhook. Empty: \`${WEBHOOK.service}.<namespace of the operator>.svc\`.`,
  },
  webhookSecret: {
    default: WEBHOOK.secret,
    parse: objectName,
    about: "Name of the Secret with the webhook's certificate, in the namespace of the operator.",
  },
  webhookConfiguration: {
    default: WEBHOOK.configuration,
    parse: objectName,
    about: 'Name of the ValidatingWebhookConfiguration that gets the CA.',
  },
} as const;

type Table = typeof table;
const names = Object.keys(table) as (keyof Table)[];
export type Settings = { readonly [Name in keyof Table]: ReturnType<Table[Name]['parse']> } & TestSettings;

/**
 * Settings that only the entry point of the sandbox gives; the shipped program has neither flags nor
 * variables for them.
 */
export interface TestSettings {
  /** Whether external hubs may have loopback and link-local addresses, which lead to the operator itself. */
  readonly allowLocalHubs: boolean;
  /** Whether cached objects are frozen, so that code that changes one by mistake fails at once. */
  readonly freezeCache: boolean;
  /**
   * Annotation of a hub's Service with a URL to use instead of the Service's name in the cluster. The empty
   * text stands for no annotation.
   */
  readonly hubUrlAnnotation: string;
  /** Local address of connections to hubs. The empty text stands for any address. */
  readonly hubSourceAddress: string;
  /** Milliseconds after the start of a hub until the references of its definitions are checked. */
  readonly hubSettleTime: number;
}

const noTestSettings: TestSettings = {
  allowLocalHubs: false,
  freezeCache: false,
  hubUrlAnnotation: '',
  hubSourceAddress: '',
  hubSettleTime: HUB_SETTLE_TIME,
};

/** A setting is invalid: the message names the setting, its value and the accepted values. Or help was requested. */
export class SettingsRefused extends Error {
  override readonly name = 'SettingsRefused';
}

/**
 * Reads the settings. Flags have precedence over environment variables, and those over defaults.
 *
 * @throws SettingsRefused an unknown flag or an invalid value
 */
export function readSettings(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  testSettings: Partial<TestSettings> = {},
): Settings {
  const flags = parseFlags(args);
  const settings = Object.fromEntries(
    names.map((name) => {
      const { default: fallback, parse } = table[name];
      const flag = flags[flagOf(name)];
      const given = flag ?? environment[variableOf(name)] ?? fallback;
      const source = flag !== undefined ? `--${flagOf(name)}` : variableOf(name);
      try {
        return [name, (parse as (value: string) => unknown)(given)];
      } catch (error) {
        throw new SettingsRefused(`${source}=${given}: ${(error as Error).message}`);
      }
    }),
  ) as Omit<Settings, keyof TestSettings>;
  if (settings.watchNamespaces.length > 0 && settings.watchNamespaceSelector)
    throw new SettingsRefused(
      'WATCH_NAMESPACES and WATCH_NAMESPACE_SELECTOR are both set: name the namespaces, or select them by label',
    );
  return { ...settings, ...noTestSettings, ...testSettings };
}

export function settingsHelp(): string {
  const rows = settingsTable().map(({ flag, env, default: fallback, about }) => {
    return `  ${flag}=… (${env}${fallback === '' ? '' : `, default ${fallback}`})\n      ${about}`;
  });
  return ['Settings, as flag or environment variable:', ...rows].join('\n');
}

/** The settings for the reference documentation. */
export function settingsTable(): { flag: string; env: string; default: string; about: string }[] {
  return names.map((name) => ({ flag: `--${flagOf(name)}`, env: variableOf(name), ...table[name] }));
}

function parseFlags(args: readonly string[]): Record<string, string | undefined> {
  const options = Object.fromEntries(names.map((name) => [flagOf(name), { type: 'string' as const }]));
  try {
    return parseArgs({ args: [...args], options, allowPositionals: false }).values;
  } catch (error) {
    throw new SettingsRefused(`${(error as Error).message}\n\n${settingsHelp()}`);
  }
}

/** The flag of a setting: `watchNamespaces` becomes `watch-namespaces`. */
const flagOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The environment variable of a setting: `watchNamespaces` becomes `WATCH_NAMESPACES`. */
const variableOf = (name: string): string => flagOf(name).replaceAll('-', '_').toUpperCase();

/** RFC 1123 labels and subdomains, as in Kubernetes. */
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const NAMESPACE = new RegExp(`^${LABEL}$`);
const OBJECT_NAME = new RegExp(`^${LABEL}(\\.${LABEL})*$`);

function namespace(value: string): string {
  if (NAMESPACE.test(value) && value.length <= 63) return value;
  throw new Error('the name of a namespace is accepted: at most 63 of a-z, 0-9 and -, no - at its ends');
}

/** A list without duplicates: two watches of one namespace would deliver every change twice. */
function namespaces(value: string): readonly string[] {
  const items = value.split(',').map((item) => item.trim());
  return [...new Set(items.filter((item) => item !== '').map(namespace))];
}

function objectName(value: string): string {
  if (OBJECT_NAME.test(value) && value.length <= 253) return value;
  throw new Error(
    'the name of an object is accepted: at most 253 of a-z, 0-9, - and ., each part with a letter or digit at its ends',
  );
}

/** Converts a host name, which may have upper case letters or underscores or be empty, to a valid pod name. */
function podNameFrom(host: string): string {
  const parts = host
    .toLowerCase()
    .split('.')
    .map((part) => part.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, ''));
  return parts.filter((part) => part !== '').join('.') || 'hub-operator';
}

function address(value: string): string {
  if (value === '' || isIP(value) !== 0) return value;
  throw new Error('an IPv4 or IPv6 address is accepted, or nothing');
}

/** A list in lower case; undefined stands for all repositories. */
function repositories(value: string): readonly string[] | undefined {
  if (value.trim() === '') return undefined;
  if (value.trim() === 'none') return [];
  const items = value.split(',').map((item) => item.trim().toLowerCase());
  if (items.every((item) => /^[a-z0-9-]+\/[a-z0-9._-]*$/.test(item))) return items;
  throw new Error('owner/name or owner/ is accepted, several of them separated by commas, or none');
}

/** The address of a website, without a slash at its end. */
function webAddress(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isPlain = url && !url.username && !url.password && !url.search && !url.hash;
  if (isPlain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '');
  throw new Error(
    'a URL that begins with https:// or http:// is accepted, without credentials, query and fragment',
  );
}

function truth(value: string): boolean {
  if (value === 'true' || value === 'false') return value === 'true';
  throw new Error('true or false is accepted');
}

function wholeNumber(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    throw new Error(`a whole number from ${least} to ${most} is accepted`);
  };
}

function oneOf<const Choices extends readonly string[]>(
  choices: Choices,
): (value: string) => Choices[number] {
  return (value) => {
    if ((choices as readonly string[]).includes(value)) return value;
    throw new Error(`one of ${choices.join(', ')} is accepted`);
  };
}
