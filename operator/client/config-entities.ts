import type { HubConnection } from './connection';
import { HubRejected, HubUnreachable, NotFound } from './errors';
import { SerialQueue } from './serial-queue';
import type { OwnReloadTracker } from './own-reload-tracker';
import { WRITE_TIMEOUT, type RestClient } from './rest';
import { type ConfigEntityKind, type EntityPayload } from './config-entity';

export interface RemoveOptions {
  /** Milliseconds that the hub may take once it was asked. */
  readonly timeout?: number;
  /** Asked when its turn has come; false: nothing is sent. */
  readonly stillWanted?: () => boolean;
}

/**
 * Automations, scenes and scripts of one hub. The hub parses and writes the whole file each time, so parallel writes
 * gain nothing: each file has a queue with one write in flight; files go in parallel. When the hub does not answer one,
 * all that wait behind it fail as well.
 */
export class ConfigEntities {
  private readonly rest: RestClient;
  private readonly connection: HubConnection;
  private readonly ownReloads: OwnReloadTracker;
  private readonly queues: Readonly<Record<ConfigEntityKind, SerialQueue>>;

  constructor(rest: RestClient, connection: HubConnection, ownReloads: OwnReloadTracker) {
    this.rest = rest;
    this.connection = connection;
    this.ownReloads = ownReloads;
    const failFast = (error: unknown) => error instanceof HubUnreachable;
    this.queues = {
      automation: new SerialQueue({ failFast }),
      scene: new SerialQueue({ failFast }),
      script: new SerialQueue({ failFast }),
    };
  }

  /** Whether writes to that kind's file are under way or wait. */
  isWriting(kind: ConfigEntityKind): boolean {
    return this.queues[kind].busy;
  }

  /** Sends no write any more; resolves when those under way have ended. */
  async drain(): Promise<void> {
    await Promise.all(Object.values(this.queues).map((queue) => queue.close()));
  }

  /**
   * Creates or replaces one; without `id` in the body. Idempotent. The hub then reloads it by itself, in the
   * background and without telling: that it was accepted does not mean that it runs.
   *
   * @param body a function is asked for it when its turn has come; undefined: nothing is to be written any more, and
   *   the answer is false
   * @throws HubRejected the hub's validation text
   */
  write(
    kind: ConfigEntityKind,
    id: string,
    body: EntityPayload | (() => EntityPayload | undefined),
  ): Promise<boolean> {
    return this.queues[kind].run(async () => {
      const wanted = typeof body === 'function' ? body() : body;
      if (!wanted) return false;
      this.ownReloads.expect(kind, id);
      try {
        await this.rest.post(configPath(kind, id), wanted, { timeout: WRITE_TIMEOUT });
        return true;
      } catch (error) {
        this.ownReloads.cancel(kind, id);
        throw error;
      }
    });
  }

  /** What the file says; undefined: nothing of that id. Costs the hub up to 0.4 s with 500 in the file. */
  async read(kind: ConfigEntityKind, id: string): Promise<EntityPayload | undefined> {
    return unlessUnknown(this.rest.get<EntityPayload>(configPath(kind, id), { timeout: WRITE_TIMEOUT }));
  }

  /** Removes one, with its entity. False: it was not there. */
  remove(kind: ConfigEntityKind, id: string, options: RemoveOptions = {}): Promise<boolean> {
    const { timeout = WRITE_TIMEOUT, stillWanted = () => true } = options;
    return this.queues[kind].run(async () => {
      if (!stillWanted()) return false;
      const removal = this.rest.delete<{ result: string }>(configPath(kind, id), { timeout });
      return (await unlessUnknown(removal)) !== undefined;
    });
  }

  /**
   * What runs under an entity id, out of the hub's memory; undefined: no such entity, or a disabled one. Secrets are
   * resolved and blueprints expanded. For automations and scripts; the hub offers nothing like it for scenes.
   */
  async running(entityId: string): Promise<EntityPayload | undefined> {
    const kind = entityId.slice(0, entityId.indexOf('.')) as 'automation' | 'script';
    const command = this.connection.command(`${kind}/config`, {
      entity_id: entityId,
    });
    return (await unlessUnknown(command))?.config;
  }

  /**
   * What a blueprint of the hub comes to with these inputs. The keys of a definition that uses it go over these.
   *
   * @throws HubFailed there is no such blueprint, or an input is missing
   */
  async expandedBlueprint(
    kind: 'automation' | 'script',
    use: { readonly path: string; readonly input: object },
  ): Promise<EntityPayload> {
    const answer = await this.connection.command('blueprint/substitute', {
      domain: kind,
      path: use.path,
      input: use.input,
    });
    return answer.substituted_config;
  }
}

function configPath(kind: ConfigEntityKind, id: string): string {
  return `/api/config/${kind}/config/${encodeURIComponent(id)}`;
}

/**
 * An unknown id is 404 in some of the hub's answers and 400 in others. Another 404 is a hub that does not serve that
 * part of its API (yet): it says nothing of the id.
 */
async function unlessUnknown<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    const isOfApi = error instanceof HubRejected && ['400', '404'].includes(error.code);
    const isUnknown = isOfApi ? error.message === 'Resource not found' : error instanceof NotFound;
    if (isUnknown) return undefined;
    throw error;
  }
}
