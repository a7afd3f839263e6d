import type { RegistryEntries } from '../../client/registries/registry';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { ObjectReconcile } from '../objects/object-sync';
import type { DesiredEntry } from './desired';
import type { EntryResource } from './entry-type';
import type { CachedEntry } from './hub-contexts';

/** The inputs of one reconcile of one resource. */
export interface EntryWork extends ObjectReconcile<EntryResource> {
  readonly context: ReconcileContext;
  readonly cached: CachedEntry;
}

/** One reconcile of one resource whose references are known. */
export interface EntryReconcile extends EntryWork {
  readonly desired: DesiredEntry;
  readonly entries: RegistryEntries;
}
