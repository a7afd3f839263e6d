import type { RegistryEntries } from '../../client/registries/registry';
import type { ReconcileContext } from '../../runtime/sync-module';
import type { ObjectReconcile } from '../objects/object-sync';
import type { DesiredEntry } from './desired';
import type { CachedEntry, EntryContext } from './entry-contexts';
import type { EntryResource, EntryType } from './entry-type';
import type { Located } from './locate-entry';

/** The inputs of one reconcile of one resource. */
export interface EntryWork extends ObjectReconcile<EntryResource> {
  readonly entryType: EntryType;
  readonly context: ReconcileContext;
  readonly hub: EntryContext;
  readonly cached: CachedEntry;
}

/** One reconcile of one resource whose references are known. */
export interface EntryReconcile extends EntryWork {
  readonly desired: DesiredEntry;
  /** The entities in the spec that the hub does not have. */
  readonly missing: readonly string[];
  readonly entries: RegistryEntries;
  readonly located: Exclude<Located, { type: 'OfOther' | 'Ambiguous' }>;
}
