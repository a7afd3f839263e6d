import type { KindDefinition } from '../../kinds/kind';
import type { ReadyReason } from '../../kinds/reasons';
import type { EventSpec } from '../../runtime/event-spec';
import type { Services } from '../services';
import { volumeStatus } from '../hub-pod/hub-volume';
import type { Child } from './child';

// The record of an object in the status of its resource (rules.md, "Ownership of objects in the hub"). Status
// is written before anything is sent to the hub, so that the owner of an object is known after a crash.

/** The properties that all kinds of objects have. */
export interface ObjectType {
  /** The hub's name of the kind. */
  readonly type: string;
  readonly definition: KindDefinition;
  /** Field of `status` with the id under which the hub has the object. */
  readonly idField: string;
  /** Reason of the condition `Ready`. */
  readonly reason: ReadyReason;
}

/**
 * The id under which the hub has the object of the resource.
 *
 * @returns undefined when the resource has no object yet
 */
export function recordedId({ idField }: Pick<ObjectType, 'idField'>, { status }: Child): string | undefined {
  return status?.[idField] as string | undefined;
}

/**
 * The resources of a hub whose status records the object with this id. There is only one, unless resources
 * are duplicates.
 */
export function recordedBy<R extends Child>(
  { cache }: Pick<Services, 'cache'>,
  { definition, idField }: Pick<ObjectType, 'definition' | 'idField'>,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  id: string,
): Iterable<R> {
  return cache.ofHubByStatus<R>(definition.kind, namespace, name, idField, id);
}

/**
 * Reports whether the hub has accepted content with this hash before.
 *
 * @param field status field with the hash
 */
export function hasAccepted({ status }: Child, hash: string, field = 'appliedHash'): boolean {
  return status?.[field] === hash;
}

/** The other resources of a kind that belong to the hub of a resource. */
export function othersOf<R extends Child>(
  { cache }: Pick<Services, 'cache'>,
  { kind }: Pick<KindDefinition, 'kind'>,
  { metadata: { namespace, uid }, spec: { hubRef } }: Child,
): R[] {
  return [...cache.ofHub<R>(kind, namespace, hubRef.name)].filter(({ metadata }) => metadata.uid !== uid);
}

/** @param object an object that a user made, such as `automation porch` */
export function adoptedEvent(object: string): EventSpec {
  const message = `The hub already had the ${object}: it now belongs to this resource.`;
  return { type: 'Warning', reason: 'Adopted', message };
}

/**
 * The status of a resource whose object is on another volume.
 *
 * @param fields further fields about the object, besides its id
 */
export function forgottenStatus(
  { idField }: Pick<ObjectType, 'idField'>,
  fields: readonly string[],
  volume: string | undefined,
): Readonly<Record<string, unknown>> {
  const forgotten = [idField, 'adopted', 'appliedHash', ...fields].map((field): [string, null] => [
    field,
    null,
  ]);
  return { ...Object.fromEntries(forgotten), ...volumeStatus(volume) };
}
