import type { HubClient } from '../../client/hub-client';
import type { Clock } from '../../base/clock';
import { errorOf } from '../../base/errors';
import { FINALIZER_TRY } from '../../base/limits';

/** The removal of objects of one resource from the hub. It outlives the reconcile that started it. */
export interface Removal {
  /** The kind of the objects, such as `automation`. */
  readonly kind: string;
  readonly ids: readonly string[];
  /** By the monotonic clock. */
  readonly startedAt: number;
  /** Undefined: it runs. */
  end?: { readonly at: number; readonly error?: Error | undefined };
}

/** The in-memory state of a resource. */
export interface Removable {
  removal?: Removal | undefined;
}

/**
 * Starts the removal of these objects, and takes its result at a later call. False: not done yet, since the hub unloads the
 * object or works on others.
 *
 * @throws the error that the removal ended with; HubUnreachable if the hub no longer answers
 */
export async function ensureRemoved(
  cached: Removable,
  { kind, ids }: Pick<Removal, 'kind' | 'ids'>,
  {
    clock,
    client,
    run,
    onEnd,
    answeredAt = 0,
  }: {
    readonly clock: Clock;
    readonly client: Pick<HubClient, 'rest'>;
    readonly run: () => Promise<void>;
    readonly onEnd: () => void;
    /** When the hub last completed such a request, by the monotonic clock. */
    readonly answeredAt?: number;
  },
): Promise<boolean> {
  const present = cached.removal;
  if (present?.kind !== kind || present.ids.join() !== ids.join()) {
    const removal: Removal = { kind, ids, startedAt: clock.monotonic() };
    cached.removal = removal;
    void run()
      .then(() => undefined, errorOf)
      .then((error) => {
        removal.end = { at: clock.monotonic(), error };
        onEnd();
      });
    return false;
  }
  if (!present.end) {
    // A hub that answers this request is only busy.
    const silentFor = clock.monotonic() - Math.max(present.startedAt, answeredAt);
    if (silentFor >= FINALIZER_TRY)
      await client.rest.get('/manifest.json', { token: null, timeout: FINALIZER_TRY });
    return false;
  }
  cached.removal = undefined;
  if (present.end.error) throw present.end.error;
  return true;
}
