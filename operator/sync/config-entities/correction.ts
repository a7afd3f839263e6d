import type { EntityPayload } from '../../client/connection/config-entity';
import type { Outcome } from '../../runtime/outcome';
import { hubErrorOutcome } from '../hub-connection/hub-errors';
import type { Child } from '../objects/child';
import { type DriftPolicy, isDriftLeft } from '../objects/drift-policy';
import { type FieldDiff, formatDiff } from '../objects/field-diff';
import type { WritePacing } from '../objects/write-pacing';
import type { Services } from '../services';
import { blueprintAppeared, blueprintRecheck, untilBlueprint } from './blueprint';
import { inProgress, type InProgressDetails } from './conditions';
import { diff, unexpressed } from './diff';
import type { ConfigEntitySpec, EntityType } from './entity-type';
import type { Different, Observation } from './observation';
import type { Operations } from './operations';
import { isAccepted } from './ownership';
import type { PlacedWork } from './place';

/**
 * Writes a definition that differs or is in another place, unless the drift is left or the hub has just
 * rejected the payload.
 */
export class Corrections<R extends Child, S extends ConfigEntitySpec> {
  constructor(
    private readonly entityType: EntityType<R, S>,
    private readonly operations: Operations<R, S>,
    private readonly drift: DriftPolicy,
    private readonly pacing: WritePacing,
    private readonly services: Pick<Services, 'cache'>,
  ) {}

  /** Moves an object to its place, from the place that it should no longer be in. */
  async moveHere(work: PlacedWork<R, S>, elsewhere: EntityPayload): Promise<Outcome> {
    const { entityType } = this;
    const { client, id, payload } = work;
    const stored = await client.entities.read(entityType.type, id);
    const differences = stored ? diff(entityType, id, stored, payload) : [];
    const isEqual = stored && differences.length === 0;
    // A user created or changed the object in the hub's own file.
    const drifted = differences.length > 0 && this.isDrift(work);
    // If the object is left, it is compared again and reported as drift once it is the only one.
    if (isEqual || isDriftLeft(work.resource, drifted)) {
      this.operations.move(work, { correction: undefined, kept: undefined, elsewhere });
      return inProgress(entityType, work);
    }
    const refused = await this.refusal(work);
    if (refused) return refused;
    return this.send(work, () => {
      const kept = unexpressed(entityType, stored ?? elsewhere);
      this.operations.move(work, { correction: undefined, kept, elsewhere });
      if (!drifted) return {};
      const change = this.changedInHub(work, differences);
      return { events: [this.drift.reportCorrected(`${change} The change is reverted.`)] };
    });
  }

  /** Starts a write, unless the last one was a moment ago. */
  async send(
    work: PlacedWork<R, S>,
    start: () => InProgressDetails | Promise<InProgressDetails>,
  ): Promise<Outcome> {
    const pause = this.pacing.pause(work.cached, work.hash);
    if (pause > 0) return inProgress(this.entityType, work, pause);
    const details = await start();
    this.pacing.mark(work.cached);
    return inProgress(this.entityType, work, undefined, details);
  }

  /** A sentence with the differences between the hub and the resource. */
  private changedInHub({ client }: PlacedWork<R, S>, differences: readonly FieldDiff[]): string {
    return `The ${this.entityType.type} was changed in the hub (${formatDiff(differences, client.rest.redact)}).`;
  }

  /** Writes the payload, unless drift may only be reported or the hub has just rejected the same payload. */
  async correct(
    work: PlacedWork<R, S>,
    observation: Different | (Observation & { readonly type: 'Absent' }),
  ): Promise<Outcome> {
    const { differences, type } = observation;
    const { client, cached, hash } = work;
    const elsewhere = type === 'Different' ? observation.elsewhere : undefined;
    // In a place where only the operator writes, a different definition is no drift: it is an earlier one, or
    // its ConfigMap was lost.
    const isByOthers = work.place.isShared || elsewhere !== undefined;
    const isOther = type === 'Absent' || differences.length > 0;
    const drifted = isByOthers && isOther && this.isDrift(work);
    const text = formatDiff(differences, client.rest.redact);
    const kind = this.entityType.type;
    const change =
      type === 'Different' ? this.changedInHub(work, differences) : `The ${kind} was removed from the hub.`;
    const key = isByOthers && type === 'Different' ? `${hash} ${JSON.stringify(differences)}` : undefined;
    const left = this.drift.leave(work.resource, cached, {
      change,
      drifted,
      left: 'it is not corrected',
      ...(key !== undefined && { correction: { key, text } }),
    });
    if (left) return left;
    const refused = work.place.refusal(kind, work.id, work.payload) ?? (await this.refusal(work));
    if (refused) return refused;
    return this.send(work, async () => {
      const isReplaced = type === 'Absent' && (await this.replacesAdopted(work));
      const kept = type === 'Different' ? observation.kept : {};
      if (elsewhere) this.operations.move(work, { correction: key, kept, elsewhere });
      else this.operations.write(work, { correction: key, kept });
      const done = type === 'Different' ? 'The change is reverted.' : 'It is created again.';
      return {
        ...(isReplaced && { status: { adopted: null } }),
        ...(drifted && { events: [this.drift.reportCorrected(`${change} ${done}`)] }),
      };
    });
  }

  /**
   * Reports whether an adopted object is no longer in the hub's file, so that its replacement is the
   * operator's.
   */
  private async replacesAdopted({ resource, client, id }: PlacedWork<R, S>): Promise<boolean> {
    return !!resource.status?.['adopted'] && !(await client.entities.read(this.entityType.type, id));
  }

  /**
   * The outcome while the payload is not sent.
   *
   * @returns undefined when it may be sent
   */
  private async refusal(work: PlacedWork<R, S>): Promise<Outcome | undefined> {
    const awaited = await untilBlueprint(this.services, this.entityType.type, work);
    return awaited ?? this.stillRejected(work);
  }

  /**
   * The outcome while the hub would reject the payload again.
   *
   * @returns undefined when the payload may be sent
   */
  private async stillRejected(work: PlacedWork<R, S>): Promise<Outcome | undefined> {
    const error = this.pacing.rejectionOf(work.cached, work.hash);
    if (!error || (await blueprintAppeared(this.entityType.type, work))) return undefined;
    return hubErrorOutcome(error, 'object', blueprintRecheck(work));
  }

  /**
   * Reports whether the hub had accepted the desired payload and no write of the operator replaced it, so
   * that a difference is drift.
   */
  private isDrift(work: PlacedWork<R, S>): boolean {
    const { observed } = work.cached;
    const isReplaced = 'hash' in observed && observed.hash !== work.hash;
    return isAccepted(this.entityType, work) && !isReplaced;
  }
}
