import type { BoundedTasks } from '../base/bounded-task';
import type { Clock } from '../base/clock';
import type { Logger } from '../base/log';
import type { Metrics } from '../process/metrics';
import type { Applier } from '../runtime/apply';
import type { Cache } from '../runtime/cache';
import type { Priority } from '../runtime/priority';
import type { SecretReader } from '../runtime/secrets';
import type { ApiClient } from '../runtime/api-client';
import type { Settings } from '../process/settings';

/** The dependencies of sync modules. Each part takes only the members that it uses (`Pick<Services, …>`). */
export interface Services {
  readonly cluster: ApiClient;
  readonly cache: Cache;
  readonly applier: Applier;
  readonly secrets: SecretReader;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly settings: Settings;
  /** Parses texts that come from users and hubs. */
  readonly texts: BoundedTasks;
  /**
   * @throws when this process may no longer write to the cluster or to a hub, since another may hold the
   * lease
   */
  readonly assertLeader: () => void;
  /**
   * Enqueues a resource because of an event between reconciles. Resources with the priority `resync` are
   * reconciled after all changed ones.
   */
  readonly requeue: (kind: string, namespace: string, name: string, priority?: Priority) => void;
}
