import { isDeepStrictEqual } from 'node:util';
import type { RegistryRecord } from '../../client/connection/api-types';
import type { RegistryType } from '../../client/connection/registry-types';
import { HubTooLarge, HubUnreachable } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import type { Clock } from '../../base/clock';
import { errorOf } from '../../base/errors';
import { API_NOT_LOADED_REQUEUE, DEPENDENCY_REQUEUE } from '../../base/limits';
import type { Logger } from '../../base/log';
import type { Priority } from '../../runtime/priority';
import { Timer } from '../../base/timer';
import type { EntryType } from './entry-types';

/** A resource with an entry in a registry, as far as changes in the hub are concerned. */
export interface WatchedEntry {
  /** Undefined: it has none yet. */
  readonly id: string | undefined;
  /** The entry when it was last as desired. */
  readonly seen: RegistryRecord | undefined;
  readonly isReady: boolean;
  readonly requeue: (priority?: Priority) => void;
}

export interface RegistryWatchOptions {
  readonly client: Pick<HubClient, 'registries'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly entryTypes: readonly EntryType[];
  /** All resources of that registry and hub, as they are now. */
  readonly resources: (type: RegistryType) => Iterable<WatchedEntry>;
}

/** A person who edits in the hub causes several events; one reconcile follows them (milliseconds). */
const QUIET_PERIOD = 300;

/**
 * Converts changes by other clients of the hub's registries to reconciles of the resources that they concern
 * (rules.md, "Drift"). The registry is read once for all of them.
 */
export class RegistryWatch {
  constructor(private readonly options: RegistryWatchOptions) {
    const { client, clock, entryTypes } = options;
    for (const { type } of entryTypes) {
      const timer = new Timer(clock);
      client.registries[type].onChange(() => this.schedule(type, timer, QUIET_PERIOD));
    }
  }

  /** The operator has freed a name or recreated an entry: others may have waited for that, or refer to it by that name. */
  requeueAfterOwnChange(type: RegistryType): void {
    for (const { isReady, requeue } of this.options.resources(type)) if (!isReady) requeue();
    this.requeueDependents(type);
  }

  private schedule(type: RegistryType, timer: Timer, delay: number): void {
    if (timer.pending) return;
    timer.set(delay, () => {
      this.run(type).catch((error: unknown) => {
        if (error instanceof HubUnreachable) return; // a change is reported when the connection is back
        if (error instanceof HubTooLarge) return this.schedule(type, timer, DEPENDENCY_REQUEUE); // logged when it was dropped
        this.options.log.warn({ error: errorOf(error) }, 'failed to read registry');
        this.schedule(type, timer, API_NOT_LOADED_REQUEUE);
      });
    });
  }

  private async run(type: RegistryType): Promise<void> {
    const { client, resources } = this.options;
    const entries = await client.registries[type].entries();
    for (const { id, seen, isReady, requeue } of resources(type)) {
      const present = id === undefined ? undefined : entries.get(id);
      if (!isReady || !isDeepStrictEqual(seen, present)) requeue();
    }
    this.requeueDependents(type);
  }

  /** Dependents refer to entries by name, also to those that people make. */
  private requeueDependents(type: RegistryType): void {
    for (const dependent of this.dependentsOf(type))
      for (const { isReady, requeue } of this.options.resources(dependent))
        requeue(isReady ? 'resync' : 'change');
  }

  /** The registries whose entries refer to those of this one. */
  private dependentsOf(type: RegistryType): RegistryType[] {
    return this.options.entryTypes
      .filter(({ fields }) => Object.values(fields).some((field) => field.refersTo?.entryType.type === type))
      .map((entryType) => entryType.type);
  }
}
