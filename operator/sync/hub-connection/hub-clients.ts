import type { HubAccess, HubClient } from '../../client/hub-client';
import { HubClientCache } from '../../client/hub-client-cache';
import { hub as definition, type Hub } from '../../kinds';
import { isUsable } from '../../kinds/hub';
import { userAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import { defaulted } from '../../kinds/schema';
import { DELETED_HUBS_CHECK, DEPENDENCY_REQUEUE, HUB_NOT_READY_POLL } from '../../base/limits';
import { type Outcome, waiting } from '../../runtime/outcome';
import { resolveAccess } from './token';
import { HealthMonitor } from './health-monitor';
import { valuesIn } from './hub-redactor';
import { PerHub } from './per-hub';
import type { Services } from '../services';
import { Timer } from '../../base/timer';

const { bootstrap, external } = definition.spec.properties;
/**
 * The fields of a Hub that its access depends on. Every reconcile of a child fills in their defaults, and the
 * whole spec has a hundred more fields.
 */
const accessSchema = { type: 'object', properties: { bootstrap, external } } as const;

/** The client of a hub, or a sentence about the missing prerequisite. */
type Contacted = { readonly client: HubClient } | { readonly missing: string };

export interface Usable {
  readonly hub: Hub;
  readonly client: HubClient;
}

/** A usable hub, or the outcome of a child that waits for the hub. */
export type Reached = Usable | { readonly outcome: Outcome };

/**
 * The clients with which children reach their hub: by the name in `hubRef`, with the token in the Hub's
 * Secret.
 */
export class HubClients {
  /** Requeues the Hub when the answer of its hub changes. */
  readonly healthMonitor: HealthMonitor;
  private readonly hubs: HubClientCache;
  /** The key of the client of each Hub that has one. */
  private readonly known: PerHub<string>;
  private readonly check: Timer;
  private isHeldBy: (hub: Hub) => boolean = () => false;
  /**
   * The content of the Secret whose values each client redacts. A changed Secret has a new content object.
   */
  private readonly redacted = new WeakMap<HubClient, ReadonlyMap<string, string>>();

  constructor(private readonly services: Services) {
    const { clock, log, assertLeader, settings } = services;
    const writeTimeout = settings.hubWriteTimeout * 1_000;
    this.hubs = new HubClientCache({ clock, log, assertLeader, writeTimeout });
    this.healthMonitor = new HealthMonitor(services);
    this.known = new PerHub(services.cache, (key) => this.hubs.forget(key));
    this.check = new Timer(clock);
  }

  /**
   * The client of a hub. It is reused while address and token are unchanged.
   *
   * @param forced a full reconcile of the Hub was requested: a token that the hub rejected is sent again
   */
  client(hub: Hub, access: HubAccess, forced = false): HubClient {
    if (this.known.get(hub) === undefined) this.known.set(hub, clientKey(hub));
    if (!this.check.pending) this.scheduleCheck();
    const client = this.hubs.get(clientKey(hub), access);
    if (forced) client.admitRejectedToken(hub.metadata.annotations?.[userAnnotations.reconcileAt] ?? '');
    return client;
  }

  /** Closes the clients of deleted Hubs at intervals: otherwise they would try to reconnect forever. */
  private scheduleCheck(): void {
    this.check.set(DELETED_HUBS_CHECK, () => {
      this.known.removeGone();
      if (this.known.size > 0) this.scheduleCheck();
    });
  }

  /** The client of a Hub if it has one. */
  existing(namespace: string, name: string): HubClient | undefined {
    const hub = this.find(namespace, name);
    return hub && this.hubs.existing(clientKey(hub));
  }

  /** All existing clients. */
  get all(): readonly HubClient[] {
    return this.hubs.clients;
  }

  close(): void {
    this.check.clear();
    this.healthMonitor.close();
    this.hubs.close();
  }

  /** Sets the condition under which a hub is given nothing new. */
  holdWhile(isHeld: (hub: Hub) => boolean): void {
    this.isHeldBy = isHeld;
  }

  /** Reports whether the hub should be given nothing new, since it is about to be restarted. */
  isHeld(hub: Hub): boolean {
    return this.isHeldBy(hub);
  }

  find(namespace: string, name: string): Hub | undefined {
    return this.services.cache.get<Hub>('Hub', namespace, name);
  }

  /** The client of a usable hub, or the outcome of a resource that waits for a prerequisite. */
  async reach(namespace: string, name: string): Promise<Reached> {
    const hub = this.find(namespace, name);
    if (!hub) return { outcome: hubNotFound(name, { requestPending: true }) };
    const found = await this.access(hub);
    if ('missing' in found) {
      const message = `Waiting for the API token of the Hub ${name}: ${found.missing}`;
      return { outcome: waiting('TokenNotAvailable', message, DEPENDENCY_REQUEUE, { requestPending: true }) };
    }
    if (!isUsable(hub)) return { outcome: hubNotReady(name) };
    return { hub, client: await this.withRedaction(hub, found.access) };
  }

  /** The client of a hub in any state, since its last known address may respond. */
  async contact(hub: Hub): Promise<Contacted> {
    const found = await this.access(hub);
    if ('missing' in found) {
      // `kubectl delete -f` removes the Secret with the token immediately, but the objects in the hub later.
      // The existing client still has the token.
      const client = hub.metadata.deletionTimestamp ? this.hubs.existing(clientKey(hub)) : undefined;
      return client ? { client } : found;
    }
    if (!found.access.url) return { missing: 'The address of the hub is not known yet.' };
    return { client: await this.withRedaction(hub, found.access) };
  }

  private access(hub: Hub) {
    return resolveAccess(this.services, hub, defaulted(accessSchema, hub.spec), hub.status?.url ?? '');
  }

  /**
   * The client of a hub, which redacts the hub's secrets: the hub resolves `!secret` in live configs and
   * quotes the values in its errors.
   */
  private async withRedaction(hub: Hub, access: HubAccess): Promise<HubClient> {
    const { namespace, name } = hub.metadata;
    const secret = await this.services.secrets.get(namespace, objectNames(name).secrets);
    const client = this.client(hub, access);
    if (secret && this.redacted.get(client) !== secret) {
      this.redacted.set(client, secret);
      client.setSecrets(valuesIn(secret));
    }
    return client;
  }
}

/** The outcome when the Hub of `hubRef` does not exist yet. */
export function hubNotFound(name: string, details?: Parameters<typeof waiting>[3]): Outcome {
  const message = `Waiting for the Hub ${name}: it does not exist.`;
  return waiting('HubNotFound', message, DEPENDENCY_REQUEUE, details);
}

/**
 * The outcome of a child whose hub is not ready. Its message is constant, since otherwise each step of a
 * hub's restart would cause a write of every child. A change of the Hub enqueues the children, and the
 * requeue is a fallback.
 */
function hubNotReady(name: string): Outcome {
  const [shortest, longest] = HUB_NOT_READY_POLL;
  const after = shortest + Math.random() * (longest - shortest);
  const message = `Waiting for the Hub ${name}. Its conditions say what it waits for.`;
  return waiting('HubNotReady', message, after, { priority: 'resync', requestPending: true });
}

/**
 * Key of a Hub's client. It has the uid, so that a Hub that is created again under the name of a deleted one
 * gets a new client.
 */
const clientKey = ({ metadata: { namespace, name, uid } }: Hub): string => `${namespace}/${name}/${uid}`;
