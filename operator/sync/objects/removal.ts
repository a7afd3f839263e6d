import type { HubClient } from '../../client/hub-client';
import type { Clock } from '../../base/clock';
import { HubFailed, HubRejected } from '../../client/connection/errors';
import type { EventSpec } from '../../runtime/event-spec';
import type { Waiting } from '../../runtime/outcome';
import type { ReconcileContext } from '../../runtime/sync-module';
import { hubVolume, isOnOtherVolume, leftOnOtherVolume } from '../hub-pod/hub-volume';
import type { Services } from '../services';
import type { Child, ChildModule } from './child';
import { Operation } from './operation';
import { redactedEvents, redactedOutcome, redactorOf } from './redaction';

/**
 * Applies `deletionPolicy` (rules.md, "Finalizers"). By default a created object is removed and an adopted
 * one is left.
 */
export function shouldDelete({ status, spec: { deletionPolicy } }: Child): boolean {
  return deletionPolicy === 'Delete' || (deletionPolicy === undefined && !status?.['adopted']);
}

/**
 * Removes the object of a deleted resource from the hub, unless it is on another volume or the annotation
 * `dry-run` is set.
 */
export async function removeObject<R extends Child>(
  services: Pick<Services, 'cache'>,
  module: ChildModule<R>,
  resource: R,
  client: HubClient,
  context: ReconcileContext,
): Promise<readonly EventSpec[] | Waiting> {
  const running = module.release?.(resource, client);
  if (running) return running;
  const object = module.objectOf(resource, client);
  const volume = hubVolume(services, resource.metadata.namespace, resource.spec.hubRef.name);
  let removed: readonly EventSpec[] | Waiting = [];
  if (isOnOtherVolume(resource, volume) && !(await module.isOutsideVolume?.(resource, client))) {
    if (object !== undefined) removed = [leftOnOtherVolume(object)];
  } else if (context.dryRun) {
    if (object !== undefined)
      removed = [cleanupSkipped(object, 'nothing is sent with the annotation dry-run')];
  } else {
    removed = await redactedRemoval(module, resource, client, context);
  }
  if (!('type' in removed)) module.forget(resource, client);
  return removed;
}

/** @param object type and id in the hub, such as `automation porch` */
export function cleanupSkipped(object: string, why: string): EventSpec {
  return { type: 'Warning', reason: 'CleanupSkipped', message: `The ${object} stays in the hub: ${why}.` };
}

/**
 * Masks secrets in the result of a removal, and in the hub's message if it fails, since both become events.
 */
async function redactedRemoval<R extends Child>(
  module: ChildModule<R>,
  resource: R,
  client: HubClient,
  context: ReconcileContext,
): Promise<readonly EventSpec[] | Waiting> {
  // The redactor is created only when it is needed, since the removal itself reads Secrets first.
  const redact = (text: string) => redactorOf(module, resource, client)(text);
  try {
    const removed = await module.remove(resource, client, context);
    return 'type' in removed ? redactedOutcome(removed, redact) : redactedEvents(removed, redact);
  } catch (error) {
    if (!module.redactorOf || !(error instanceof HubRejected || error instanceof HubFailed)) throw error;
    throw new HubFailed(redact(error.message));
  }
}

/** The removal of objects of one resource from the hub. */
export class Removal extends Operation {
  /** @param kind kind of the objects, such as `automation` */
  constructor(
    clock: Clock,
    readonly kind: string,
    readonly ids: readonly string[],
  ) {
    super(clock);
  }
}

/** The in-memory state of a resource. */
export interface Removable {
  removal?: Removal | undefined;
}

/**
 * Starts the removal of these objects. A later call takes its result.
 *
 * @returns false while the removal is not done, since the hub unloads the object or works on others
 * @throws the error with which the removal ended
 */
export function ensureRemoved(
  cached: Removable,
  { kind, ids }: Pick<Removal, 'kind' | 'ids'>,
  {
    clock,
    run,
    onEnd,
  }: { readonly clock: Clock; readonly run: () => Promise<void>; readonly onEnd: () => void },
): boolean {
  const present = cached.removal;
  if (present?.kind !== kind || present.ids.join() !== ids.join()) {
    cached.removal = new Removal(clock, kind, ids).start(run, onEnd);
    return false;
  }
  if (!present.end) return false;
  cached.removal = undefined;
  if (present.error) throw present.error;
  return true;
}
