import type { Clock } from '../clock';
import type { Logger } from '../log';
import type { Metrics } from '../metrics';
import type { Applier } from '../runtime/apply';
import type { Cache } from '../runtime/cache';
import type { Priority } from '../runtime/queue';
import type { SecretReader } from '../runtime/secrets';
import type { ApiClient } from '../runtime/api-client';
import type { Settings } from '../settings';

/** What sync modules work with. */
export interface Services {
  readonly cluster: ApiClient;
  readonly cache: Cache;
  readonly applier: Applier;
  readonly secrets: SecretReader;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly settings: Settings;
  /** Throws when this process may not write any more, to the cluster or to a hub: its lease may be another's by now. */
  readonly assertLeader: () => void;
  /** Works a resource again, now: for what ends outside of a pass. A mere look is a `resync`, behind all changes. */
  readonly requeue: (kind: string, namespace: string, name: string, priority?: Priority) => void;
}
