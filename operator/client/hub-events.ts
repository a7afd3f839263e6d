import type { HubConnection } from './connection';
import { SharedAttempt } from './shared-attempt';
import type { OwnReloadTracker } from './own-reload-tracker';
import { CONFIG_ENTITY_KINDS, type ConfigEntityKind } from './config-entity';
import { type TriggerEventData } from './api-types';

/** What a hub tells of itself that may concern what we keep in it. */
export type HubEvent =
  /** Somebody else reloads a kind; with `id`, only that automation: it was written. What changed is in use a little later. */
  | { readonly type: 'external-reload'; readonly kind: ConfigEntityKind; readonly id?: string }
  /** A reload has ended, anybody's. Scripts tell nothing of theirs, but of each script that it changed, by `id`. */
  | { readonly type: 'reloaded'; readonly kind: ConfigEntityKind; readonly id?: string }
  /** Automations may have been turned on by a service call. */
  | { readonly type: 'automations-turned-on' }
  /** A component was set up. */
  | { readonly type: 'component-loaded'; readonly component: string }
  /** A device appeared. */
  | { readonly type: 'device-added' }
  /** The connection is back: anything may have happened since it was lost. */
  | { readonly type: 'reconnected' };

export type HubEventListener = (signal: HubEvent) => void;
const event = (id: string, eventType: string | readonly string[], data?: object) => ({
  trigger: 'event',
  id,
  event_type: eventType,
  ...(data && { event_data: data }),
});

// Triggers, not events: the hub then looks at each event's data, and a busy house costs us nothing.
const TRIGGERS = [
  ...CONFIG_ENTITY_KINDS.map((domain) => event('reload', 'call_service', { domain, service: 'reload' })),
  event('automation', 'automation_reloaded'),
  event('scene', 'scene_reloaded'),
  event('script', ['service_registered', 'service_removed'], { domain: 'script' }),
  // `homeassistant.turn_on` calls the service of each domain that it concerns, which is announced as well.
  ...['turn_on', 'toggle'].map((service) =>
    event('automations-turned-on', 'call_service', { domain: 'automation', service }),
  ),
  event('component-loaded', 'component_loaded'),
  event('device-added', 'device_registry_updated', { action: 'create' }),
];

/** One subscription for all that is worth knowing of a hub. */
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

  /** Calls `listener` for every signal, once {@link watch} has resolved. */
  onEvent(listener: HubEventListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Resolves once the hub sends its events. */
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

  private emit(signal: HubEvent): void {
    for (const listener of this.listeners) listener(signal);
  }
}
