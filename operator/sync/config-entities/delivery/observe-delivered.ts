import type { Child } from '../../objects/child';
import { diff, unexpressed } from '../diff';
import type { ConfigEntitySpec, EntityType, EntityWork } from '../entity-type';
import { lookAt, type Observation } from '../observe';
import { isAccepted, ownsId } from '../ownership';
import type { DeliveredDefinitions } from './delivered-definitions';

/**
 * As `observe` (`observe.ts`), of a definition that is delivered as a file: the delivered content is known, so no file of the hub is
 * read, but for an object that may be in the hub's own file as well. The hub uses that one then.
 */
export async function observeDelivered<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
  definitions: Pick<DeliveredDefinitions, 'get'>,
): Promise<Observation> {
  const { client, id, payload, hash, cached } = work;
  const { type } = entityType;
  const { entity, live, state } = await lookAt(entityType, work);
  if (mayBeInHubFile(entityType, work)) {
    const stored =
      live?.type === 'Whole' && payload['use_blueprint'] === undefined
        ? live.actual
        : await client.entities.read(type, id);
    if (stored) {
      const differences = diff(entityType, id, stored, payload);
      const kept = unexpressed(entityType, stored);
      // The hub shows secrets of its file in clear: what may be set back is read there.
      const inHubFile =
        differences.length === 0 ? { ...kept, ...payload } : await client.entities.read(type, id);
      if (inHubFile) return { type: 'Different', entity, differences, kept, inHubFile };
    }
  }
  const delivered = definitions.get(type, id);
  const differences = diff(entityType, id, delivered ?? {}, payload);
  if (!delivered) return { type: 'Absent', entity, differences };
  if (differences.length > 0)
    return { type: 'Different', entity, differences, kept: unexpressed(entityType, delivered) };
  const { operation } = cached;
  const isLoaded =
    isAccepted(entityType, work) || (operation?.hash === hash && operation.reload?.ok === true);
  switch (state) {
    case 'equal':
      return { type: 'InUse', entity: entity! };
    case 'matching':
      return isLoaded ? { type: 'InUse', entity: entity! } : { type: 'NotLoaded', entity };
    case 'invalid':
      return isLoaded && live?.type === 'Invalid'
        ? { type: 'Invalid', entity, error: live.error }
        : { type: 'NotLoaded', entity, disabled: true };
    default:
      return { type: 'NotLoaded', entity };
  }
}

/** The operator has not seen yet that only the delivered files have the object. */
const mayBeInHubFile = <R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
): boolean =>
  ownsId(entityType, work) && work.resource.status?.['delivery'] !== 'File' && !work.cached.leftHubFile;
