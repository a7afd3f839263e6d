import { HubUnreachable } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import { CombinedSignal, rejectionOf, withDeadline } from '../../base/deadline';
import { FINALIZER_TRY } from '../../base/limits';
import type { EventSpec } from '../../runtime/event-spec';
import { type Waiting, waiting } from '../../runtime/outcome';
import { sentence } from '../../base/sentence';
import type { Hub } from '../../kinds';
import type { HubClients } from '../hub-connection/hub-clients';
import { AnswerWatch } from './answer-watch';
import { keepsVolume } from './retain';
import { PerHub } from '../hub-connection/per-hub';
import type { Services } from '../services';

/** The removal of a deleted resource's object from its hub. */
interface Removal {
  /** The uid of the resource. */
  readonly uid: string;
  /** The object according to status, such as `automation porch`. Undefined if status names none. */
  readonly object: string | undefined;
  /** Removes the object. Resolves with events to emit, or with Waiting while the removal is in progress. */
  run(client: HubClient): Promise<readonly EventSpec[] | Waiting>;
  /** Forgets the resource: its finalizer is released although its object may still be in the hub. */
  forget(client: HubClient): void;
}

/**
 * The cleanup before a finalizer is released. It is repeated while the hub answers. A deleted resource never
 * waits for a hub that does not answer: after 5 s its finalizer is released, and an event names the object
 * (rules.md, "Finalizers").
 */
export class HubCleanup {
  private readonly watches: PerHub<AnswerWatch>;
  /** Reconciles and removals in progress, by the uid of the resource. */
  private readonly running = new Map<string, CombinedSignal>();

  constructor(
    private readonly services: Pick<Services, 'cache' | 'clock'>,
    private readonly hubs: Pick<HubClients, 'find' | 'contact' | 'existing'>,
  ) {
    this.watches = new PerHub(services.cache);
  }

  /**
   * Records that a resource is deleted. From now on the hub has 5 s to answer, even if a reconcile of the
   * resource is waiting for it.
   */
  announce(uid: string, namespace: string, name: string): void {
    const hub = this.hubs.find(namespace, name);
    const client = this.hubs.existing(namespace, name);
    if (hub && client) this.watchOf(hub).begin(uid, client);
  }

  /**
   * Runs a reconcile or a removal of a resource. If the resource is deleted and the hub does not answer, the
   * work is abandoned and its signal aborted.
   *
   * @throws HubUnreachable the work was abandoned
   */
  async whileAnswering<T>(
    uid: string,
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const given = new CombinedSignal(signal);
    this.running.set(uid, given);
    try {
      return await Promise.race([work(given.signal), rejectionOf(given.signal)]);
    } finally {
      this.running.delete(uid);
      given.dispose();
    }
  }

  /**
   * Removes the object of a deleted resource from its hub, or skips that with an event.
   *
   * @throws errors of `removal`, except of a hub that does not respond
   */
  async remove(namespace: string, name: string, removal: Removal): Promise<readonly EventSpec[] | Waiting> {
    const { object, uid } = removal;
    const cleanupSkipped = (why: string): EventSpec => ({
      type: 'Warning',
      reason: 'CleanupSkipped',
      message: `The ${object ?? 'object'} may still be in the hub. ${sentence(why)}`,
    });
    const hub = this.hubs.find(namespace, name);
    if (!hub) return object === undefined ? [] : [cleanupSkipped(`The Hub ${name} does not exist.`)];
    if (hub.metadata.deletionTimestamp && !hub.spec.external) {
      // The object is deleted with the volume.
      if (object === undefined || !keepsVolume(this.services, hub)) return [];
      return [cleanupSkipped(`The Hub ${name} is being deleted, and its volume is kept.`)];
    }
    const contacted = await this.hubs.contact(hub);
    if ('missing' in contacted) return [cleanupSkipped(contacted.missing)];
    const { client } = contacted;
    const skip = (why: string) => {
      removal.forget(client);
      return [cleanupSkipped(why)];
    };
    const watch = this.watchOf(hub);
    if (watch.isSkipped) return skip(`The hub of the Hub ${name} did not respond a moment ago.`);
    watch.begin(uid, client);
    try {
      const removed = await this.whileAnswering(uid, undefined, (signal) =>
        this.attempt(signal, removal, client),
      );
      if (!('type' in removed)) watch.end(uid);
      return removed;
    } catch (error) {
      if (error instanceof HubUnreachable && (await watch.answers(client)))
        return stillRemoving(object, error);
      watch.end(uid);
      if (!(error instanceof HubUnreachable)) throw error;
      return skip(error.message);
    }
  }

  /**
   * Runs one attempt of a removal, for at most {@link FINALIZER_TRY}. If an attempt takes longer although the
   * hub answers other requests, the next reconcile makes another one.
   */
  private attempt(signal: AbortSignal, removal: Removal, client: HubClient) {
    return withDeadline({ clock: this.services.clock, delay: FINALIZER_TRY, signal, error: tooLate }, () =>
      removal.run(client),
    );
  }

  private watchOf(hub: Hub): AnswerWatch {
    let watch = this.watches.get(hub);
    if (!watch) {
      const giveUp = (uids: readonly string[]) => {
        for (const uid of uids) this.running.get(uid)?.abort(tooLate());
      };
      watch = new AnswerWatch(this.services.clock, giveUp);
      this.watches.set(hub, watch);
    }
    return watch;
  }
}

const tooLate = (): Error => new HubUnreachable(`the hub did not respond within ${FINALIZER_TRY / 1_000} s`);

function stillRemoving(object: string | undefined, { message }: HubUnreachable): Waiting {
  const words = `The ${object ?? 'object'} is not removed from the hub yet: ${message}. The hub answers other requests, so it is tried again.`;
  return waiting('Removing', words, FINALIZER_TRY);
}
