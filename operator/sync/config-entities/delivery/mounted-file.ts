import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../base/clock';
import type { ReloadResult } from '../../../client/config-entities/reload-retry';
import type { ConfigEntityKind, EntityPayload } from '../../../client/connection/config-entity';
import type { HubClient } from '../../../client/hub-client';
import { isMarker } from '../../../kinds/ids';
import { type Stalled, stalled } from '../../../runtime/outcome';
import type { Child } from '../../objects/child';
import { diff, unexpressed } from '../diff';
import type { ConfigEntitySpec, EntityType, EntityWork } from '../entity-type';
import { loadPolicyOf, type LoadStep, nextLoadStep } from '../load';
import type { Different, Observation } from '../observation';
import { lookAt } from '../observe';
import { appliedHash, isAccepted, ownsId } from '../ownership';
import { type Place, type Remedy, type Replaced, TakenBack } from '../place';
import { checkDefinition } from './check-definition';
import type { MountedDefinitions } from './mounted-definitions';
import type { MountedFiles } from './mounted-files';
import { followStart } from './follow-start';
import type { Former } from './former-definitions';
import { undeliverable } from './item-text';
import { whyNotLoaded } from './why-not-loaded';

/** The files of a hub that its pod mounts from ConfigMaps. */
export class MountedFile implements Place {
  readonly delivery = 'File';
  readonly isShared = false;
  readonly isOnVolume = false;
  private readonly definitions: MountedDefinitions;

  /** @param own the other place */
  constructor(
    private readonly client: HubClient,
    private readonly clock: Clock,
    private readonly files: MountedFiles,
    private readonly own: Pick<Place, 'observe'>,
  ) {
    this.definitions = files.definitions;
  }

  /**
   * Observes a delivered definition. Its content is known, so no file of the hub is read, with one exception:
   * the hub's own file may have an object with the same id, which the hub prefers.
   */
  async observe<R extends Child, S extends ConfigEntitySpec>(
    entityType: EntityType<R, S>,
    work: EntityWork<R, S>,
  ): Promise<Observation> {
    const { id, payload } = work;
    const { type } = entityType;
    const isOurs = ownsId(entityType, work);
    const mounted = this.definitions.get(type, id);
    if (!isOurs && !mounted) return this.own.observe(entityType, work);
    const seen = await lookAt(entityType, work);
    const { entity, live, state, running } = seen;
    // Status does not say that the object is only in this place, and this process has not moved it here.
    const mayBeElsewhere = isOurs && work.resource.status?.['delivery'] !== 'File';
    const other =
      mayBeElsewhere && work.cached.movedTo !== this && (await this.inOwnFile(entityType, work, seen));
    if (other) return other;
    const differences = diff(entityType, id, mounted ?? {}, payload);
    if (!mounted) return { type: 'Absent', entity, differences };
    if (differences.length > 0)
      return { type: 'Different', entity, differences, kept: unexpressed(entityType, mounted) };
    const { operation } = work.cached;
    const isLoaded =
      isAccepted(entityType, work) || (operation?.hash === work.hash && operation.reload?.ok === true);
    switch (state) {
      case 'equal':
        return { type: 'InUse', entity: entity!, running };
      case 'matching':
        return isLoaded ? { type: 'InUse', entity: entity!, running } : { type: 'NotLoaded', entity };
      case 'invalid':
        return isLoaded && live?.type === 'Invalid'
          ? { type: 'Invalid', entity, error: live.error }
          : { type: 'NotLoaded', entity, disabled: true };
      default:
        return { type: 'NotLoaded', entity };
    }
  }

  /**
   * The object in the hub's own file.
   *
   * @returns undefined when there is none
   */
  private async inOwnFile<R extends Child, S extends ConfigEntitySpec>(
    entityType: EntityType<R, S>,
    { id, payload }: EntityWork<R, S>,
    { entity, live }: Pick<Awaited<ReturnType<typeof lookAt>>, 'entity' | 'live'>,
  ): Promise<Different | undefined> {
    const read = () => this.client.entities.read(entityType.type, id);
    const isShown = live?.type === 'Whole' && payload['use_blueprint'] === undefined;
    const stored = isShown ? live.actual : await read();
    if (!stored) return undefined;
    const differences = diff(entityType, id, stored, payload);
    const kept = unexpressed(entityType, stored);
    if (differences.length === 0)
      return { type: 'Different', entity, differences, kept, elsewhere: { ...kept, ...payload } };
    // The hub returns secrets of its file in plain text. The definition that may be restored later is read
    // from the file instead.
    const elsewhere = isShown ? await read() : stored;
    return elsewhere && { type: 'Different', entity, differences, kept, elsewhere };
  }

  refusal(kind: ConfigEntityKind, id: string, payload: EntityPayload): Stalled | undefined {
    if (kind === 'script' && isMarker(id))
      return stalled('InvalidSpec', `${id} is the id of a script of the operator’s own: choose another one.`);
    const problem = undeliverable(payload);
    if (problem !== undefined)
      return stalled(
        'InvalidSpec',
        `${problem} With delivery: File of the Hub it cannot be sent: simplify it.`,
      );
    if (this.definitions.hasRoom(kind, id, payload)) return undefined;
    const message =
      'The ConfigMaps with the definitions of this hub have no room for it: what the hub has stays. ' +
      'Remove or shorten some, or set spec.delivery of the Hub to Api.';
    return stalled('DeliveryFull', message);
  }

  /** Resolves once the hub has read the definition. A script is loaded by then. */
  async write(
    kind: ConfigEntityKind,
    id: string,
    payload: () => EntityPayload | undefined,
    replaced: Replaced,
  ): Promise<boolean> {
    await this.files.load();
    for (;;) {
      const checked = payload();
      if (!checked) return false;
      await checkDefinition(this.client, kind, checked);
      // Edits that were made during the check are part of the same write.
      if (!isDeepStrictEqual(payload(), checked)) continue;
      this.failIfTakenBack(kind, id, checked);
      this.definitions.put(kind, id, checked, this.formerBeside(kind, id, checked, replaced));
      if (replaced.claimedBy !== undefined) this.definitions.claim(kind, id, replaced.claimedBy);
      await this.files.publish(this.client);
      this.failIfTakenBack(kind, id, checked);
      return true;
    }
  }

  async reload(kind: ConfigEntityKind, isAfterWrite: boolean): Promise<ReloadResult> {
    if (!isAfterWrite) await this.files.publish(this.client);
    return this.client.reloads.request(kind, 0);
  }

  async loadStep<R extends Child, S extends ConfigEntitySpec>(
    entityType: EntityType<R, S>,
    work: EntityWork<R, S>,
  ): Promise<LoadStep> {
    const policy = loadPolicyOf(entityType, work.spec, this);
    if (policy === 'NextStart') await followStart(work, this.files, isWritten(entityType, work), this.clock);
    return nextLoadStep(policy, work.cached, this.clock.monotonic());
  }

  async verify<R extends Child, S extends ConfigEntitySpec>(
    entityType: EntityType<R, S>,
    work: EntityWork<R, S>,
    observation: Observation,
    step?: LoadStep,
  ): Promise<Remedy | undefined> {
    const { type } = entityType;
    const { id, hash, payload } = work;
    if (observation.type === 'InUse' && this.definitions.confirm(type, id, hash)) this.publishFormers();
    if (observation.type === 'Invalid')
      return this.withdrawal(entityType, work, () => Promise.resolve(observation.error));
    if (observation.type !== 'NotLoaded') return undefined;
    // The ConfigMap may not have been written, or the pod may not have got it. Then the next start does not
    // load the definition either.
    if (step?.type === 'AtNextStart' && !isWritten(entityType, work))
      return { type: 'WriteAgain', kept: unexpressed(entityType, this.definitions.get(type, id) ?? {}) };
    // A user may have created an object with the same id.
    const other = await this.inOwnFile(entityType, work, { entity: observation.entity, live: undefined });
    if (other) return { type: 'Correct', observation: other };
    if (step?.type === 'NotLoaded')
      return this.withdrawal(entityType, work, () => whyNotLoaded(this.client, type, payload));
    if (!observation.disabled) this.keepFormer(entityType, work);
    return undefined;
  }

  async leave(kind: ConfigEntityKind, id: string, mayLeave: () => boolean): Promise<undefined> {
    if (!mayLeave()) return;
    this.definitions.take(kind, id);
    await this.reload(kind, false);
  }

  /**
   * The remedy that restores the former definition.
   *
   * @returns undefined when the hub has used the present definition before, or the former one is not known
   */
  private async withdrawal<R extends Child, S extends ConfigEntitySpec>(
    { type }: EntityType<R, S>,
    { id, resource }: EntityWork<R, S>,
    reasonOf: () => Promise<string>,
  ): Promise<Remedy | undefined> {
    const former = this.former(type, id, appliedHash(resource));
    if (!former) return undefined;
    const withdraw = () => this.takeBack(type, id, former);
    return { type: 'Withdraw', reason: await reasonOf(), withdraw };
  }

  /**
   * The definition to restore instead of one that the hub does not load.
   *
   * @param accepted `status.appliedHash` of its resource
   */
  private former(kind: ConfigEntityKind, id: string, accepted = ''): Former | undefined {
    const former = this.definitions.formerOf(kind, id);
    return former?.accepted === accepted ? former : undefined;
  }

  private async takeBack(kind: ConfigEntityKind, id: string, { definition }: Former): Promise<void> {
    if (definition) this.definitions.put(kind, id, definition);
    else this.definitions.take(kind, id);
    await this.reload(kind, false);
    if (!definition) await this.client.entities.removeRegistration(kind, id);
  }

  /** Keeps the replaced definition, since status records the new one before the hub has loaded it. */
  private keepFormer<R extends Child, S extends ConfigEntitySpec>(
    { type }: EntityType<R, S>,
    { id, hash, resource }: EntityWork<R, S>,
  ): void {
    if (this.former(type, id, appliedHash(resource)) && this.definitions.keepFormer(type, id, hash))
      this.publishFormers();
  }

  /** Publishes changed former definitions. If that fails, the next publication includes them. */
  private publishFormers(): void {
    void this.files.publish(this.client).catch(() => undefined);
  }

  /**
   * Throws if the hub could not read the definition, so that a publication, perhaps a later one, has taken it
   * out again.
   *
   * @throws TakenBack
   */
  private failIfTakenBack(kind: ConfigEntityKind, id: string, definition: EntityPayload): void {
    const words = this.definitions.whyUnreadable(kind, id, definition);
    if (words !== undefined) throw new TakenBack(this.client.rest.redact(words));
  }

  /**
   * The definition to keep beside a new one until the hub uses the new one. If several new definitions fail
   * in a row, it stays the same.
   */
  private formerBeside(
    kind: ConfigEntityKind,
    id: string,
    definition: EntityPayload,
    { accepted = '', elsewhere }: Replaced,
  ): Former | undefined {
    const present = this.definitions.formerOf(kind, id);
    if (present?.accepted === accepted) return present;
    const replaced = this.definitions.get(kind, id) ?? elsewhere ?? null;
    return isDeepStrictEqual(replaced, definition) ? undefined : { definition: replaced, accepted };
  }
}

/** Reports whether the definition is known to have been in the files that the hub reads. */
function isWritten<R extends Child, S extends ConfigEntitySpec>(
  entityType: EntityType<R, S>,
  work: EntityWork<R, S>,
): boolean {
  const { observed } = work.cached;
  return isAccepted(entityType, work) || ('hash' in observed && observed.hash === work.hash);
}
