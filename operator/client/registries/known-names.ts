import { FollowedCollection } from '../connection/collection';
import type { TriggerEventData } from '../connection/api-types';
import { templateText } from '../connection/answers';
import type { HubConnection } from '../connection/connection';
import type { RestClient } from '../connection/rest';
import { listServices } from '../services';

/** Types of ids in a definition. */
export type ReferenceType = 'action' | 'area' | 'device' | 'entity' | 'floor' | 'label';

type AppearanceListener = (type: ReferenceType, id: string) => void;

const onEvent = (id: string, eventType: string | readonly string[], data?: object) => ({
  trigger: 'event',
  id,
  event_type: [eventType].flat(),
  ...(data && { event_data: data }),
});

// The hub filters the events by their data: of a state, only its first and its last change are sent.
const TRIGGERS = [
  onEvent('state-added', 'state_changed', { old_state: null }),
  onEvent('state-removed', 'state_changed', { new_state: null }),
  // Also updates: a renamed entity is one of them.
  onEvent('entry', 'entity_registry_updated'),
  onEvent('action-added', 'service_registered'),
  onEvent('action-removed', 'service_removed'),
  ...(['device', 'area', 'label', 'floor'] as const).map((type) =>
    onEvent(type, `${type}_registry_updated`, { action: 'create' }),
  ),
];

/** Ids of states that one answer has: the hub renders 256 KiB at most. */
const STATES_PER_ANSWER = 1_000;
/**
 * Ids that two successive answers have in common: a state that is removed between them moves all later ones
 * forward.
 */
const STATES_TWICE = 100;

/** The entities that a hub has, by their states and the entries of its registry, and its actions. */
export class KnownNames {
  /** By `state light.sofa`, `entry light.sofa` and `action light.turn_on`. */
  private readonly names: FollowedCollection<true>;
  private readonly listeners = new Set<AppearanceListener>();
  /** Changes with each name that the hub gets, and with each reading of the whole lists. */
  private version = 0;

  constructor(
    private readonly rest: RestClient,
    private readonly connection: HubConnection,
  ) {
    this.names = new FollowedCollection<true>(connection, {
      name: 'names of entities and actions',
      subscribe: () =>
        connection.subscribe('subscribe_trigger', { trigger: TRIGGERS }, ({ variables: { trigger } }) =>
          this.onTrigger(trigger.id, trigger.event.data),
        ),
      fetch: () => this.list(),
    });
  }

  /** The names with all changes that the hub has reported so far. @throws HubError */
  async read(): Promise<HubNames> {
    const names = await this.names.get();
    return new HubNames(names, this.version);
  }

  /** Calls `listener` when the hub gets something, once {@link read} has resolved. */
  onAppearance(listener: AppearanceListener): void {
    this.listeners.add(listener);
  }

  private async list(): Promise<Map<string, true>> {
    const names = new Map<string, true>();
    this.version += 1;
    for (const id of await this.registered()) names.set(`entry ${id}`, true);
    for (const id of await this.withState()) names.set(`state ${id}`, true);
    for (const [domain, actions] of await listServices(this.connection))
      for (const action of actions) names.set(`action ${domain}.${action}`, true);
    return names;
  }

  /** A function of its own, since the whole list would stay in memory until the other answers arrive. */
  private async registered(): Promise<readonly string[]> {
    const all = await this.connection.command('config/entity_registry/list');
    return all.map(({ entity_id: entityId }) => entityId);
  }

  /** By a template: the states with their attributes may be larger than a message of the hub. */
  private async withState(): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (let start = 0; ; start += STATES_PER_ANSWER - STATES_TWICE) {
      const end = start + STATES_PER_ANSWER;
      const template = `{{ (states | map(attribute='entity_id') | list)[${start}:${end}] | join(' ') }}`;
      const answer = await this.rest.post('/api/template', { template }, { answer: templateText });
      const ids = answer.split(' ').filter((id) => id !== '');
      for (const id of ids) found.add(id);
      if (ids.length < STATES_PER_ANSWER) return found;
    }
  }

  private onTrigger(trigger: string, data: TriggerEventData): void {
    const { entity_id: entityId = '', domain, service } = data;
    switch (trigger) {
      case 'state-added':
        return this.add('state', 'entity', entityId);
      case 'state-removed':
        return this.names.change(`state ${entityId}`, undefined);
      case 'entry':
        return this.onEntry(data);
      case 'action-added':
        return this.add('action', 'action', `${domain}.${service}`);
      case 'action-removed':
        return this.names.change(`action ${domain}.${service}`, undefined);
      case 'device':
      case 'area':
      case 'label':
      case 'floor':
        return this.announce(trigger, data[`${trigger}_id`] ?? '');
    }
  }

  private onEntry({ action, entity_id: entityId = '', old_entity_id: formerId }: TriggerEventData): void {
    if (action === 'remove') return this.names.change(`entry ${entityId}`, undefined);
    if (action === 'update' && formerId === undefined) return;
    if (formerId !== undefined) this.names.change(`entry ${formerId}`, undefined);
    this.add('entry', 'entity', entityId);
  }

  private add(prefix: 'state' | 'entry' | 'action', type: ReferenceType, id: string): void {
    this.version += 1;
    this.names.change(`${prefix} ${id}`, true);
    this.announce(type, id);
  }

  private announce(type: ReferenceType, id: string): void {
    for (const listener of this.listeners) listener(type, id);
  }
}

/** The names of one time. */
class HubNames {
  /** @param version equal as long as the hub gets no further name */
  constructor(
    private readonly names: ReadonlyMap<string, true>,
    readonly version: number,
  ) {}

  hasEntity(id: string): boolean {
    return this.names.has(`state ${id}`) || this.names.has(`entry ${id}`);
  }

  hasAction(id: string): boolean {
    return this.names.has(`action ${id}`);
  }

  /** The other entities, each once. */
  *entitiesBut(entityId: string): Generator<string> {
    for (const name of this.names.keys()) {
      const id = name.slice(name.indexOf(' ') + 1);
      const isSecond = name.startsWith('entry ') && this.names.has(`state ${id}`);
      if (!name.startsWith('action ') && !isSecond && id !== entityId) yield id;
    }
  }

  *actions(): Generator<string> {
    for (const name of this.names.keys()) if (name.startsWith('action ')) yield name.slice('action '.length);
  }
}
