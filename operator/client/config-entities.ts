import type { Clock } from '../clock';
import type { HubConnection } from './connection';
import type { EntityRegistry } from './entity-registry';
import { HubFailed, HubRejected, HubUnreachable, NotFound } from './errors';
import { SerialQueue } from './serial-queue';
import type { OwnReloadTracker } from './own-reload-tracker';
import { WRITE_TIMEOUT, type RestClient } from './rest';
import { callService } from './services';
import { type ConfigEntityKind, type EntityPayload } from './config-entity';

export interface RemoveOptions {
  /** Asked when the request leaves the queue; false: nothing is sent. */
  readonly stillWanted?: () => boolean;
}

/**
 * Automations, scenes and scripts of one hub. The hub parses and writes the whole file for each write, so parallel writes
 * gain nothing: each file has a queue with one write in flight; the files are written in parallel. A reload of ours takes
 * its turn in the same queue, since one that overlaps a removal brings the removed entity back. When the hub does not
 * answer a request, all that wait behind it fail as well.
 */
export class ConfigEntities {
  private readonly queues: Readonly<Record<ConfigEntityKind, SerialQueue>>;
  private cutAt = -Infinity;

  constructor(
    private readonly rest: RestClient,
    private readonly connection: HubConnection,
    private readonly registry: EntityRegistry,
    private readonly ownReloads: OwnReloadTracker,
    private readonly clock: Clock,
  ) {
    const failFast = (error: unknown) => error instanceof HubUnreachable;
    this.queues = {
      automation: new SerialQueue({ clock, failFast }),
      scene: new SerialQueue({ clock, failFast }),
      script: new SerialQueue({ clock, failFast }),
    };
  }

  /** Whether writes to that kind's file are in flight or queued. */
  isWriting(kind: ConfigEntityKind): boolean {
    return this.queues[kind].busy;
  }

  /** When a write last got no answer, by the monotonic clock: the hub may carry it out later. */
  get lastCutAt(): number {
    return this.cutAt;
  }

  /** Starts no further request; resolves when those in flight have ended. */
  async drain(): Promise<void> {
    await Promise.all(Object.values(this.queues).map((queue) => queue.close()));
  }

  /** Reloads the kind's component while no write of ours is in flight, ahead of those that are queued. */
  async reload(kind: ConfigEntityKind): Promise<void> {
    await this.queues[kind].runNext(async () => {
      this.ownReloads.expect(kind);
      try {
        await callService(this.rest, kind, 'reload');
      } catch (error) {
        // A reload that failed midway was announced before; any other never came that far.
        if (!(error instanceof HubFailed)) this.ownReloads.cancel(kind);
        throw error;
      }
    });
  }

  /**
   * Creates or replaces an object. Idempotent. The hub then reloads it in the background: that it accepted the payload
   * does not mean that it is in use.
   *
   * @param payload a function is called when the request leaves the queue; undefined: nothing is written any more
   * @returns whether it was written
   * @throws HubRejected with the hub's validation error
   */
  write(
    kind: ConfigEntityKind,
    id: string,
    payload: EntityPayload | (() => EntityPayload | undefined),
  ): Promise<boolean> {
    return this.queues[kind].run(async () => {
      const desired = typeof payload === 'function' ? payload() : payload;
      if (!desired) return false;
      this.ownReloads.expect(kind, id);
      try {
        await this.rest.post(configPath(kind, id), desired, { timeout: WRITE_TIMEOUT });
        return true;
      } catch (error) {
        if (error instanceof HubUnreachable) this.cutAt = this.clock.monotonic();
        this.ownReloads.cancel(kind, id);
        throw error;
      }
    });
  }

  /** The object in the hub's file; undefined: the file has none. Takes the hub up to 0.4 s with 500 objects. */
  async read(kind: ConfigEntityKind, id: string): Promise<EntityPayload | undefined> {
    return unlessUnknown(this.rest.get<EntityPayload>(configPath(kind, id), { timeout: WRITE_TIMEOUT }));
  }

  /**
   * Removes an object from the hub's file; the hub then unregisters its entity. See `entity-removal.ts` for what that
   * leaves behind.
   *
   * @returns whether the file had the object
   */
  remove(
    kind: ConfigEntityKind,
    id: string,
    { stillWanted = () => true }: RemoveOptions = {},
  ): Promise<boolean> {
    return this.queues[kind].run(async () => {
      if (!stillWanted()) return false;
      const removal = this.rest.delete<{ result: string }>(configPath(kind, id), { timeout: WRITE_TIMEOUT });
      return (await unlessUnknown(removal)) !== undefined;
    });
  }

  /** Unregisters the entity of an object that the hub's file does not have. Its state goes, and an automation stops. */
  async removeRegistration(
    kind: ConfigEntityKind,
    id: string,
    { stillWanted = () => true }: RemoveOptions = {},
  ): Promise<void> {
    await this.queues[kind].run(async () => {
      const entity = await this.registry.findNow(kind, id);
      if (!entity || (await this.read(kind, id)) || !stillWanted()) return;
      await this.registry.remove(entity.entity_id);
    });
  }

  /**
   * The live config of an automation or script, from the hub's memory, with secrets resolved and blueprints expanded;
   * undefined: no such entity, or a disabled one. The hub offers no such command for scenes.
   */
  async running(entityId: string): Promise<EntityPayload | undefined> {
    const kind = entityId.slice(0, entityId.indexOf('.')) as 'automation' | 'script';
    const command = this.connection.command(`${kind}/config`, {
      entity_id: entityId,
    });
    return (await unlessUnknown(command))?.config;
  }

  /**
   * Expands a blueprint with these inputs. The keys of a definition that uses it override those of the result.
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
