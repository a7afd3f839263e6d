import { stalled } from '../runtime/outcome';
import type { CustomResource } from '../kinds/resource';
import type { SyncModule } from '../runtime/sync-module';

/** For a kind of which this version of the operator has the schema alone: it reports that and changes nothing. */
export const notYetSupported: SyncModule<CustomResource> = {
  sync: ({ kind }) =>
    Promise.resolve(
      stalled(
        'NotYetSupported',
        `This version of the operator does not support ${kind} yet. Nothing is done with the resource.`,
      ),
    ),
};
