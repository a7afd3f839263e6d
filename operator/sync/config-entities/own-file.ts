import type { Clock } from '../../base/clock';
import type { ReloadResult } from '../../client/config-entities/reload-retry';
import type { ConfigEntityKind, EntityPayload } from '../../client/connection/config-entity';
import type { HubClient } from '../../client/hub-client';
import type { Child } from '../objects/child';
import type { ConfigEntitySpec, EntityType, EntityWork } from './entity-type';
import type { FileReadSchedule } from './file-read-schedule';
import { loadPolicyOf, type LoadStep, nextLoadStep } from './load';
import type { Observation } from './observation';
import { observe } from './observe';
import { OwnFileRemovals } from './own-file-removals';
import { ownsId } from './ownership';
import type { Place } from './place';

/** The files of a hub that its API writes. */
export class OwnFile implements Place {
  readonly delivery = null;
  readonly isShared = true;
  readonly isOnVolume = true;
  private readonly removals: OwnFileRemovals;

  /** @param mounted the definitions in the other place */
  constructor(
    private readonly client: HubClient,
    private readonly clock: Clock,
    private readonly fileReads: FileReadSchedule,
    private readonly mounted: { get(kind: ConfigEntityKind, id: string): EntityPayload | undefined },
  ) {
    this.removals = new OwnFileRemovals(client, clock);
  }

  observe<R extends Child, S extends ConfigEntitySpec>(
    entityType: EntityType<R, S>,
    work: EntityWork<R, S>,
  ): Promise<Observation> {
    const definition = ownsId(entityType, work) ? this.mounted.get(entityType.type, work.id) : undefined;
    return definition
      ? Promise.resolve({ type: 'Elsewhere', definition })
      : observe(entityType, work, this.fileReads, this.clock);
  }

  refusal(): undefined {
    return undefined;
  }

  write(kind: ConfigEntityKind, id: string, payload: () => EntityPayload | undefined): Promise<boolean> {
    return this.client.entities.write(kind, id, payload);
  }

  reload(kind: ConfigEntityKind): Promise<ReloadResult> {
    return this.client.reloads.request(kind);
  }

  loadStep<R extends Child, S extends ConfigEntitySpec>(
    entityType: EntityType<R, S>,
    { spec, cached }: EntityWork<R, S>,
  ): LoadStep {
    return nextLoadStep(loadPolicyOf(entityType, spec, this), cached, this.clock.monotonic());
  }

  verify(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  leave(kind: ConfigEntityKind, id: string, mayLeave: () => boolean): Promise<ReloadResult> {
    return this.removals.remove(kind, id, mayLeave);
  }
}
