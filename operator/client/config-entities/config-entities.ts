import { domainOf } from '../connection/entity-id';
import type { Clock } from '../../base/clock';
import { undefinedIf } from '../../base/undefined-if';
import { entityPayload } from '../connection/answers';
import type { HubConnection } from '../connection/connection';
import type { EntityRegistry } from '../registries/entity-registry';
import { HubFailed, HubRejected, HubUnreachable, isNotFound, withCauseOf500 } from '../connection/errors';
import { SerialQueue } from './serial-queue';
import type { OwnReloadTracker } from './own-reload-tracker';
import type { RestClient } from '../connection/rest';
import { callService } from '../services';
import { type ConfigEntityKind, type EntityPayload } from '../connection/config-entity';

interface RemoveOptions {
  /** Called when the request leaves the queue; if it returns false, nothing is sent. */
  readonly shouldRemove?: () => boolean;
  /** Called before the request is sent, and only if something is removed. */
  readonly prepare?: (() => Promise<void>) | undefined;
}

/**
 * Automations, scenes and scripts of one hub. The hub parses and writes the whole file for each write, so
 * parallel writes to a file gain nothing: each file has a queue with one write in flight. The operator's
 * reloads use that queue too, because a reload that overlaps a removal registers the removed entity again.
 * When the hub does not answer a request, all queued requests fail too.
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

  /**
   * Time at which a write last got no answer, by the monotonic clock: the hub may still execute that write.
   */
  get lastCutAt(): number {
    return this.cutAt;
  }

  /** Starts no further write, and resolves when the writes in flight have ended. */
  async drain(): Promise<void> {
    await Promise.all(Object.values(this.queues).map((queue) => queue.close()));
  }

  /** Reloads the kind's component after the write in flight, before queued writes. */
  async reload(kind: ConfigEntityKind): Promise<void> {
    await this.queues[kind].runNext(async () => {
      this.ownReloads.expect(kind);
      try {
        await callService(this.rest, kind, 'reload');
      } catch (error) {
        // The hub announces a reload before it executes it, so a reload that failed during execution was
        // announced.
        if (!(error instanceof HubFailed)) this.ownReloads.cancel(kind);
        throw error;
      }
    });
  }

  /**
   * Creates or replaces an object. Idempotent. The hub then reloads the object in the background: an accepted
   * payload is not in use yet.
   *
   * @param payload a function is called when the request leaves the queue; if it returns undefined, nothing
   * is written
   * @returns whether the payload was written
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
        await ofFile(
          kind,
          this.rest.post(configPath(kind, id), desired, { timeout: this.rest.writeTimeout }),
        );
        return true;
      } catch (error) {
        if (error instanceof HubUnreachable) this.cutAt = this.clock.monotonic();
        this.ownReloads.cancel(kind, id);
        throw error;
      }
    });
  }

  /**
   * Reads an object from the hub's file. Takes the hub up to 0.4 s with 500 objects. @returns undefined if
   * the file lacks it
   */
  async read(kind: ConfigEntityKind, id: string): Promise<EntityPayload | undefined> {
    const request = this.rest.get(configPath(kind, id), {
      timeout: this.rest.writeTimeout,
      answer: entityPayload,
    });
    return unlessUnknown(ofFile(kind, request));
  }

  /** Like {@link read}, after the writes that were requested before. */
  readAfterWrites(kind: ConfigEntityKind, id: string): Promise<EntityPayload | undefined> {
    return this.queues[kind].run(() => this.read(kind, id));
  }

  /**
   * Removes an object from the hub's file; the hub then unregisters its entity. See `entity-removal.ts` for the cases
   * in which the entity remains.
   *
   * @returns whether the file had the object
   */
  remove(
    kind: ConfigEntityKind,
    id: string,
    { shouldRemove = () => true, prepare }: RemoveOptions = {},
  ): Promise<boolean> {
    return this.queues[kind].run(async () => {
      if (shouldRemove()) await prepare?.();
      if (!shouldRemove()) return false;
      const removal = this.rest.delete(configPath(kind, id), { timeout: this.rest.writeTimeout });
      return (await unlessUnknown(ofFile(kind, removal).then(() => true))) ?? false;
    });
  }

  /**
   * Unregisters the entity of an object that is not in the hub's file. This removes its state and stops an automation.
   */
  async removeRegistration(
    kind: ConfigEntityKind,
    id: string,
    { shouldRemove = () => true, prepare }: RemoveOptions = {},
  ): Promise<void> {
    await this.queues[kind].run(async () => {
      const entity = await this.registry.findToRemove(kind, id);
      if (!entity || (await this.read(kind, id))) return;
      if (shouldRemove()) await prepare?.();
      if (!shouldRemove()) return;
      await this.registry.remove(entity.entity_id);
    });
  }

  /**
   * Reads the live config of an automation or script from the hub's memory, with secrets resolved and
   * blueprints expanded. The hub has no such command for scenes.
   *
   * @returns undefined if the entity does not exist or is disabled
   */
  async running(entityId: string): Promise<EntityPayload | undefined> {
    const kind = domainOf(entityId) as 'automation' | 'script';
    const command = this.connection.command(`${kind}/config`, { entity_id: entityId });
    return (await unlessUnknown(command))?.config;
  }

  /**
   * Expands a blueprint with these inputs. Where a definition that uses the blueprint has keys of its own,
   * they override those of the result.
   *
   * @throws HubFailed there is no such blueprint, or an input is missing
   */
  async expandedBlueprint(
    kind: 'automation' | 'script',
    { path, input }: { readonly path: string; readonly input: object },
  ): Promise<EntityPayload> {
    const answer = await this.connection.command('blueprint/substitute', { domain: kind, path, input });
    return answer.substituted_config;
  }
}

/**
 * Adds the probable cause to an error 500 of a request about an object in the hub's file. The hub answers so
 * while it cannot read the file, and gives no cause.
 */
function ofFile<T>(kind: ConfigEntityKind, request: Promise<T>): Promise<T> {
  const cause = `the hub fails so while it cannot read ${kind}s.yaml: a line that is no YAML, or !secret, which its API does not resolve there. Correct the file`;
  return request.catch((error: unknown) => {
    throw withCauseOf500(error, cause);
  });
}

function configPath(kind: ConfigEntityKind, id: string): string {
  return `/api/config/${kind}/config/${encodeURIComponent(id)}`;
}

/**
 * Settles like `call`, but resolves to undefined for an id that the hub answers with 404 or 400 as unknown. A
 * 404 with another text means that the hub does not serve this part of its API (yet), and is an error.
 */
function unlessUnknown<T>(call: Promise<T>): Promise<T | undefined> {
  return undefinedIf((error) => {
    const isOfApi = error instanceof HubRejected && ['400', '404'].includes(error.code);
    return isOfApi ? error.message === 'Resource not found' : isNotFound(error);
  }, call);
}
