import type { HubConnection } from './connection/connection';
import { SharedAttempt } from './connection/shared-attempt';
import type { OwnReloadTracker } from './config-entities/own-reload-tracker';
import { CONFIG_ENTITY_KINDS, type ConfigEntityKind } from './connection/config-entity';
import type { TriggerEventData } from './connection/api-types';
import type { Events } from './connection/commands';
import { isUnknownCommand } from './connection/errors';

/** A change in a hub that may affect objects of the operator. */
export type HubEvent =
  /**
   * Another client of the hub reloads a kind. With `id`, it wrote that automation, which reloads only that
   * one. The change takes effect a little later.
   */
  | { readonly type: 'external-reload'; readonly kind: ConfigEntityKind; readonly id?: string }
  /**
   * A reload by any client has ended. For scripts, the hub reports each changed script instead, with its
   * `id`.
   */
  | { readonly type: 'reloaded'; readonly kind: ConfigEntityKind; readonly id?: string }
  /** A service call may have turned automations on. */
  | { readonly type: 'automations-turned-on' }
  /** A component was set up. */
  | { readonly type: 'component-loaded'; readonly component: string }
  /** A device appeared. */
  | { readonly type: 'device-added' }
  /** The connection is restored. Any change may have happened since it was lost. */
  | { readonly type: 'reconnected' }
  /** Some changes were not seen, although the connection was not lost. */
  | { readonly type: 'changes-missed' };

export type HubEventListener = (event: HubEvent) => void;

type TriggerEvent = keyof Pick<
  Events,
  | 'automation_reloaded'
  | 'call_service'
  | 'component_loaded'
  | 'device_registry_updated'
  | 'scene_reloaded'
  | 'service_registered'
  | 'service_removed'
>;

interface EventTrigger {
  readonly id: string;
  readonly event_type: readonly TriggerEvent[];
  /** Values that the event's data must have. */
  readonly event_data?: Readonly<Partial<Record<keyof TriggerEventData, string>>>;
}

const eventTrigger = (
  id: string,
  eventType: TriggerEvent | readonly TriggerEvent[],
  data?: EventTrigger['event_data'],
): EventTrigger & { readonly trigger: 'event' } => ({
  trigger: 'event',
  id,
  event_type: [eventType].flat(),
  ...(data && { event_data: data }),
});

// Triggers are used instead of event subscriptions, because the hub then filters by the event's data and does
// not send other events.
const TRIGGERS = [
  ...CONFIG_ENTITY_KINDS.map((domain) =>
    eventTrigger('reload', 'call_service', { domain, service: 'reload' }),
  ),
  eventTrigger('automation', 'automation_reloaded'),
  eventTrigger('scene', 'scene_reloaded'),
  eventTrigger('script', ['service_registered', 'service_removed'], { domain: 'script' }),
  // `homeassistant.turn_on` calls `turn_on` of each affected domain, which fires an event of its own.
  ...['turn_on', 'toggle'].map((service) =>
    eventTrigger('automations-turned-on', 'call_service', { domain: 'automation', service }),
  ),
  eventTrigger('component-loaded', 'component_loaded'),
  eventTrigger('device-added', 'device_registry_updated', { action: 'create' }),
];

/** Reports the events of a hub as {@link HubEvent}, with a single subscription. */
export class HubEvents {
  private readonly ownReloads: OwnReloadTracker;
  private readonly listeners = new Set<HubEventListener>();
  private readonly subscription: SharedAttempt<unknown>;

  constructor(connection: HubConnection, ownReloads: OwnReloadTracker) {
    this.subscription = new SharedAttempt(() => this.subscribe(connection));
    this.ownReloads = ownReloads;
    connection.onReconnect(() => {
      ownReloads.reset();
      this.emit({ type: 'reconnected' });
    });
    connection.onMissedChanges(() => this.emit({ type: 'changes-missed' }));
  }

  /**
   * Calls `listener` for every event after {@link watch} has resolved. @returns a function that removes the
   * listener
   */
  onEvent(listener: HubEventListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Subscribes to the hub's events. @throws HubError the subscription failed; the next call tries again */
  async watch(): Promise<void> {
    await this.subscription.run();
  }

  private async subscribe(connection: HubConnection): Promise<void> {
    try {
      await connection.subscribe('subscribe_trigger', { trigger: TRIGGERS }, ({ variables }) =>
        this.onTrigger(variables.trigger.id, variables.trigger.event.data),
      );
    } catch (error) {
      if (!isUnknownCommand(error)) throw error;
      await this.subscribeToAll(connection);
    }
  }

  /**
   * For a hub that does not offer triggers to clients: it sends all events of the types, and the operator
   * filters them.
   */
  private async subscribeToAll(connection: HubConnection): Promise<void> {
    const types = [...new Set(TRIGGERS.flatMap(({ event_type: each }) => each))];
    const attempts = types.map((type) =>
      connection.subscribeEvents(type, (data) => {
        for (const trigger of TRIGGERS) if (fires(trigger, type, data)) this.onTrigger(trigger.id, data);
      }),
    );
    const results = await Promise.allSettled(attempts);
    const failed = results.find((result) => result.status === 'rejected');
    if (!failed) return;
    // All subscriptions are cancelled, because the next attempt creates all of them again.
    for (const result of results) if (result.status === 'fulfilled') await result.value();
    throw failed.reason;
  }

  private onTrigger(id: string, { domain, service, component, service_data: data }: TriggerEventData): void {
    switch (id) {
      case 'reload': {
        const kind = domain as ConfigEntityKind;
        const writtenId = typeof data?.id === 'string' ? data.id : undefined;
        if (this.ownReloads.consume(kind, writtenId)) return;
        return this.emit({
          type: 'external-reload',
          kind,
          ...(writtenId !== undefined && { id: writtenId }),
        });
      }
      case 'script':
        return this.emit({ type: 'reloaded', kind: id, ...(service !== undefined && { id: service }) });
      case 'automation':
      case 'scene':
        return this.emit({ type: 'reloaded', kind: id });
      case 'component-loaded':
        return this.emit({ type: id, component: component ?? '' });
      case 'automations-turned-on':
      case 'device-added':
        return this.emit({ type: id });
    }
  }

  private emit(event: HubEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}

function fires(
  { event_type: types, event_data: expected = {} }: EventTrigger,
  type: TriggerEvent,
  data: TriggerEventData,
) {
  const fields = Object.entries(expected) as [keyof TriggerEventData, string][];
  return types.includes(type) && fields.every(([field, value]) => data[field] === value);
}
