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

/** What a deleted resource has in its hub. */
interface Removal {
  /** The uid of the resource. */
  readonly uid: string;
  /** As far as status says, such as `automation porch`; undefined: nothing. */
  readonly object: string | undefined;
  /** Removes it. Resolves with events to emit, or with Waiting while it is in progress. */
  run(client: HubClient): Promise<readonly EventSpec[] | Waiting>;
  /** Forgets the resource: it goes although its object may still be in the hub. */
  forget(client: HubClient): void;
}

/**
 * The cleanup before a finalizer is released: repeated while the hub answers. A deleted resource never waits for a hub that
 * does not: after 5 s an event names the object (rules.md, "Finalizers").
 */
export class HubCleanup {
  private readonly watches: PerHub<AnswerWatch>;
  /** Reconciles and removals that run, by the uid of the resource. */
  private readonly running = new Map<string, CombinedSignal>();

  constructor(
    private readonly services: Pick<Services, 'cache' | 'clock'>,
    private readonly hubs: Pick<HubClients, 'find' | 'contact' | 'existing'>,
  ) {
    this.watches = new PerHub(services.cache);
  }

  /** A resource is deleted. From now on the hub has 5 s to answer, also if a reconcile of the resource waits for it. */
  announce(uid: string, namespace: string, name: string): void {
    const hub = this.hubs.find(namespace, name);
    const client = this.hubs.existing(namespace, name);
    if (hub && client) this.watchOf(hub).begin(uid, client);
  }

  /**
   * Runs a reconcile or a removal of a resource. One that waits for the hub is given up, with its signal aborted, when the
   * resource is deleted and the hub is found not to answer.
   *
   * @throws HubUnreachable it was given up
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

  /** @throws what `removal` throws, but for a hub that does not respond */
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

  /** One request of a removal may take longer than the others, while the hub answers. */
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
