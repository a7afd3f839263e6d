import type { HubClient } from '../../../../operator/client/hub-client';
import type { LogRecord } from '../../../../operator/client/connection/api-types';
import { HubFailed, HubRejected } from '../../../../operator/client/connection/errors';
import { timestamp } from '../../../../operator/base/clock';
import type { Hub, HubConfiguration } from '../../../../operator/kinds';
import { operatorAnnotations } from '../../../../operator/kinds/annotations';
import { API_GROUP } from '../../../../operator/kinds/group';
import type { Manifest } from '../../../../operator/runtime/apply';
import type { ClusterObject } from '../../../../operator/runtime/objects';
import { normalize } from '../../../../operator/runtime/normalize';
import { builtin } from '../../../../operator/runtime/types';
import { type Outcome, waiting } from '../../../../operator/runtime/outcome';
import { contentOf, generateConfiguration } from '../../../../operator/sync/configuration/generate/generate';
import { ConfigurationReconciler } from '../../../../operator/sync/configuration/reconcile';
import { ConfigurationRecords } from '../../../../operator/sync/configuration/record/record';
import { HASH_FILE } from '../../../../operator/sync/configuration/record/stored-files';
import { LoadJobs } from '../../../../operator/sync/configuration/load/load-jobs';
import type { DesiredContent } from '../../../../operator/sync/configuration/load/running-content';
import type { ReloadStrategy } from '../../../../operator/sync/configuration/load/reload-decision';
import type { Files } from '../../../../operator/sync/configuration/generate/config-files';
import { entriesFor, filesOf } from '../../../../operator/sync/configuration/generate/file-keys';
import { readSecretsYaml, writeSecretsYaml } from '../../../../operator/sync/secrets-yaml/secrets-yaml';
import type { Services } from '../../../../operator/sync/services';
import type { ManualClock } from '../../manual-clock';
import { isHeld } from '../../../../operator/sync/still-desired';
import { aHub, services } from '../fixtures';
import { textsOfHub } from '../../../../operator/sync/configuration/generate/texts';
import { unbounded } from '../../../../operator/base/bounded-task';

/** Thrown where the operator is killed. */
class Killed extends Error {}

interface ConfigMap {
  readonly metadata: { readonly resourceVersion: string; readonly annotations: Record<string, string> };
  readonly data: Record<string, string>;
  readonly binaryData?: Record<string, string> | undefined;
}

/** Returns the termination message of `prepare-config`. */
export const prepareMessage = (result: string, content: object, ...problems: readonly string[]) =>
  JSON.stringify({
    result,
    version: '2026.11.0',
    content,
    problems: problems.map((text) => ({ kind: 'error', text })),
  });

/** One process of the operator. */
interface Operator {
  sync(desired: DesiredContent, forced?: boolean): Promise<Outcome>;
  close(): void;
}

const AWAY = waiting('HubNotReady', 'Waiting for the Hub villa.', 300_000);

const resource = {
  apiVersion: 'hub-operator.dev/v1',
  kind: 'HubConfiguration',
  metadata: { namespace: 'home', name: 'villa', uid: '1', generation: 1 },
  spec: { hubRef: { name: 'villa' } },
} as unknown as HubConfiguration;

/**
 * A fake hub with its pod and its ConfigMaps, as far as a change of the configuration needs them. It mounts
 * the written files, reads its scripts on `script.reload`, and is restarted when the Hub copies another
 * restart hash.
 */
export class FakeHub {
  hub: Hub = aHub({ status: { version: '2026.11.0' } });
  readonly configMaps = new Map<string, ConfigMap>();
  /** The fields of status in the last outcome. */
  reported: Readonly<Record<string, unknown>> = {};
  /** Everything that happened, in order. */
  readonly events: string[] = [];
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
  /** Integrations that the hub cannot set up. */
  readonly cannotSetUp = new Set<string>();
  /** Whether the hub comes up in recovery mode with a text that its check accepts. */
  cannotStartWith: (text: string) => boolean = () => false;
  /** Whether the process of the hub ends at each start with a text that its check accepts. */
  crashesWith: (text: string) => boolean = () => false;
  /** Number of times in a row that the process has ended. */
  ends = 4;
  /** The image of the next pod. */
  image = 'home-assistant:2026.11.0';
  /**
   * Whether the hub ignores the files that its pod mounts until the next start, because a backup has restored
   * old files.
   */
  readsOldFiles = false;
  /** Whether the reload services of the hub fail. */
  cannotReload = false;
  /** Whether the scripts of the hub show no marker. */
  hidesMarker = false;
  /** The verdict of `prepare-config` at the start of the pod. */
  verdict: string | undefined;
  /** The tasks by which the operator has read texts other than those of the resource. */
  readonly readTexts: string[] = [];
  /** The resource in the cluster; undefined when it is the reconciled one. */
  latest: HubConfiguration | undefined;
  /** Whether the hub never finishes its start. */
  hangs = false;
  /** The field `autoRestart` of the HubSecrets. */
  autoRestart = true;
  /** Whether the Hub has not copied a new decision to the pod template yet, as during the debounce. */
  holdsRollouts = false;
  private status: HubConfiguration['status'];
  private secretsYaml: string | undefined;
  private isRecovery = false;
  private isCrashing = false;
  private readonly logged = new Map<string, LogRecord>();
  private restarts = 0;
  private containerStarted = '';
  private notReadySince = '';
  private mistake: { readonly reason: string; readonly message: string } | undefined;
  private marker: { configuration: string | undefined; secrets?: string } | undefined;
  private start = 0;
  private restartHash: string | undefined;
  private pods = 0;
  private podCreated = '';
  private podImage = '';
  /** The hashes in the verdict of `prepare-config`. */
  private begunWith: Readonly<Record<string, unknown>> = {};
  private version = 0;
  private killAt = Infinity;
  private steps = 0;

  constructor(readonly clock: ManualClock) {}

  /** Kills the operator at the `count`th change from now on: a write to the cluster, or a call of the hub. */
  killAfter(count: number): void {
    this.killAt = this.steps + count;
  }

  /** Sets the status of the resource to that of the last reconcile. */
  setStatus(status: HubConfiguration['status']): void {
    this.status = status;
  }

  /** Gives the hub these values for `!secret`. */
  setSecrets(values: Readonly<Record<string, string>>): void {
    this.secretsYaml = writeSecretsYaml(new Map(Object.entries(values)), 'salt').text;
  }

  /** Whether `Hub.spec.delivery` is `File`. */
  readsDelivery = false;

  desired(configuration: string, strategy: ReloadStrategy = 'auto', files: Files = {}): DesiredContent {
    const secrets = this.secretsYaml === undefined ? undefined : readSecretsYaml(this.secretsYaml);
    const generated = generateConfiguration({
      configuration,
      files,
      hasSecrets: secrets !== undefined,
      readsDelivery: this.readsDelivery,
    });
    if (generated.type === 'invalid') throw new Error(generated.message);
    const restart = { configuration: generated.hash, secrets: this.restartSecrets(secrets?.hash) };
    const content = contentOf(generated, secrets, restart, textsOfHub({ texts: unbounded }, 'home', 'villa'));
    return {
      resource: { ...resource, ...(this.status && { status: this.status }) },
      content,
      policy: { strategy, autoRestart: this.autoRestart },
    };
  }

  /** Returns the secrets for which a pod is started; with `autoRestart: false` they stay. */
  private restartSecrets(present: string | undefined): string | undefined {
    const annotations = this.configMaps.get('villa-configuration')?.metadata.annotations;
    return this.autoRestart ? present : (annotations?.[operatorAnnotations.restartSecretsHash] ?? present);
  }

  /** Starts the hub for the first time, with this content. */
  begin({ content }: DesiredContent): void {
    const { configuration: hash, secrets } = content.marker;
    this.write('villa-configuration', {
      annotations: {
        [operatorAnnotations.contentHash]: hash,
        [operatorAnnotations.restartHash]: hash,
        ...(secrets !== undefined && { [operatorAnnotations.restartSecretsHash]: secrets }),
      },
      data: { ...entriesFor(content.files, hash), [HASH_FILE]: hash },
    });
    this.followRestart();
    this.events.length = 0;
  }

  /** Starts a new process of the operator. */
  operator(): Operator {
    const given = this.services();
    const records = new ConfigurationRecords(given);
    const loads = new LoadJobs(given, records);
    const contact = () => Promise.resolve({ client: this.client });
    const restart = () => {
      if (isHeld(this.hub)) return Promise.resolve('held' as const);
      this.step('delete pod');
      this.restart();
      return Promise.resolve('deleted' as const);
    };
    const reconciler = new ConfigurationReconciler(given, { contact }, { restart }, records, loads);
    return {
      close: () => loads.close(),
      sync: (desired, forced = false) =>
        reconciler.sync(
          desired,
          this.isUsable ? { hub: this.hub, client: this.client } : { hub: this.hub, unusable: AWAY },
          forced,
        ),
    };
  }

  /**
   * Reconciles until the hub has the content or the operator has given up. A killed process is followed by a
   * new one.
   */
  async settle(desired: DesiredContent, first = this.operator()): Promise<string> {
    let online = first;
    for (let round = 0; round < 60; round++) {
      try {
        const outcome = await online.sync(desired);
        this.reported = outcome.status ?? {};
        if (outcome.type !== 'Waiting') return outcome.reason;
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        online.close();
        online = this.operator();
      }
      await this.clock.advance(1_000);
      this.followRestart();
    }
    throw new Error('it does not settle');
  }

  /** Reconciles this many times, a second apart, regardless of the outcomes. Returns the last outcome. */
  async reconcile(desired: DesiredContent, times: number, first = this.operator()): Promise<Outcome> {
    let operator = first;
    let outcome: Outcome | undefined;
    for (let round = 0; round < times; round++) {
      try {
        outcome = await operator.sync(desired);
        this.reported = { ...this.reported, ...outcome.status };
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        operator.close();
        operator = this.operator();
      }
      await this.clock.advance(1_000);
      this.followRestart();
    }
    return outcome!;
  }

  /** Suspends the Hub, which keeps its conditions. */
  suspend(): void {
    const { status, spec } = this.hub;
    const suspended = { type: 'Suspended', status: 'True', reason: 'Suspended', message: '' };
    const conditions = [...status!.conditions!, suspended];
    this.hub = aHub({ spec: { ...spec, suspend: true }, status: { ...status, conditions } as never });
  }

  /**
   * Sets the mistake in the Hub's spec because of which it changes no pod template; undefined corrects it.
   */
  setMistake(message: string | undefined): void {
    this.setProblem(message === undefined ? undefined : { reason: 'InvalidSpec', message });
    this.holdsRollouts = message !== undefined;
  }

  /** Sets a problem that the Hub reports while it continues. */
  setProblem(problem: { readonly reason: string; readonly message: string } | undefined): void {
    this.mistake = problem;
    this.setCondition(this.isRecovery ? 'RecoveryMode' : 'HubRunning');
  }

  /** Reconciles until the operator is killed. */
  async untilKilled(desired: DesiredContent): Promise<void> {
    const online = this.operator();
    for (let round = 0; round < 60; round++) {
      try {
        await online.sync(desired);
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        return online.close();
      }
      await this.clock.advance(1_000);
    }
    throw new Error('it was not killed');
  }

  get text(): string {
    return filesOf(this.configMaps.get('villa-configuration')!.data)['configuration.yaml']!;
  }

  get client(): HubClient {
    return {
      rest: {
        redact: String,
        get: () => Promise.resolve({ version: '2026.11.0', recovery_mode: this.isRecovery }),
        post: (path: string) => {
          if (path.endsWith('check_config')) {
            const errors = this.check(this.text);
            this.log(this.leavesOut(this.text));
            return Promise.resolve({
              result: errors ? 'invalid' : 'valid',
              errors,
              warnings: this.warn(this.text),
            });
          }
          this.step(path.replace('/api/services/', ''));
          if (this.cannotReload) return Promise.reject(new HubFailed('no such platform'));
          this.log(this.leavesOutAtReload(this.text));
          const [domain] = path.replace('/api/services/', '').split('/');
          this.loaded.set(domain!, this.text);
          return Promise.resolve([]);
        },
      },
      connection: {
        onReconnect: () => () => undefined,
        command: (type: string) => {
          if (type === 'system_log/list') return Promise.resolve([...this.logged.values()].reverse());
          if (type === 'integration/setup_info')
            return Promise.resolve([{ domain: 'api', seconds: this.start }]);
          if (type === 'get_services')
            return Promise.resolve({
              input_boolean: { reload: {} },
              template: { reload: {} },
              script: { reload: {} },
            });
          return Promise.reject(new HubRejected('unknown_command', 'Unknown command.'));
        },
      },
      repairIssues: { unsupportedPlatforms: () => Promise.resolve([]) },
      components: { isLoaded: (domain: string) => Promise.resolve(!this.cannotSetUp.has(domain)) },
      entityRegistry: { findNow: () => Promise.resolve({ entity_id: 'script.marker' }) },
      entities: {
        running: () => Promise.resolve(this.hidesMarker ? undefined : { variables: this.marker }),
        reload: (kind: string) => {
          this.step(`${kind}/reload`);
          this.loaded.set(kind, this.text);
          if (kind === 'script') this.marker = this.readsOldFiles ? undefined : this.mountedMarker;
          return Promise.resolve();
        },
      },
    } as unknown as HubClient;
  }

  /**
   * Copies the restart hash to the pod template, as the Hub does. A new hash causes a new pod, which reads
   * the files that are mounted then.
   */
  private followRestart(): void {
    if (this.holdsRollouts) return;
    const { annotations } = this.configMaps.get('villa-configuration')!.metadata;
    const hashes = [
      annotations[operatorAnnotations.restartHash],
      annotations[operatorAnnotations.restartSecretsHash],
    ];
    const restartHash = hashes.filter((hash) => hash !== undefined).join(' ');
    if (restartHash === this.restartHash) return;
    this.restartHash = restartHash;
    this.restart();
  }

  /** Adds an error about the configuration to the hub's log. */
  log(text: string | null, name = 'homeassistant.config'): void {
    if (text === null) return;
    const former = this.logged.get(name);
    this.logged.set(name, {
      name,
      level: 'ERROR',
      message: [...new Set([...(former?.message ?? []), text])].slice(-5),
      source: ['config.py', 345],
      count: (former?.count ?? 0) + 1,
      first_occurred: this.start,
      timestamp: this.start,
    });
  }

  /** Replaces the pod: `prepare-config` sees the files that are mounted then. */
  restart(): void {
    this.pods += 1;
    this.restarts = -1;
    this.podCreated = timestamp(this.clock.now());
    this.begunWith = this.mountedMarker;
    this.podImage = this.image;
    this.readsOldFiles = false;
    this.verdict = undefined;
    this.restartProcess();
  }

  /** Restarts the hub in its pod. */
  restartProcess(): void {
    this.start += 1;
    this.restarts += 1;
    this.containerStarted = timestamp(this.clock.now());
    this.notReadySince = this.containerStarted;
    this.logged.clear();
    this.log(this.leavesOut(this.text));
    this.isCrashing = this.crashesWith(this.text);
    this.isRecovery = !this.isCrashing && this.cannotStartWith(this.text);
    this.setCondition(this.isRecovery ? 'RecoveryMode' : this.isCrashing ? 'PodNotReady' : 'HubRunning');
    this.marker = this.mountedMarker;
    for (const section of ['input_boolean', 'counter', 'template']) this.loaded.set(section, this.text);
    this.events.push('restart');
  }

  private get isUsable(): boolean {
    return !this.isRecovery && !this.isCrashing && !this.hangs;
  }

  /**
   * Sets the conditions as the Hub reports them: the recovery mode takes precedence over the mistake, which
   * then is only in `Stalled`.
   */
  private setCondition(reason: string): void {
    const { mistake } = this;
    const rest = { message: mistake?.message ?? '', lastTransitionTime: this.notReadySince };
    const present = mistake && reason !== 'RecoveryMode' ? mistake.reason : reason;
    const conditions = [
      { type: 'Ready', status: 'False', reason: present, ...rest },
      ...(mistake ? [{ type: 'Stalled', status: 'True', reason: mistake.reason, ...rest }] : []),
    ];
    const restartHeld = mistake?.reason === 'InvalidSpec' ? mistake.reason : undefined;
    this.hub = aHub({ status: { version: '2026.11.0', conditions, restartHeld } as never });
  }

  private get mountedMarker() {
    const configuration = this.configMaps.get('villa-configuration')!.data[HASH_FILE];
    const secrets = this.text.includes('!secret') ? readSecretsYaml(this.secretsYaml ?? '')?.hash : undefined;
    return { configuration, ...(secrets !== undefined && { secrets }) };
  }

  private get templateAnnotations() {
    const [configuration, secrets] = this.restartHash?.split(' ') ?? [];
    return {
      [operatorAnnotations.configHash]: configuration,
      ...(secrets !== undefined && { [operatorAnnotations.secretsHash]: secrets }),
    };
  }

  private get statefulSet() {
    return { metadata: {}, spec: { template: { metadata: { annotations: this.templateAnnotations } } } };
  }

  private get pod() {
    return {
      metadata: {
        name: 'villa-0',
        uid: `pod-${this.pods}`,
        creationTimestamp: this.podCreated,
        annotations: this.templateAnnotations,
      },
      spec: { containers: [{ name: 'hub', image: this.podImage }] },
      status: {
        initContainerStatuses: [
          {
            name: 'prepare-config',
            state: {
              terminated: {
                exitCode: 0,
                message: this.verdict ?? prepareMessage('loaded', this.begunWith),
              },
            },
          },
        ],
        containerStatuses: [this.isCrashing ? this.crashedContainer : this.runningContainer],
      },
    };
  }

  private get runningContainer() {
    return {
      name: 'hub',
      started: !this.hangs,
      restartCount: this.restarts,
      state: { running: { startedAt: this.containerStarted } },
    };
  }

  private get crashedContainer() {
    const message = 'loading\nFatal Python error: Segmentation fault';
    return {
      name: 'hub',
      started: false,
      restartCount: this.restarts + this.ends - 1,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 139, reason: 'Error', message } },
    };
  }

  private services(): Services {
    const metadataOf = (name: string) => this.configMaps.get(name);
    return services({
      texts: {
        run: (task, ...given) => {
          this.readTexts.push(task.name);
          return unbounded.run(task, ...given);
        },
      },
      clock: this.clock,
      cache: {
        watches: () => false,
        get: (kind: string, _namespace: string, name: string) => {
          if (kind === 'ConfigMap') return this.cached(name) as never;
          if (kind === 'Pod') return this.pod as never;
          if (kind === 'StatefulSet') return this.statefulSet as never;
          if (kind === 'HubConfiguration') return this.latest as never;
          return (kind === 'Hub' ? this.hub : undefined) as never;
        },
      },
      secrets: {
        get: () =>
          Promise.resolve(
            this.secretsYaml === undefined ? undefined : new Map([['secrets.yaml', this.secretsYaml]]),
          ),
      },
      cluster: {
        request: () => {
          this.step('refresh');
          return Promise.resolve(undefined as never);
        },
      },
      applier: {
        isOurs: () => true,
        find: ({ kind }, _namespace, name) =>
          Promise.resolve((kind === 'StatefulSet' ? this.statefulSet : metadataOf(name)) as never),
        apply: (_type, manifest: Manifest) => {
          const { name, annotations = {} } = manifest.metadata;
          const { data, binaryData } = manifest as unknown as ConfigMap;
          const present = this.configMaps.get(name);
          if (
            JSON.stringify([present?.metadata.annotations, present?.data, present?.binaryData]) ===
            JSON.stringify([annotations, data, binaryData])
          )
            return Promise.resolve(present as never);
          this.step(`write ${name}`);
          this.write(name, { annotations: { ...annotations }, data, binaryData });
          return Promise.resolve(undefined as never);
        },
        remove: (_type, _owner, name) => {
          this.step(`delete ${name}`);
          this.configMaps.delete(name);
          return Promise.resolve();
        },
      },
    });
  }

  /** Returns a ConfigMap as the operator caches it. */
  private cached(name: string): ConfigMap | undefined {
    const present = this.configMaps.get(name);
    const options = {
      type: builtin.ConfigMap,
      metadataOnly: true,
      annotationPrefix: `${API_GROUP}/`,
      freeze: true,
    };
    return present && normalize<ConfigMap & ClusterObject>(present as never, options);
  }

  private write(
    name: string,
    { annotations, ...entries }: Omit<ConfigMap, 'metadata'> & { annotations: Record<string, string> },
  ): void {
    const metadata = { resourceVersion: String(++this.version), annotations };
    this.configMaps.set(name, { metadata, ...entries });
  }

  private step(what: string): void {
    this.steps += 1;
    if (this.steps === this.killAt) throw new Killed(what);
    this.events.push(what);
  }
}
