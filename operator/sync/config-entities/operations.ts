import type { HubClient } from '../../client/hub';
import { userAnnotations } from '../../kinds/annotations';
import { FINALIZER_TRY } from '../../limits';
import type { Child } from '../child';
import type { Services } from '../services';
import { bodyHash } from './payload';
import type { ConfigSpec, Family, Work } from './entity-type';
import type { KnownHubs } from './hub-contexts';
import { confirm, type Job, type Removal } from './entity-cache';

/** The hub loads what it was sent by itself, mostly within this time (milliseconds). */
export const LOADED_SOON = 300;

/**
 * What takes longer than a pass may: writes and removals, which wait for their turn at the hub's file, and reloads.
 * Each is noted in the resource's memory, and works the resource again when it has ended.
 */
export class Jobs<R extends Child, S extends ConfigSpec> {
  constructor(
    private readonly family: Family<R, S>,
    private readonly services: Services,
    private readonly known: KnownHubs,
  ) {}

  /** Writes the wish, and reloads if the kind and its spec want that. */
  write(work: Work<R, S>): void {
    this.begin(work, async (job) => {
      const written = await this.writeLatest(work, job);
      if (this.family.reloads && written?.autoReload) await this.reloadNow(work, job);
    });
  }

  reload(work: Work<R, S>): void {
    this.begin(work, (job) => this.reloadNow(work, job));
  }

  /**
   * Removes what is in the hub under `id`, unless it belongs to another resource by then. False: it is under way.
   *
   * @throws HubUnreachable, … what it ended with
   */
  async removed(resource: R, client: HubClient, id: string): Promise<boolean> {
    const hub = this.known.of(client, resource).memory;
    const memory = hub.of(resource.metadata.uid);
    if (memory.removal?.id !== id) {
      memory.removal = this.remove(resource, client, id);
      return false;
    }
    const { ended, error, startedAt } = memory.removal;
    if (!ended) {
      // Behind others in the lane, or behind one that hangs? A hub that answers this is only busy.
      const silentFor = this.services.clock.monotonic() - Math.max(startedAt, hub.answeredAt);
      if (silentFor >= FINALIZER_TRY)
        await client.rest.get('/manifest.json', { token: null, timeoutMs: FINALIZER_TRY });
      return false;
    }
    memory.removal = undefined;
    if (error !== undefined) throw error;
    return true;
  }

  /** Another resource that has this object in the hub, as its status says, and is there to stay. */
  holderOf(id: string, { metadata, spec }: R): R | undefined {
    const { definition, idField } = this.family;
    for (const other of this.services.view.list<R>(definition.kind, metadata.namespace)) {
      const isOther = other.metadata.uid !== metadata.uid && !other.metadata.deletionTimestamp;
      const sameHub = other.spec.hubRef.name === spec.hubRef.name;
      if (isOther && sameHub && other.status?.[idField] === id) return other;
    }
    return undefined;
  }

  private begin(work: Work<R, S>, carryOut: (job: Job) => Promise<void>): void {
    const { memory, resource, client, hash } = work;
    const job: Job = { hash, wrote: false, ended: false };
    memory.job = job;
    void carryOut(job)
      .catch((error: unknown) => (job.error = errorOf(error)))
      .then(() => {
        job.ended = true;
        job.endedAt = this.services.clock.monotonic();
        this.known.of(client, resource).watch.ownWorkEnded(this.family.type);
        const loadsByItself = job.wrote && !job.reload;
        this.services.clock.after(loadsByItself ? LOADED_SOON : 0, () => this.requeue(resource));
      });
  }

  /** When its turn has come, it is the latest wish that is written: many edits meanwhile are one write. */
  private async writeLatest({ memory, resource, client, id }: Work<R, S>, job: Job): Promise<S | undefined> {
    let written: S | undefined;
    job.wrote = await client.entities.write(this.family.type, id, () => {
      const latest = this.latest(resource);
      if (!latest || this.family.id(latest) !== id) return undefined;
      written = this.family.spec(latest);
      const body = this.family.body(written);
      job.hash = bodyHash(body);
      return body;
    });
    if (!job.wrote) return undefined;
    job.wroteAt = this.services.clock.now();
    memory.writtenAt = this.services.clock.monotonic();
    memory.failure = undefined;
    confirm(memory, job.hash);
    this.known.of(client, resource).memory.answeredAt = memory.writtenAt;
    return written;
  }

  private async reloadNow({ client, memory }: Work<R, S>, job: Job): Promise<void> {
    job.reload = await client.reloads.request(this.family.type);
    memory.reloadFailedAt = job.reload.ok ? undefined : this.services.clock.monotonic();
  }

  private remove(resource: R, client: HubClient, id: string): Removal {
    const removal: Removal = { id, startedAt: this.services.clock.monotonic(), ended: false };
    const stillWanted = () => this.holderOf(id, resource) === undefined;
    void client.entities
      .remove(this.family.type, id, { timeoutMs: FINALIZER_TRY, stillWanted })
      .then(() => (this.known.of(client, resource).memory.answeredAt = this.services.clock.monotonic()))
      .catch((error: unknown) => (removal.error = errorOf(error)))
      .then(() => {
        removal.ended = true;
        removal.endedAt = this.services.clock.monotonic();
        this.requeue(resource);
      });
    return removal;
  }

  /** The resource as it is now, as long as it may be written. */
  private latest({ kind, metadata }: R): R | undefined {
    const present = this.services.view.get<R>(kind, metadata.namespace, metadata.name);
    if (present?.metadata.uid !== metadata.uid || present?.metadata.deletionTimestamp) return undefined;
    const isHeld = present.spec.suspend || present.metadata.annotations?.[userAnnotations.dryRun] === 'true';
    return isHeld ? undefined : present;
  }

  private requeue({ kind, metadata }: R): void {
    this.services.requeue(kind, metadata.namespace, metadata.name);
  }
}

const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
