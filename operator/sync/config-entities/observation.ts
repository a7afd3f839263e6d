import type { EntityPayload } from '../../client/connection/config-entity';
import type { RegistryEntity } from '../../client/connection/api-types';
import type { FieldDiff } from '../objects/field-diff';

/** The hub has a different definition. `kept` are its keys that the spec cannot express. */
export interface Different {
  readonly type: 'Different';
  readonly entity?: RegistryEntity | undefined;
  readonly differences: readonly FieldDiff[];
  readonly kept: EntityPayload;
  /**
   * The definition in the place that the object should not be in, which the hub uses. It is removed from that
   * place even if nothing differs.
   */
  readonly elsewhere?: EntityPayload | undefined;
}

/** The hub runs the desired payload. */
export interface InUse {
  readonly type: 'InUse';
  readonly entity: RegistryEntity;
  /**
   * The payload as the hub runs it, with its blueprint filled in. Undefined if the hub does not return it.
   */
  readonly running?: EntityPayload | undefined;
}

/** The state of the object of a resource in the hub. */
export type Observation =
  | Different
  | ({ readonly entity?: RegistryEntity | undefined } & (
      | { readonly type: 'Absent'; readonly differences: readonly FieldDiff[] }
      /** The definition is in the place that it should not be in, and may be in the right place too. */
      | { readonly type: 'Elsewhere'; readonly definition: EntityPayload }
      /**
       * The desired payload is in the hub's file, but not in use. `disabled`: the hub has disabled the former
       * payload as invalid.
       */
      | { readonly type: 'NotLoaded'; readonly disabled?: boolean }
      /** The hub has loaded the desired payload and disabled it for this reason. */
      | { readonly type: 'Invalid'; readonly error: string }
      /**
       * The hub uses the desired payload. `verifyAfter`: milliseconds until the file may be read to verify
       * the parts that the hub does not return.
       */
      | (InUse & { readonly verifyAfter?: number })
    ));
