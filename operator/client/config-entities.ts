import type { HubConnection } from './connection';
import { HubRejected, NotFound } from './errors';
import { Lane } from './lane';
import { WRITE_TIMEOUT_MS, type Rest } from './rest';

/** What the hub keeps in a file that its API writes: `automations.yaml`, `scenes.yaml`, `scripts.yaml`. */
export const CONFIG_ENTITY_KINDS = ['automation', 'scene', 'script'] as const;
export type ConfigEntityKind = (typeof CONFIG_ENTITY_KINDS)[number];

/** A definition in the hub's own form. */
export type EntityBody = Readonly<Record<string, unknown>>;

/**
 * Automations, scenes and scripts of one hub. The hub parses and writes the whole file each time, so parallel writes
 * gain nothing: each file has a lane with one write in flight; files go in parallel.
 */
export class ConfigEntities {
  readonly #rest: Rest;
  readonly #connection: HubConnection;
  readonly #lanes: Readonly<Record<ConfigEntityKind, Lane>> = {
    automation: new Lane(),
    scene: new Lane(),
    script: new Lane(),
  };

  constructor(rest: Rest, connection: HubConnection) {
    this.#rest = rest;
    this.#connection = connection;
  }

  /** Whether writes to that kind's file are under way or wait. */
  isWriting(kind: ConfigEntityKind): boolean {
    return this.#lanes[kind].busy;
  }

  /**
   * Creates or replaces one; without `id` in the body. Idempotent. The hub then reloads it by itself, in the
   * background and without telling: that it was accepted does not mean that it runs.
   *
   * @throws HubRejected the hub's validation text
   */
  async write(kind: ConfigEntityKind, id: string, body: EntityBody): Promise<void> {
    const write = () => this.#rest.post(configPath(kind, id), body, { timeoutMs: WRITE_TIMEOUT_MS });
    await this.#lanes[kind].run(write);
  }

  /** What the file says; undefined: nothing of that id. Costs the hub up to 0.4 s with 500 in the file. */
  async read(kind: ConfigEntityKind, id: string): Promise<EntityBody | undefined> {
    return unlessUnknown(this.#rest.get<EntityBody>(configPath(kind, id), { timeoutMs: WRITE_TIMEOUT_MS }));
  }

  /** Removes one, with its entity. False: it was not there. */
  async remove(kind: ConfigEntityKind, id: string, timeoutMs = WRITE_TIMEOUT_MS): Promise<boolean> {
    const remove = () => this.#rest.delete<{ result: string }>(configPath(kind, id), { timeoutMs });
    return (await unlessUnknown(this.#lanes[kind].run(remove))) !== undefined;
  }

  /**
   * What runs under an entity id, out of the hub's memory; undefined: no such entity, or a disabled one. Secrets are
   * resolved and blueprints expanded. For automations and scripts; the hub offers nothing like it for scenes.
   */
  async running(entityId: `${'automation' | 'script'}.${string}`): Promise<EntityBody | undefined> {
    const kind = entityId.startsWith('script.') ? 'script' : 'automation';
    const command = this.#connection.command<{ config: EntityBody }>(`${kind}/config`, {
      entity_id: entityId,
    });
    return (await unlessUnknown(command))?.config;
  }
}

function configPath(kind: ConfigEntityKind, id: string): string {
  return `/api/config/${kind}/config/${encodeURIComponent(id)}`;
}

/** An unknown id is 404 in some of the hub's answers and 400 in others. */
async function unlessUnknown<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    const unknown =
      error instanceof HubRejected && error.code === '400' && error.message === 'Resource not found';
    if (unknown || error instanceof NotFound) return undefined;
    throw error;
  }
}
