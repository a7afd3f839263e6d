import { FollowedCollection } from '../connection/collection';
import type { HubConnection } from '../connection/connection';
import type { FlowInProgress } from '../connection/flow-step';

/** Called when a flow that the hub started was added or has ended. */
type FlowListener = (flow: FlowInProgress) => void;

/**
 * The flows that the hub itself started and that wait for a person. With such a flow the hub requests new
 * credentials for an entry, or reports that it has discovered a device.
 */
export class FlowsInProgress {
  /** The flows by id. */
  private readonly flows: FollowedCollection<FlowInProgress>;
  private readonly listeners = new Set<FlowListener>();

  constructor(connection: HubConnection) {
    this.flows = new FollowedCollection<FlowInProgress>(connection, {
      name: 'flows in progress',
      subscribe: () =>
        connection.subscribe('config_entries/flow/subscribe', {}, (changes) => {
          for (const { type, flow_id: id, flow } of changes) {
            if (type === 'added' && flow) this.onAdded(flow);
            if (type === 'removed') this.onRemoved(id);
          }
        }),
      fetch: async () => {
        const flows = await connection.command('config_entries/flow/progress');
        return new Map(flows.map((flow) => [flow.flow_id, flow]));
      },
    });
  }

  /**
   * The id of the flow with which the hub requests new credentials for an entry; undefined if there is none.
   */
  async reauthOf(entryId: string): Promise<string | undefined> {
    const flows = [...(await this.flows.get()).values()];
    return flows.find(({ context }) => context.source === 'reauth' && context.entry_id === entryId)?.flow_id;
  }

  /** The flows of discovered devices of an integration. */
  async discovered(domain: string): Promise<readonly FlowInProgress[]> {
    const flows = [...(await this.flows.get()).values()];
    return flows.filter(({ handler, context }) => handler === domain && !OF_PERSONS.has(context.source));
  }

  onChange(listener: FlowListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private onAdded(flow: FlowInProgress): void {
    this.flows.change(flow.flow_id, flow);
    this.emit(flow);
  }

  private onRemoved(flowId: string): void {
    const known = this.flows.lastKnown?.get(flowId);
    this.flows.change(flowId, undefined);
    if (known) this.emit(known);
  }

  private emit(flow: FlowInProgress): void {
    for (const listener of this.listeners) listener(flow);
  }
}

/**
 * Sources of flows that do not come from a discovery: a user or a program started them, or they belong to an
 * entry.
 */
const OF_PERSONS: ReadonlySet<string> = new Set(['user', 'reauth', 'reconfigure', 'import', 'system']);
