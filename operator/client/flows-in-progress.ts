import { FollowedCollection } from './collection';
import type { HubConnection } from './connection';
import type { FlowInProgress } from './flow-step';

/** The hub asks for other credentials of an entry. */
export type ReauthListener = (entryId: string) => void;

/** The flows by which the hub asks for other credentials of an entry. A person may answer them in the hub's UI, too. */
export class ReauthFlows {
  /** Flow ids by entry id. */
  private readonly flows: FollowedCollection<Map<string, string>>;
  private readonly listeners = new Set<ReauthListener>();

  constructor(connection: HubConnection) {
    this.flows = new FollowedCollection(connection, {
      subscribe: () =>
        connection.subscribe('config_entries/flow/subscribe', {}, (changes) => {
          for (const { type, flow_id: id, flow } of changes) {
            if (type === 'added' && flow) this.onAdded(flow);
            if (type === 'removed') this.onRemoved(id);
          }
        }),
      fetch: async () => {
        const flows = await connection.command('config_entries/flow/progress');
        return new Map(flows.filter(isReauth).map((flow) => [flow.context.entry_id!, flow.flow_id]));
      },
    });
  }

  /** The id of the flow of an entry; undefined: the hub does not ask. */
  async of(entryId: string): Promise<string | undefined> {
    return (await this.flows.get()).get(entryId);
  }

  onChange(listener: ReauthListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private onAdded(flow: FlowInProgress): void {
    if (!isReauth(flow)) return;
    const entryId = flow.context.entry_id!;
    this.flows.change((flows) => void flows.set(entryId, flow.flow_id));
    this.emit(entryId);
  }

  private onRemoved(flowId: string): void {
    const known = [...(this.flows.lastKnown ?? [])].find(([, id]) => id === flowId);
    this.flows.change((flows) => {
      for (const [entryId, id] of flows) if (id === flowId) flows.delete(entryId);
    });
    if (known) this.emit(known[0]);
  }

  private emit(entryId: string): void {
    for (const listener of this.listeners) listener(entryId);
  }
}

const isReauth = ({ context }: FlowInProgress): boolean =>
  context.source === 'reauth' && context.entry_id !== undefined;
