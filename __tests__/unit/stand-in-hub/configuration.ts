import type { ConfigEntityKind } from '../../../operator/client/connection/config-entity';
import { HubFailed } from '../../../operator/client/connection/errors';
import { HASH_FILE } from '../../../operator/sync/configuration/record/stored-files';
import { readSecretsYaml } from '../../../operator/sync/secrets-yaml/secrets-yaml';
import type { ClientParts } from './hub-client';
import type { StandInHub, Wing } from './stand-in-hub';

const SERVICES = '/api/services/';
const VERSION = '2026.11.0';

/** The configuration of a hub, which it reads from its pod: the check, the start, and reloads of sections. */
export class Configuration implements Wing {
  /** For each section, the text of configuration.yaml from which the hub last loaded it. */
  readonly loaded = new Map<string, string>();
  /** Returns the fault of a text, or null. */
  check: (text: string) => string | null = () => null;
  /** Returns the warning of the check, or null. */
  warn: (text: string) => string | null = () => null;
  /** Returns the hub's log line about an item of the text that it leaves out during the check, or null. */
  leavesOut: (text: string) => string | null = () => null;
  /** Returns the log line of the hub when it reloads a section, or null. */
  leavesOutAtReload: (text: string) => string | null = () => null;
  /** Whether the hub comes up in recovery mode with a text that its check accepts. */
  cannotStartWith: (text: string) => boolean = () => false;
  /** Whether the process of the hub ends at each start with a text that its check accepts. */
  crashesWith: (text: string) => boolean = () => false;
  /** Whether the reload services of the hub fail. */
  cannotReload = false;
  /** Whether the scripts of the hub show no marker. */
  hidesMarker = false;
  /** Whether the hub is in recovery mode. */
  isRecovery = false;
  /** The file secrets.yaml in the pod. */
  secretsYaml: string | undefined;
  readonly commands = {
    get_services: () => ({ input_boolean: { reload: {} }, template: { reload: {} }, script: { reload: {} } }),
  };
  private read: object | undefined;

  constructor(private readonly hub: StandInHub) {}

  onStart(): void {
    const { hub, text } = this;
    hub.log(this.leavesOut(text));
    hub.pod.isCrashing = this.crashesWith(text);
    this.isRecovery = !hub.pod.isCrashing && this.cannotStartWith(text);
    this.read = this.hashes();
    for (const section of ['input_boolean', 'counter', 'template']) this.loaded.set(section, text);
  }

  onReload(kind: ConfigEntityKind): void {
    this.loaded.set(kind, this.text);
    if (kind === 'script') this.read = this.hub.pod.readsOldFiles ? undefined : this.hashes();
  }

  hashes() {
    const configuration = this.hub.pod.mounted.get('villa-configuration')?.data[HASH_FILE];
    const secrets = this.text.includes('!secret') ? readSecretsYaml(this.secretsYaml ?? '')?.hash : undefined;
    return { configuration, ...(secrets !== undefined && { secrets }) };
  }

  marker(): object | undefined {
    return this.hidesMarker ? undefined : this.read;
  }

  get(path: string): object | undefined {
    return path === '/api/config' ? { version: VERSION, recovery_mode: this.isRecovery } : undefined;
  }

  post(path: string): object | undefined {
    const { hub, text } = this;
    if (path.endsWith('check_config')) {
      const errors = this.check(text);
      hub.log(this.leavesOut(text));
      return { result: errors ? 'invalid' : 'valid', errors, warnings: this.warn(text) };
    }
    if (!path.startsWith(SERVICES)) return undefined;
    const [domain = '', service] = path.slice(SERVICES.length).split('/');
    hub.operators.step(`${service} ${domain}`);
    if (this.cannotReload) throw new HubFailed('no such platform');
    hub.log(this.leavesOutAtReload(text));
    this.loaded.set(domain, text);
    return [];
  }

  parts(): ClientParts {
    return { repairIssues: { unsupportedPlatforms: () => Promise.resolve([]) } };
  }

  private get text(): string {
    return this.hub.pod.configuration;
  }
}
