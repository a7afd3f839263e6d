import { HubError, HubUnreachable } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import { withDeadline } from '../../base/deadline';
import { FINALIZER_ANSWER, FINALIZER_SKIP, FINALIZER_TRY } from '../../base/limits';
import type { EventSpec } from '../../runtime/event-spec';
import { type Waiting, waiting } from '../../runtime/outcome';
import { sentence } from '../../base/sentence';
import type { HubClients } from '../hub-access/hub-clients';
import { keepsVolume } from './retain';
import { PerHub } from '../hub-access/per-hub';
import type { Services } from '../services';

/** What a deleted resource has in its hub. */
export interface Removal {
  /** As far as status says, such as `automation porch`; undefined: nothing. */
  readonly object: string | undefined;
  /** Removes it. Resolves with events to emit, or with Waiting while it is in progress. */
  run(client: HubClient): Promise<readonly EventSpec[] | Waiting>;
  /** Forgets the resource: it goes although its object may still be in the hub. */
  forget(client: HubClient): void;
}

/**
 * The cleanup before a finalizer is released: repeated while the hub answers. A deleted resource never waits for a hub that
 * does not: after one short attempt an event names the object (rules.md, "Finalizers").
 */
export class HubCleanup {
  /** Hubs that did not respond during a cleanup, with the time until which further cleanups are skipped. */
  private readonly skippedUntil: PerHub<number>;

  constructor(
    private readonly services: Pick<Services, 'cache' | 'clock'>,
    private readonly hubs: Pick<HubClients, 'find' | 'contact'>,
  ) {
    this.skippedUntil = new PerHub(services.cache);
  }

  /** @throws what `removal` throws, but for a hub that does not respond */
  async remove(namespace: string, name: string, removal: Removal): Promise<readonly EventSpec[] | Waiting> {
    const { clock } = this.services;
    const { object } = removal;
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
    if ((this.skippedUntil.get(hub) ?? 0) > clock.monotonic())
      return skip(`The hub of the Hub ${name} did not respond a moment ago.`);
    try {
      const delay = FINALIZER_TRY - FINALIZER_ANSWER;
      return await withDeadline({ clock, delay, error: tooLate }, () => removal.run(client));
    } catch (error) {
      if (!(error instanceof HubUnreachable)) throw error;
      if (await answers(client)) return stillRemoving(object, error);
      this.skippedUntil.set(hub, clock.monotonic() + FINALIZER_SKIP);
      return skip(error.message);
    }
  }
}

const tooLate = (): Error => new HubUnreachable(`the hub did not respond within ${FINALIZER_TRY / 1_000} s`);

/** One request without an answer, or a long one, says nothing about the hub: it may only be busy. */
async function answers({ rest }: HubClient): Promise<boolean> {
  try {
    await rest.get('/manifest.json', { token: null, timeout: FINALIZER_ANSWER });
    return true;
  } catch (error) {
    if (error instanceof HubError) return false;
    throw error;
  }
}

function stillRemoving(object: string | undefined, { message }: HubUnreachable): Waiting {
  const words = `The ${object ?? 'object'} is not removed from the hub yet: ${message}. The hub answers other requests, so it is tried again.`;
  return waiting('Removing', words, FINALIZER_TRY);
}
