import { API_GROUP } from '../../../../operator/kinds/group';
import type { HubIntegrationSpec } from '../../../../operator/kinds/integration';
import type { EventSpec } from '../../../../operator/runtime/event-spec';
import type { Outcome } from '../../../../operator/runtime/outcome';
import {
  IntegrationContexts,
  type IntegrationResource,
} from '../../../../operator/sync/integration/integration-context';
import type { Services } from '../../../../operator/sync/services';
import { IntegrationSync } from '../../../../operator/sync/integration/sync';
import { hubErrorOutcome } from '../../../../operator/sync/hub-connection/hub-errors';
import { redactedOutcome } from '../../../../operator/sync/objects/redaction';
import { removeObject } from '../../../../operator/sync/objects/removal';
import { silentLog } from '../../../cluster/silent-log';
import { objectMetadata } from '../../object-metadata';
import { Integrations } from '../../stand-in-hub/integrations';
import { StandInHub } from '../../stand-in-hub/stand-in-hub';
import { aHub, services } from '../fixtures';

type Spec = Partial<HubIntegrationSpec>;

/** Returns answers as plain texts. */
export const texts = (fields: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, { value }]));

/** A hub with integrations, and the HubIntegrations that describe them, which a test reconciles explicitly. */
export class House {
  readonly hub = new StandInHub();
  readonly integrations = this.hub.attach(new Integrations(this.hub));
  readonly clock = this.hub.clock;
  /** Calls that changed something in the hub, in order. */
  readonly calls = this.hub.operators.events;
  readonly client = this.hub.client();
  readonly resources = new Map<string, IntegrationResource>();
  readonly events: EventSpec[] = [];
  /** Contents of Secrets by name and key. */
  readonly secrets: Record<string, Record<string, string>> = {};
  /** The key of the hashes; undefined when the Secret with it does not exist. */
  key: string | undefined = 'key';
  /** Volume of the hub. */
  volume: string | undefined;
  sync!: IntegrationSync;
  private given!: Services;
  contexts!: IntegrationContexts;
  private readonly requeued = new Set<string>();

  constructor() {
    this.start();
  }

  /** Starts a new process: the memory of the last one is lost. */
  start(): void {
    const bytes = (name: string) =>
      this.secrets[name] &&
      new Map(Object.entries(this.secrets[name]).map(([key, value]) => [key, Buffer.from(value)]));
    this.given = services({
      clock: this.clock,
      cache: {
        list: function* () {},
        get: ((kind: string, _: string, name: string) =>
          kind === 'Hub'
            ? aHub({ status: { volumeID: this.volume } as never })
            : this.resources.get(name)) as never,
        ofHub: (() => this.resources.values()) as never,
      },
      secrets: {
        get: async () => (this.key === undefined ? undefined : new Map([['hash-key', this.key]])),
        find: (async (_: string, name: string) => {
          const found = bytes(name);
          return found && { bytes: found };
        }) as never,
      },
      metrics: { countDrift: () => undefined },
      requeue: (_kind: string, _namespace: string, name: string) => void this.requeued.add(name),
    });
    this.contexts = new IntegrationContexts(this.given);
    this.sync = new IntegrationSync(this.given, this.contexts);
  }

  /** Creates or changes a resource. */
  apply(name: string, spec: Spec, metadata: Partial<IntegrationResource['metadata']> = {}): void {
    const before = this.resources.get(name);
    const generation = (before?.metadata.generation ?? 0) + 1;
    this.resources.set(name, {
      apiVersion: `${API_GROUP}/v1`,
      kind: 'HubIntegration',
      metadata: { ...objectMetadata, name, uid: `uid-of-${name}`, generation, ...metadata },
      spec: { hubRef: { name: 'villa' }, domain: 'demo', ...spec },
      ...(before?.status && { status: before.status }),
    });
  }

  status(name: string): NonNullable<IntegrationResource['status']> {
    return this.resources.get(name)!.status ?? {};
  }

  /** Reconciles once, and lets the operations that it started continue. */
  async reconcile(name: string, fields: { forced?: boolean; dryRun?: boolean } = {}): Promise<Outcome> {
    const resource = this.resources.get(name)!;
    this.requeued.delete(name);
    const outcome = await this.sync
      .sync(resource, this.client, this.context(fields))
      .catch((error: unknown) => hubErrorOutcome(error, 'object'))
      .then((each) => redactedOutcome(each, this.sync.redactorOf(resource, this.client)));
    const { reason, message, type } = outcome;
    const { generation } = resource.metadata;
    const ready = { type: 'Ready', status: type === 'Ready' ? 'True' : 'False', reason, message };
    const conditions = [{ ...ready, observedGeneration: generation, lastTransitionTime: '' }];
    const status = {
      ...resource.status,
      ...outcome.status,
      observedGeneration: generation,
      conditions,
    };
    const present = Object.entries(status).filter(([, value]) => value !== null && value !== undefined);
    this.resources.set(name, {
      ...this.resources.get(name)!,
      status: Object.fromEntries(present),
    });
    this.events.push(...(outcome.events ?? []));
    await this.clock.advance(0);
    return outcome;
  }

  isRequeued(name: string): boolean {
    return this.requeued.has(name);
  }

  /** Reconciles until the resource waits for a time or for something else. */
  async settle(name: string): Promise<Outcome> {
    for (let pass = 0; pass < 100; pass++) {
      const outcome = await this.reconcile(name);
      const isDue = outcome.after !== undefined && outcome.after <= 0;
      if (!isDue && !this.requeued.has(name)) return outcome;
    }
    throw new Error(`${name} does not settle`);
  }

  /** Reconciles until `isSo` returns true, at most a hundred times. */
  async until(name: string, isSo: () => boolean): Promise<void> {
    for (let pass = 0; pass < 100 && !isSo(); pass++) await this.reconcile(name);
    if (!isSo()) throw new Error(`it does not happen to ${name}`);
  }

  remove(name: string, fields: { dryRun?: boolean } = {}) {
    return removeObject(this.given, this.sync, this.resources.get(name)!, this.client, this.context(fields));
  }

  private context({ forced = false, dryRun = false }: { forced?: boolean; dryRun?: boolean }) {
    return { signal: new AbortController().signal, log: silentLog, forced, dryRun };
  }
}
