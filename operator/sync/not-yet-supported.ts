import { stalled } from '../runtime/outcome';
import type { CustomResource } from '../kinds/resource';
import type { SyncModule } from '../runtime/sync-module';

/** For a kind that this version of the operator only knows the schema of: it says so and touches nothing. */
export const notYetSupported: SyncModule<CustomResource> = {
  sync: ({ kind }) =>
    Promise.resolve(
      stalled(
        'NotYetSupported',
        `This version of the operator does not work ${kind} resources yet: nothing is done with it.`,
      ),
    ),
};
