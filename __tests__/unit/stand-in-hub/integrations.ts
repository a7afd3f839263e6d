import type { FlowRequest } from '../../../operator/client/entries/config-flows';
import { NotFound } from '../../../operator/client/connection/errors';
import type {
  ConfigEntry,
  ConfigSubentry,
  FlowInProgress,
  FlowKind,
  FlowStep,
} from '../../../operator/client/connection/flow-step';
import type { HubEvent } from '../../../operator/client/hub-events';
import type { ClientParts } from './hub-client';
import type { StandInHub, Wing } from './stand-in-hub';

/** A step, or the end of a flow, without the id of the flow. */
export type Step = FlowStep extends infer Each
  ? Each extends { flow_id: string }
    ? Omit<Each, 'flow_id'>
    : never
  : never;

/** Returns the next step for the answers so far. The first call has none. */
export type Script = (answers: readonly object[]) => Step;

interface OpenFlow {
  readonly kind: FlowKind;
  readonly script: Script;
  readonly answers: object[];
}

export function anEntry(fields: Partial<ConfigEntry> = {}): ConfigEntry {
  return {
    entry_id: 'e1',
    domain: 'demo',
    title: 'Demo',
    source: 'user',
    state: 'loaded',
    disabled_by: null,
    reason: null,
    supports_options: false,
    supports_reconfigure: false,
    supported_subentry_types: {},
    error_reason_translation_key: null,
    ...fields,
  };
}

/** A form with plain text fields. */
export const form = (
  fields: readonly string[],
  more: Partial<Extract<Step, { type: 'form' }>> = {},
): Step => ({
  type: 'form',
  step_id: 'user',
  data_schema: fields.map((name) => ({ name, type: 'string', required: true })),
  ...more,
});

/** A flow with one form of plain text fields, followed by its end. */
export const oneForm =
  (fields: readonly string[], end: () => ReturnType<Script>): Script =>
  (answers) =>
    answers.length === 0 ? form(fields) : end();

/** Returns the encoded time with which a ULID begins. */
function ulid(time: number, length = 10): string {
  const digit = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'[time % 32]!;
  return length === 1 ? digit : ulid(Math.floor(time / 32), length - 1) + digit;
}

/** The integrations of a hub: config entries, their subentries, and config flows. */
export class Integrations implements Wing {
  readonly entries = new Map<string, ConfigEntry>();
  /** Ids of entries whose event has not arrived. */
  readonly unreported = new Set<string>();
  subentries: ConfigSubentry[] = [];
  readonly flows = new Map<string, OpenFlow>();
  readonly reauthFlows = new Map<string, string>();
  /** Flows for devices that the hub has discovered. */
  discovered: readonly FlowInProgress[] = [];
  /** Whether the manifest of the integration allows only one entry. */
  isSingle = false;
  /** The integrations that can be set up. */
  domains: readonly string[] = ['demo'];
  entities: { entity_id: string; config_entry_id: string }[] = [];
  /** Returns the script of a flow that is started. */
  scriptOf: (request: FlowRequest) => Script = () => () => ({ type: 'abort', reason: 'not_scripted' });
  /** Awaited before an entry is removed. */
  unload: () => Promise<void> = () => Promise.resolve();
  /** Called during a submit, before its answer arrives. */
  onSubmit: () => void = () => undefined;
  /**
   * Called after a change, before its answer arrives. With a promise that never resolves, the operator is
   * killed at this point.
   */
  onCarriedOut: (call: string) => void | Promise<void> = () => undefined;
  onEnabled: (id: string, enabled: boolean) => void = (id, enabled) =>
    this.set(id, { disabled_by: enabled ? null : 'user', state: enabled ? 'loaded' : 'not_loaded' });
  /**
   * Seconds by which the hub's clock is ahead of the operator's; undefined when its answers do not show the
   * time.
   */
  clockOffset: number | undefined = 0;
  /** Reports an entry to the listeners. */
  private reportEntry: (entry: ConfigEntry) => void = () => undefined;
  /** Reports an event to the listeners. */
  emit: (event: HubEvent) => void = () => undefined;
  readonly commands = { 'config/entity_registry/list': () => this.entities };
  private count = 0;

  constructor(private readonly hub: StandInHub) {}

  /** The flows of a hub are only in its memory. */
  onStart(): void {
    this.flows.clear();
  }

  set(id: string, fields: Partial<ConfigEntry>): void {
    this.entries.set(id, { ...this.entries.get(id)!, ...fields });
  }

  /** Changes an entry as a user. */
  changeEntry(id: string, fields: Partial<ConfigEntry>): void {
    this.set(id, fields);
    this.reportEntry(this.entries.get(id)!);
  }

  /** Removes an entry as a user. */
  removeEntry(id: string): void {
    const entry = this.entries.get(id)!;
    this.entries.delete(id);
    this.reportEntry(entry);
  }

  /** Ends a flow with a new entry. */
  created(fields: Partial<ConfigEntry> = {}): Step {
    const entry = anEntry({ entry_id: `made-${++this.count}`, created_at: this.seconds, ...fields });
    this.entries.set(entry.entry_id, entry);
    return { type: 'create_entry', result: entry };
  }

  addSubentry(type: string, title: string): string {
    const id = `${ulid(this.seconds * 1_000)}${String(++this.count).padStart(16, '0')}`;
    this.subentries.push({ subentry_id: id, subentry_type: type, title });
    return id;
  }

  /** Changes the title of a subentry as a user. */
  changeSubentry(entryId: string, id: string, title: string): void {
    this.subentries = this.subentries.map((each) => (each.subentry_id === id ? { ...each, title } : each));
    this.reportEntry(this.entries.get(entryId)!);
  }

  /** Seconds since 1970 by the hub's clock. */
  private get seconds(): number {
    return this.hub.clock.now() / 1_000 + (this.clockOffset ?? 0);
  }

  private show(id: string, flow: OpenFlow): FlowStep {
    const step = { ...flow.script(flow.answers), flow_id: id } as FlowStep;
    if (step.type === 'create_entry' || step.type === 'abort') this.flows.delete(id);
    return step;
  }

  private open(id: string): OpenFlow {
    const flow = this.flows.get(id);
    if (!flow) throw new NotFound('404', 'Invalid flow specified');
    return flow;
  }

  parts(): ClientParts {
    const called = (text: string) => this.hub.operators.step(text);
    const clockOffset = () => this.clockOffset;
    const listen = () => () => undefined;
    return {
      rest: {
        get clockOffset() {
          return clockOffset();
        },
      },
      events: {
        watch: async () => undefined,
        onEvent: (listener: (event: HubEvent) => void) => {
          this.emit = listener;
          return () => undefined;
        },
      },
      translations: { ofFlow: async () => undefined },
      flowsInProgress: {
        onChange: listen,
        reauthOf: async (id: string) => this.reauthFlows.get(id),
        discovered: async () => this.discovered,
      },
      configEntries: {
        onChange: (listener: (entry: ConfigEntry) => void) => {
          this.reportEntry = listener;
          return () => undefined;
        },
        lastKnown: this.entries,
        all: async () => new Map([...this.entries].filter(([id]) => !this.unreported.has(id))),
        refreshed: async () => this.entries,
        remove: async (id: string) => {
          called(`remove ${id}`);
          await this.unload();
          this.entries.delete(id);
          await this.onCarriedOut(`remove ${id}`);
        },
        isSingle: async () => this.isSingle,
        reload: async (id: string) => called(`reload ${id}`),
        setTitle: async (id: string, title: string) => {
          called(`title ${id} ${title}`);
          this.set(id, { title });
        },
        setEnabled: async (id: string, enabled: boolean) => {
          called(`enabled ${id} ${enabled}`);
          this.onEnabled(id, enabled);
        },
        subentries: async () => [...this.subentries],
        setSubentryTitle: async (_: string, id: string, title: string) => {
          called(`title ${id} ${title}`);
          this.subentries = this.subentries.map((each) =>
            each.subentry_id === id ? { ...each, title } : each,
          );
        },
        removeSubentry: async (_: string, id: string) => {
          called(`remove ${id}`);
          this.subentries = this.subentries.filter((each) => each.subentry_id !== id);
        },
      },
      flows: {
        domains: async () => this.domains,
        start: async (request: FlowRequest) => {
          const id = `flow-${++this.count}`;
          const flow = { kind: request.kind, script: this.scriptOf(request), answers: [] };
          this.flows.set(id, flow);
          const entryId = 'entryId' in request ? ` ${request.entryId}` : '';
          called(`start ${request.kind}${entryId}`);
          const step = this.show(id, flow);
          await this.onCarriedOut(`start ${request.kind}${entryId}`);
          return step;
        },
        submit: async (_: string, id: string, data: object) => {
          const flow = this.open(id);
          called(`submit ${JSON.stringify(data)}`);
          flow.answers.push(data);
          const step = this.show(id, flow);
          this.onSubmit();
          await this.onCarriedOut(`submit ${JSON.stringify(data)}`);
          return step;
        },
        read: async (kind: FlowKind, id: string) => {
          if (!this.flows.has(id))
            this.flows.set(id, {
              kind,
              script: this.scriptOf({ kind: 'config', domain: 'demo' }),
              answers: [],
            });
          return this.show(id, this.open(id));
        },
        abort: async (_: string, id: string) => this.flows.delete(id),
      },
    };
  }
}
