import type { LogRecord } from '../../../operator/client/connection/api-types';
import type { ConfigEntityKind } from '../../../operator/client/connection/config-entity';
import { HubRejected, HubUnreachable } from '../../../operator/client/connection/errors';
import type { HubClient } from '../../../operator/client/hub-client';
import { MARKER_SCRIPT } from '../../../operator/kinds/ids';
import type { Services } from '../../../operator/sync/services';
import { ManualClock } from '../manual-clock';
import { FakePresence } from '../sync/fake-presence';
import { ConfigMaps } from './config-maps';
import { type ClientParts, hubClient } from './hub-client';
import { immortal, type Living, Operators } from './operators';
import { Pod } from './pod';

type Message = Readonly<Record<string, unknown>>;

/** An entity of the registry, as far as its id is needed. */
interface Found {
  readonly entity_id: string;
}

/** A part of the hub that a test attaches, such as its configuration or its integrations. */
export interface Wing {
  /** Called when the process of the hub starts: the wing loads its files. */
  onStart?(): void;
  /** Loads automations, scenes or scripts of the files that the hub reads. */
  onReload?(kind: ConfigEntityKind): void | Promise<void>;
  /** Returns the hashes of the configuration that the pod mounts. */
  hashes?(): object;
  /** Returns the variables of the script that shows which configuration the hub has read. */
  marker?(): object | undefined;
  /** Returns the entity with this id in a file of the hub. */
  find?(kind: string, id: string): Found | undefined;
  /** Returns the definition that the hub runs for an entity. */
  running?(entityId: string): object | undefined;
  /** The commands of the WebSocket that this wing answers, by type. */
  readonly commands?: Readonly<Record<string, (message: Message) => unknown>>;
  /** Answers a request by HTTP. A wing leaves a request to the others with `undefined`. */
  get?(path: string): unknown;
  post?(path: string): unknown;
  /** Returns the members of the client that only this wing has. */
  parts?(living: Living): ClientParts;
}

/**
 * A hub in memory with its pod and its ConfigMaps, as sync modules see it through `HubClient`: starts, files
 * that come into the pod later, reloads, the log, and the script that shows which configuration is read. The
 * wings that a test attaches imitate all else. The server of unit/client/fake-hub.ts stands in below
 * `HubClient`, for the wire.
 */
export class StandInHub {
  readonly clock = new ManualClock();
  readonly operators = new Operators();
  readonly presence = new FakePresence();
  readonly configMaps = new ConfigMaps(this.clock, this.operators);
  readonly pod = new Pod(this.clock, this.configMaps, this.operators);
  /** Integrations that the hub cannot set up. */
  readonly cannotSetUp = new Set<string>();
  /** Number of the present start. */
  start = 0;
  /** Whether another client has replaced those of this hub. */
  isClosed = false;
  private readonly logged = new Map<string, LogRecord>();
  private readonly wings: Wing[] = [];

  /** Adds a wing. A request that several wings could answer is answered by the first one. */
  attach<W extends Wing>(wing: W): W {
    this.wings.push(wing);
    return wing;
  }

  /** Replaces the pod, and so restarts the hub. */
  restart(): void {
    this.pod.mount();
    this.pod.replace(this.first((wing) => wing.hashes?.()) ?? {});
    this.restartProcess();
  }

  /** Restarts the hub in its pod, which has the present files by then. The hub loads all of them. */
  restartProcess(): void {
    this.pod.mount();
    this.start += 1;
    this.pod.startContainer();
    this.presence.restart();
    this.logged.clear();
    for (const wing of this.wings) wing.onStart?.();
    this.operators.events.push('restart');
  }

  /** Adds an error to the hub's log. */
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

  /** Reads the files of the hub again, and loads the objects of a kind in them. */
  async reload(kind: ConfigEntityKind): Promise<void> {
    this.operators.step(`reload ${kind}`);
    for (const wing of this.wings) await wing.onReload?.(kind);
  }

  /** Returns the client of a process of the operator. */
  client(living: Living = immortal): HubClient {
    const find = living((kind: string, id: string) =>
      id === MARKER_SCRIPT
        ? { entity_id: `script.${MARKER_SCRIPT}` }
        : this.first((wing) => wing.find?.(kind, id)),
    );
    const own: ClientParts = {
      rest: {
        assertOpen: () => {
          if (this.isClosed) throw new HubUnreachable('the client of the hub is closed');
        },
        redact: (text: string) => text,
        get: living((path: string) =>
          path === '/manifest.json' ? {} : this.answer(path, (wing) => wing.get?.(path)),
        ),
        post: living((path: string) => this.answer(path, (wing) => wing.post?.(path))),
      },
      connection: {
        onReconnect: () => () => undefined,
        command: living((type: string, message: Message = {}) => this.command(type, message)),
      },
      presence: this.presence,
      components: { isLoaded: (domain: string) => Promise.resolve(!this.cannotSetUp.has(domain)) },
      entityRegistry: { findNow: find, find },
      entities: {
        running: living((entityId: string) => {
          if (entityId !== `script.${MARKER_SCRIPT}`) return this.first((wing) => wing.running?.(entityId));
          const variables = this.first((wing) => wing.marker?.());
          return variables && { variables };
        }),
        reload: living((kind: ConfigEntityKind) => this.reload(kind)),
      },
    };
    return hubClient(own, ...this.wings.map((wing) => wing.parts?.(living) ?? {}));
  }

  /** Returns the parts of the cluster that a process of the operator uses for this hub. */
  cluster(living: Living = immortal): Pick<Services, 'clock' | 'cluster' | 'applier'> {
    const applier = this.configMaps.applier(living);
    return {
      clock: this.clock,
      cluster: { request: async () => this.pod.refresh() } as never,
      applier: {
        ...applier,
        find: ((type: { kind: string }, namespace: string, name: string) =>
          type.kind === 'StatefulSet'
            ? Promise.resolve(this.pod.statefulSet)
            : applier.find(type as never, namespace, name)) as never,
      } as never,
    };
  }

  private command(type: string, message: Message): unknown {
    if (type === 'system_log/list') return [...this.logged.values()].reverse();
    if (type === 'integration/setup_info') return [{ domain: 'api', seconds: this.start }];
    const wing = this.wings.find(({ commands }) => commands && type in commands);
    if (!wing) throw new HubRejected('unknown_command', 'Unknown command.');
    return wing.commands![type]!(message);
  }

  private answer(path: string, answer: (wing: Wing) => unknown): unknown {
    const given = this.first(answer);
    if (given === undefined) throw new Error(`no wing of the stand-in hub answers ${path}`);
    return given;
  }

  private first<T>(answer: (wing: Wing) => T | undefined): T | undefined {
    for (const wing of this.wings) {
      const given = answer(wing);
      if (given !== undefined) return given;
    }
    return undefined;
  }
}
