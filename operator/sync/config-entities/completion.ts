import type { RegistryEntity } from '../../client/connection/api-types';
import { HubRejected } from '../../client/connection/errors';
import type { Hub } from '../../kinds';
import { type Outcome, stalled } from '../../runtime/outcome';
import type { Child } from '../objects/child';
import type { DriftPolicy } from '../objects/drift-policy';
import type { Services } from '../services';
import { type Accepted, inProgress } from './conditions';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';
import type { Observation } from './observation';
import { formerIds } from './ownership';
import { markEntity } from './ownership-label';
import type { Removals } from './removals';

/**
 * The work after the hub has accepted the payload: objects under former ids, the state of the entity, and its
 * label.
 */
export class Completion<R extends Child, S extends ConfigEntitySpec> {
  constructor(
    private readonly entityType: EntityType<R, S>,
    private readonly services: Pick<Services, 'cache' | 'clock' | 'log'>,
    private readonly removals: Pick<Removals<R, S>, 'ensureRemoved'>,
    private readonly drift: DriftPolicy,
  ) {}

  /** Removes the objects under former ids, corrects the state of the entity, then finishes. */
  async finishWithState(
    work: EntityWork<R, S>,
    observation: Observation,
    outcome: (accepted: Accepted) => Outcome,
  ): Promise<Outcome> {
    const isInUse = observation.type === 'InUse';
    const entity = isInUse ? await this.replaceFormer(work, observation.entity) : observation.entity;
    if (entity === 'in progress') return inProgress(this.entityType, work);
    const context = { inUse: isInUse, now: this.services.clock.monotonic() };
    const state = (entity && (await this.entityType.ensureState?.(work, entity, context))) ?? {};
    if (state.left) {
      const { message, after } = state.left;
      return after === undefined
        ? this.drift.reportLeft(work.resource, message)
        : stalled('DriftDetected', message, { after });
    }
    const events = state.corrected === undefined ? [] : [this.drift.reportCorrected(state.corrected)];
    if (isInUse && entity) await this.mark(work, entity);
    const carriedOut = { ...state.status, ...(isInUse && { formerIds: null }) };
    return this.finish(
      work,
      { observation: { ...observation, entity } as Observation, carriedOut, events },
      outcome,
    );
  }

  /**
   * Removes the objects under former ids. The entity then gets the entity id of the former one, to which
   * dashboards refer. The hub could not assign it while both existed.
   */
  private async replaceFormer(
    { resource, client, cached }: EntityWork<R, S>,
    entity: RegistryEntity,
  ): Promise<RegistryEntity | 'in progress'> {
    const ids = formerIds(resource);
    if (ids.length === 0) return entity;
    if (!this.removals.ensureRemoved(resource, client, ids)) return 'in progress';
    const former = cached.formerEntityId;
    cached.formerEntityId = undefined;
    if (former === undefined || !/^_\d+$/.test(entity.entity_id.replace(former, ''))) return entity;
    try {
      await client.entityRegistry.rename(entity.entity_id, former);
      return { ...entity, entity_id: former };
    } catch (error) {
      if (error instanceof HubRejected) return entity; // another entity has taken the entity id
      throw error;
    }
  }

  /**
   * Labels the entity according to `Hub.spec.markManaged`. If the hub rejects the label, the object is kept
   * nevertheless.
   */
  private async mark({ client, resource }: EntityWork<R, S>, entity: RegistryEntity): Promise<void> {
    const { namespace } = resource.metadata;
    const hub = this.services.cache.get<Hub>('Hub', namespace, resource.spec.hubRef.name);
    const mark = resource.status?.['adopted'] ? 'adopted' : 'managed';
    try {
      await markEntity(client, entity, hub?.spec.markManaged === false ? 'none' : mark);
    } catch (error) {
      if (!(error instanceof HubRejected)) throw error;
      const fields = { kind: resource.kind, namespace, name: resource.metadata.name, error };
      this.services.log.warn(fields, 'failed to label entity');
    }
  }

  /** Returns the final outcome and discards the result of the operation, which is part of the outcome. */
  finish(
    { cached }: EntityWork<R, S>,
    accepted: Accepted,
    outcome: (accepted: Accepted) => Outcome,
  ): Outcome {
    const result = outcome(accepted);
    cached.operation = undefined;
    return result;
  }
}
