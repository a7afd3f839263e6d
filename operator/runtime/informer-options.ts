import type { Clock } from '../base/clock';
import type { Logger } from '../base/log';
import type { ApiClient } from './api-client';
import type { NormalizeOptions } from './normalize';
import type { ClusterObject, ResourceType } from './objects';
import type { Change, IndexBy } from './store';

export interface InformerOptions<T extends ClusterObject> extends NormalizeOptions<T> {
  readonly cluster: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  /** Namespace to list; undefined for all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  /**
   * Whether a namespace is selected; objects of other namespaces are not cached. The result must change to
   * true before `Informer.relist` and to false before `Informer.drop`.
   */
  readonly selects?: (namespace: string) => boolean;
  /** Such as `metadata.name=…`: a role that names one object allows such a list. */
  readonly fieldSelector?: string;
  /** Index of the store, for `Store.byIndex`. */
  readonly indexBy?: IndexBy<T>;
  /**
   * Called once per change: synchronously, after the store is updated, in the order of the API server's
   * events. Intermediate states may be skipped; deletion and recreation of an object are never merged. The
   * object is shared with the store and all its readers and must not be changed. An error of the handler is
   * logged.
   */
  readonly onChange: (change: Change<T>) => void;
  /** Called for each failure of the list or the watch, for metrics. */
  readonly onFailure?: (type: ResourceType, error: unknown) => void;
  /** Called when a list proves that the API server was restored from a backup. */
  readonly onRestore?: () => void;
  /**
   * Called when a bookmark is older than the cache: the API server was restored, or it lags behind the one
   * that answered before.
   */
  readonly onOldBookmark?: () => void;
}
