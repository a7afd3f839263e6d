import type { Hub, HubConfiguration } from '../../../../operator/kinds';
import { operatorAnnotations } from '../../../../operator/kinds/annotations';
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
import type { Occupation } from '../../../../operator/sync/hub-pod/pod-restarts';
import type { Services } from '../../../../operator/sync/services';
import { isHeld } from '../../../../operator/sync/still-desired';
import { Configuration } from '../../stand-in-hub/configuration';
import { Killed } from '../../stand-in-hub/operators';
import { StandInHub } from '../../stand-in-hub/stand-in-hub';
import { aHub, services } from '../fixtures';
import { textsOfHub } from '../../../../operator/sync/configuration/generate/texts';
import { unbounded } from '../../../../operator/base/bounded-task';

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
 * A hub with its configuration, and the HubConfiguration that describes it. The pod is replaced when the Hub
 * copies another restart hash.
 */
export class House {
  readonly hub = new StandInHub();
  readonly configuration = this.hub.attach(new Configuration(this.hub));
  readonly clock = this.hub.clock;
  readonly configMaps = this.hub.configMaps;
  readonly pod = this.hub.pod;
  /** Everything that happened, in order. */
  readonly events = this.hub.operators.events;
  readonly client = this.hub.client();
  /** The fields of status in the last outcome. */
  reported: Readonly<Record<string, unknown>> = {};
  /** The tasks by which the operator has read texts other than those of the resource. */
  readonly readTexts: string[] = [];
  /** The resource in the cluster; undefined when it is the reconciled one. */
  latest: HubConfiguration | undefined;
  /** The field `autoRestart` of the HubSecrets. */
  autoRestart = true;
  /** Whether `Hub.spec.delivery` is `File`. */
  readsDelivery = false;
  /** Whether the Hub is suspended. It keeps its conditions. */
  isSuspended = false;
  /** Whether a Hub that is suspended has the condition for that: status is written a moment later. */
  showsSuspension = true;
  /** What a restart of the hub would interrupt. */
  occupation: Occupation | undefined;
  private status: HubConfiguration['status'];
  private mistake: { readonly reason: string; readonly message: string } | undefined;

  /** Sets the status of the resource to that of the last reconcile. */
  setStatus(status: HubConfiguration['status']): void {
    this.status = status;
  }

  /** Gives the hub these values for `!secret`. */
  setSecrets(values: Readonly<Record<string, string>>): void {
    this.configuration.secretsYaml = writeSecretsYaml(new Map(Object.entries(values)), 'salt').text;
  }

  desired(configuration: string, strategy: ReloadStrategy = 'auto', files: Files = {}): DesiredContent {
    const { secretsYaml } = this.configuration;
    const secrets = secretsYaml === undefined ? undefined : readSecretsYaml(secretsYaml);
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
    const annotations = {
      [operatorAnnotations.contentHash]: hash,
      [operatorAnnotations.restartHash]: hash,
      ...(secrets !== undefined && { [operatorAnnotations.restartSecretsHash]: secrets }),
    };
    this.configMaps.store({
      metadata: { name: 'villa-configuration', annotations },
      data: { ...entriesFor(content.files, hash), [HASH_FILE]: hash },
    });
    this.followTemplate();
    this.events.length = 0;
  }

  /** Starts a new process of the operator. */
  operator(): Operator {
    const given = this.services();
    const records = new ConfigurationRecords(given);
    const loads = new LoadJobs(given, records);
    const contact = () => Promise.resolve({ client: this.client });
    const restart = () => {
      if (isHeld(this.hubResource)) return Promise.resolve('held' as const);
      this.hub.operators.step('delete pod');
      this.hub.restart();
      return Promise.resolve('deleted' as const);
    };
    const reconciler = new ConfigurationReconciler(
      given,
      { contact },
      { restart, occupation: () => Promise.resolve(this.occupation) },
      records,
      loads,
    );
    return {
      close: () => loads.close(),
      sync: (desired, forced = false) =>
        reconciler.sync(
          desired,
          this.isUsable
            ? { hub: this.hubResource, client: this.client }
            : { hub: this.hubResource, unusable: AWAY },
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
      const { outcome, next } = await this.round(desired, online);
      online = next;
      if (outcome) this.reported = outcome.status ?? {};
      if (outcome && outcome.type !== 'Waiting') return outcome.reason;
      await this.pass();
    }
    throw new Error('it does not settle');
  }

  /** Reconciles this many times, a second apart, regardless of the outcomes. Returns the last outcome. */
  async reconcile(desired: DesiredContent, times: number, first = this.operator()): Promise<Outcome> {
    let operator = first;
    let last: Outcome | undefined;
    for (let count = 0; count < times; count++) {
      const { outcome, next } = await this.round(desired, operator);
      operator = next;
      if (outcome) this.reported = { ...this.reported, ...outcome.status };
      last = outcome ?? last;
      await this.pass();
    }
    return last!;
  }

  /** Reconciles once. Returns the outcome, and the process that continues: a new one after a kill. */
  private async round(desired: DesiredContent, operator: Operator) {
    try {
      return { outcome: await operator.sync(desired), next: operator };
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      operator.close();
      return { next: this.operator() };
    }
  }

  /** Lets a second pass, after which the Hub may have replaced the pod. */
  private async pass(): Promise<void> {
    await this.clock.advance(1_000);
    this.followTemplate();
  }

  /**
   * Sets the mistake in the Hub's spec because of which it changes no pod template; undefined corrects it.
   */
  setMistake(message: string | undefined): void {
    this.setProblem(message === undefined ? undefined : { reason: 'InvalidSpec', message });
    this.pod.holdsRollouts = message !== undefined;
  }

  /** Sets a problem that the Hub reports while it continues. */
  setProblem(problem: { readonly reason: string; readonly message: string } | undefined): void {
    this.mistake = problem;
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

  /** The text of configuration.yaml that is published. */
  get text(): string {
    return filesOf(this.configMaps.get('villa-configuration')!.data)['configuration.yaml']!;
  }

  private followTemplate(): void {
    if (this.pod.followTemplate()) this.hub.restart();
  }

  private get isUsable(): boolean {
    return !this.configuration.isRecovery && !this.pod.isCrashing && !this.pod.hangs;
  }

  /**
   * The Hub with its conditions: the recovery mode takes precedence over the mistake, which then is only in
   * `Stalled`.
   */
  private get hubResource(): Hub {
    const { mistake, configuration, pod } = this;
    const reason = configuration.isRecovery ? 'RecoveryMode' : pod.isCrashing ? 'PodNotReady' : 'HubRunning';
    const rest = { message: mistake?.message ?? '', lastTransitionTime: pod.containerStarted };
    const present = mistake && !configuration.isRecovery ? mistake.reason : reason;
    const suspended = { type: 'Suspended', status: 'True', reason: 'Suspended', message: '' };
    const conditions = [
      { type: 'Ready', status: 'False', reason: present, ...rest },
      ...(mistake ? [{ type: 'Stalled', status: 'True', reason: mistake.reason, ...rest }] : []),
      ...(this.isSuspended && this.showsSuspension ? [suspended] : []),
    ];
    const restartHeld = mistake?.reason === 'InvalidSpec' ? mistake.reason : undefined;
    return aHub({
      spec: this.isSuspended ? { suspend: true } : {},
      status: { version: '2026.11.0', conditions, restartHeld } as never,
    });
  }

  private services(): Services {
    return services({
      ...this.hub.cluster(),
      texts: {
        run: (task, ...given) => {
          this.readTexts.push(task.name);
          return unbounded.run(task, ...given);
        },
      },
      cache: {
        watches: () => false,
        get: (kind: string, _namespace: string, name: string) => {
          if (kind === 'ConfigMap') return this.configMaps.cached(name) as never;
          if (kind === 'Pod') return this.pod.object as never;
          if (kind === 'StatefulSet') return this.pod.statefulSet as never;
          if (kind === 'HubConfiguration') return this.latest as never;
          return (kind === 'Hub' ? this.hubResource : undefined) as never;
        },
      },
      secrets: {
        get: () => {
          const { secretsYaml } = this.configuration;
          return Promise.resolve(
            secretsYaml === undefined ? undefined : new Map([['secrets.yaml', secretsYaml]]),
          );
        },
      },
    });
  }
}
