import { Reloads } from '../../../operator/client/config-entities/reloads';
import type { ConfigEntityKind, EntityPayload } from '../../../operator/client/connection/config-entity';
import { HubRejected } from '../../../operator/client/connection/errors';
import { isObject } from '../../../operator/base/is-object';
import { readFileText } from '../../../operator/sync/config-entities/delivery/item-text';
import { silentLog } from '../../cluster/silent-log';
import type { ClientParts } from './hub-client';
import type { Living } from './operators';
import type { StandInHub, Wing } from './stand-in-hub';

export const KINDS = ['automation', 'scene', 'script'] as const;
const NOTHING = Symbol('nothing');

interface Entity {
  entity_id: string;
  labels: readonly string[];
  area: string;
}

interface RemoveOptions {
  readonly shouldRemove?: () => boolean;
  readonly prepare?: () => Promise<void>;
}

/** Automations, scenes and scripts of a hub: in its own files, and in those that are delivered to its pod. */
export class Definitions implements Wing {
  /** The definitions in the hub's own files, by kind and id. */
  readonly ownFiles = new Map<string, EntityPayload>();
  readonly loaded = new Map<string, EntityPayload>();
  readonly registry = new Map<string, Entity>();
  /** Milliseconds that the removal from the entity registry takes. */
  unregisterTime = 0;
  /** Milliseconds that a write into the hub's own file takes. */
  postTime = 0;
  /** Milliseconds in which a write without an answer may still be executed. */
  lateWritePeriod = 0;
  /** The error with which the hub answers a removal from its own file. */
  removeError: Error | undefined;
  /**
   * Milliseconds that the hub takes to read its files when its scripts are reloaded. `readAt` has the times
   * when it began.
   */
  readTime = 0;
  readonly readAt: number[] = [];
  /** Whether the hub has read a configuration that it has not accepted. */
  isTried = false;
  /** Whether the hub has read a file of the configuration that does not belong to its marker. */
  hasOtherPart = false;
  /**
   * Part of a line of a delivered file that the hub's YAML loader refuses, after which the hub reads no file
   * at all.
   */
  unreadable: string | undefined;
  /** Name of a delivered object that the hub does not load. */
  omitted: string | undefined;
  /** Names of the objects that the hub disables when it loads them. */
  readonly disabledBy: Record<string, string> = {};
  readonly commands = {
    validate_config: ({ triggers }: { readonly triggers?: unknown }) => ({
      triggers: { error: isBad(triggers) ? 'Invalid trigger bad' : null },
    }),
  };
  private writing = Promise.resolve();

  /** @param accepted hash of the configuration that includes the delivered files */
  constructor(
    private readonly hub: StandInHub,
    private readonly accepted: string,
  ) {}

  /** Gives the hub an empty volume. */
  clear(): void {
    this.ownFiles.clear();
    this.registry.clear();
  }

  /** Makes the hub load the definitions of a kind. */
  load(kind: ConfigEntityKind): void {
    const omitted = this.omitted ?? NOTHING;
    const delivered = this.hub.pod.deliveries.flatMap(([, { data }]) =>
      [...readFileText(kind, data[`${kind}s.yaml`]!)].filter(([, { alias }]) => alias !== omitted),
    );
    const own = [...this.ownFiles].flatMap(([key, payload]) => {
      const [of, id] = key.split(' ') as [string, string];
      return of === kind ? [[id, payload] as const] : [];
    });
    for (const key of [...this.loaded.keys()]) if (key.startsWith(`${kind} `)) this.loaded.delete(key);
    // When two definitions have one id, the hub uses that of its own file.
    for (const [id, payload] of [...delivered, ...own]) {
      const key = `${kind} ${id}`;
      this.loaded.set(key, payload);
      if (!this.registry.has(key))
        this.registry.set(key, { entity_id: `${kind}.${id}`, labels: [], area: '' });
    }
  }

  onStart(): void {
    for (const kind of KINDS) this.load(kind);
  }

  async onReload(kind: ConfigEntityKind): Promise<void> {
    const { clock } = this.hub;
    if (kind === 'script') this.readAt.push(clock.monotonic());
    this.failIfUnreadable();
    this.load(kind);
    if (kind === 'script' && this.readTime > 0) await clock.sleep(this.readTime);
  }

  marker(): object {
    return {
      configuration: this.isTried ? 'another' : this.accepted,
      parts: [['digest', this.hasOtherPart ? 'other' : 'digest']],
    };
  }

  find(kind: string, id: string) {
    const entity = this.registry.get(`${kind} ${id}`);
    const payload = this.loaded.get(`${kind} ${id}`);
    return (
      entity && {
        ...entity,
        disabled_by: null,
        original_name: payload?.['name'],
        original_icon: payload?.['icon'] ?? null,
      }
    );
  }

  running(entityId: string): EntityPayload | undefined {
    return this.loaded.get(this.keyBy(entityId));
  }

  get(path: string): object | undefined {
    if (!path.startsWith('/api/states/')) return undefined;
    const payload = this.running(decodeURIComponent(path.split('/').at(-1)!));
    if (!payload) throw new HubRejected('404', 'unknown');
    return {
      state: 'on',
      attributes: { entity_id: Object.keys(payload['entities'] ?? {}) },
      last_updated: '',
      context: { id: '' },
    };
  }

  /** Answers calls of services, which have no effect. */
  post(): object {
    return [];
  }

  parts(living: Living): ClientParts {
    const { hub } = this;
    const note = (what: string) => hub.operators.step(what);
    const always = () => true;
    return {
      events: { watch: () => Promise.resolve(), onEvent: () => undefined },
      entityRegistry: {
        findToRemove: living((kind: string, id: string) => this.find(kind, id)),
        onChange: () => undefined,
        setLabels: living(async (entityId: string, labels: readonly string[]) => {
          for (const entity of this.registry.values())
            if (entity.entity_id === entityId) entity.labels = labels;
        }),
        rename: async () => undefined,
      },
      labels: { find: async (name: string) => name, ensure: async ({ name }: { name: string }) => name },
      repairIssues: {
        validationErrorOf: async (entityId: string) =>
          this.disabledBy[String(this.running(entityId)?.['alias'])],
        onChange: () => undefined,
      },
      entities: {
        isWriting: () => false,
        lastCutAt: -Infinity,
        read: living((kind: string, id: string) => this.ownFiles.get(`${kind} ${id}`)),
        readAfterWrites: living(async (kind: string, id: string) => {
          await this.writing;
          return this.ownFiles.get(`${kind} ${id}`);
        }),
        write: living(
          async (kind: ConfigEntityKind, id: string, payload: EntityPayload | (() => EntityPayload)) => {
            const desired = typeof payload === 'function' ? payload() : payload;
            if (!isObject(desired)) return false;
            if (isBad(desired['triggers']))
              throw new HubRejected('400', 'Message malformed: Invalid trigger bad');
            note(`POST ${id}`);
            if (this.postTime > 0) await (this.writing = hub.clock.sleep(this.postTime));
            this.ownFiles.set(`${kind} ${id}`, desired);
            this.load(kind);
            return true;
          },
        ),
        remove: living((kind: string, id: string, { shouldRemove = always }: RemoveOptions) => {
          if (this.removeError) throw this.removeError;
          if (!shouldRemove()) return false;
          note(`DELETE ${id}`);
          // The hub unregisters the entity, and registers it again with all its settings at the next reload.
          const key = `${kind} ${id}`;
          if (!this.ownFiles.delete(key)) return false;
          this.loaded.delete(key);
          return true;
        }),
        removeRegistration: living(
          async (kind: string, id: string, { shouldRemove = always, prepare }: RemoveOptions = {}) => {
            if (this.unregisterTime > 0) await hub.clock.sleep(this.unregisterTime);
            if (shouldRemove()) await prepare?.();
            if (!shouldRemove()) return;
            note(`unregister ${id}`);
            this.registry.delete(`${kind} ${id}`);
          },
        ),
      },
      removal: {
        lateWritePeriod: this.lateWritePeriod,
        remove: living(async (kind: string, id: string, { shouldRemove = always }: RemoveOptions) => {
          await this.writing;
          if (!shouldRemove()) return;
          note(`remove ${id}`);
          for (const map of [this.ownFiles, this.loaded, this.registry]) map.delete(`${kind} ${id}`);
        }),
      },
      reloads: new Reloads({
        clock: hub.clock,
        log: silentLog,
        isLoaded: async () => true,
        isWriting: () => false,
        reload: living((kind: string) => hub.reload(kind as ConfigEntityKind)),
      }),
    };
  }

  private keyBy(entityId: string): string {
    return [...this.registry].find(([, { entity_id: id }]) => id === entityId)?.[0] ?? '';
  }

  private failIfUnreadable(): void {
    const { unreadable } = this;
    if (unreadable === undefined) return;
    for (const [name, { data }] of this.hub.pod.deliveries)
      for (const kind of KINDS) {
        const line = data[`${kind}s.yaml`]!.split('\n').findIndex((each) => each.includes(unreadable));
        const path = `/hub-operator/delivery/${kind}s/${name.split('-').at(-1)}/${kind}s.yaml`;
        if (line >= 0)
          throw new HubRejected(
            'service_validation_error',
            `while parsing a flow mapping\n  in "${path}", line ${line + 1}, column 1\nexpected ',' or '}', but got ':'\n  in "${path}", line ${line + 1}, column 9`,
          );
      }
  }
}

const isBad = (triggers: unknown): boolean => JSON.stringify(triggers ?? []).includes('"bad"');
