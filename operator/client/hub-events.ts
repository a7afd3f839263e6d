import type { HubConnection } from './connection';
import { SharedAttempt } from './shared-attempt';
import type { OwnReloadTracker } from './own-reload-tracker';
import { CONFIG_ENTITY_KINDS, type ConfigEntityKind } from './config-entity';
import { type TriggerEventData } from './api-types';

/** A change in a hub that may concern objects of the operator. */
export type HubEvent =
  /**
   * Another client of the hub reloads a kind or, with `id`, wrote that automation, which reloads it alone. The change
   * takes effect a little later.
   */
  | { readonly type: 'external-reload'; readonly kind: ConfigEntityKind; readonly id?: string }
  /** A reload by any client has ended. For scripts the hub reports each changed script instead, by `id`. */
  | { readonly type: 'reloaded'; readonly kind: ConfigEntityKind; readonly id?: string }
  /** Automations may have been turned on by a service call. */
  | { readonly type: 'automations-turned-on' }
  /** A component was set up. */
  | { readonly type: 'component-loaded'; readonly component: string }
  /** A device appeared. */
  | { readonly type: 'device-added' }
  /** The connection is back: anything may have happened since it was lost. */
  | { readonly type: 'reconnected' };

export type HubEventListener = (event: HubEvent) => void;

const eventTrigger = (id: string, eventType: string | readonly string[], data?: object) => ({
  trigger: 'event',
  id,
  event_type: eventType,
  ...(data && { event_data: data }),
});

// Triggers instead of event subscriptions: the hub filters by the data of the events, so other events are not sent.
const TRIGGERS = [
  ...CONFIG_ENTITY_KINDS.map((domain) =>
    eventTrigger('reload', 'call_service', { domain, service: 'reload' }),
  ),
  eventTrigger('automation', 'automation_reloaded'),
  eventTrigger('scene', 'scene_reloaded'),
  eventTrigger('script', ['service_registered', 'service_removed'], { domain: 'script' }),
  // `homeassistant.turn_on` calls `turn_on` of each domain concerned, which fires an event of its own.
  ...['turn_on', 'toggle'].map((service) =>
    eventTrigger('automations-turned-on', 'call_service', { domain: 'automation', service }),
  ),
  eventTrigger('component-loaded', 'component_loaded'),
  eventTrigger('device-added', 'device_registry_updated', { action: 'create' }),
];

/** The hub's events of {@link HubEvent}, by one subscription. */
export class HubEvents {
  private readonly ownReloads: OwnReloadTracker;
  private readonly listeners = new Set<HubEventListener>();
  private readonly subscription: SharedAttempt<unknown>;

  constructor(connection: HubConnection, ownReloads: OwnReloadTracker) {
    this.subscription = new SharedAttempt(() =>
      connection.subscribe('subscribe_trigger', { trigger: TRIGGERS }, ({ variables }) =>
        this.onTrigger(variables.trigger.id, variables.trigger.event.data),
      ),
    );
    this.ownReloads = ownReloads;
    connection.onReconnect(() => {
      ownReloads.reset();
      this.emit({ type: 'reconnected' });
    });
  }

  /** Calls `listener` for every event after {@link watch} has resolved. Returns a function that removes it. */
  onEvent(listener: HubEventListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Subscribes to the hub's events. @throws HubError the subscription failed; the next call tries again */
  async watch(): Promise<void> {
    await this.subscription.run();
  }

  private onTrigger(id: string, { domain, service, component, service_data: data }: TriggerEventData): void {
    switch (id) {
      case 'reload': {
        const kind = domain as ConfigEntityKind;
        if (this.ownReloads.consume(kind, data?.id)) return;
        return this.emit({ type: 'external-reload', kind, ...(data?.id !== undefined && { id: data.id }) });
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
