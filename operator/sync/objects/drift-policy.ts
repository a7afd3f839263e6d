import type { KindDefinition } from '../../kinds/kind';
import { conditionOf } from '../../runtime/conditions';
import type { EventSpec } from '../../runtime/event-spec';
import { type Stalled, stalled } from '../../runtime/outcome';
import type { Services } from '../services';
import type { Child } from './child';

/** An object in the hub that differs from its resource. */
interface Difference {
  /** A sentence, such as `The floor was changed in the hub (level: hub has 1, resource says 2).` */
  readonly change: string;
  /** The hub had accepted the present spec: another client changed the object. */
  readonly drifted: boolean;
  /** The end of the sentence with `driftPolicy: Warn`. */
  readonly left: string;
  /** Absent: corrections of it are not counted. */
  readonly correction?: {
    /** The desired values and the differences: a changed spec is sent at once. */
    readonly key: string;
    /** The differences, for people. */
    readonly text: string;
  };
}

/** The count of corrections that were reverted in the hub, by a person or by the hub itself. */
export interface Corrected {
  /** `count`: number of corrections with this key in a row; `at`: the time of the last one, by the monotonic clock. */
  correction?: { readonly key: string; readonly count: number; readonly at: number } | undefined;
}

/** After so many corrections that were reverted, the operator stops writing. */
const MAX_EQUAL_CORRECTIONS = 3;

/** Milliseconds within which corrections are counted together: later, a person may have made the same change again. */
const CORRECTION_WINDOW = 3_600_000;

/** Milliseconds after which a correction counts as successful. */
const CORRECTION_LASTED = 10_000;

/** @param drifted another client changed the object, or removed it */
export const isDriftLeft = ({ spec }: Pick<Child, 'spec'>, drifted: boolean): boolean =>
  drifted && spec.driftPolicy === 'Warn';

/** Decides which differences of objects of one kind are written; reports drift, and counts it (rules.md, "Drift"). */
export class DriftPolicy {
  constructor(
    private readonly services: Pick<Services, 'clock' | 'metrics'>,
    private readonly definition: Pick<KindDefinition, 'kind'>,
  ) {}

  /** The outcome of a difference that is not corrected; undefined: it is to be written. */
  leave(
    resource: Child,
    cached: Corrected,
    { change, correction, drifted, left }: Difference,
  ): Stalled | undefined {
    if (isDriftLeft(resource, drifted))
      return this.reportLeft(resource, `${change} driftPolicy is Warn: ${left}.`);
    if (!correction || this.correctionsOf(cached, correction.key) < MAX_EQUAL_CORRECTIONS) return undefined;
    return this.reportLeft(
      resource,
      `Each correction is reverted in the hub (${correction.text}): it is not corrected again for an hour. ` +
        'Copy the value of the hub into the spec, or report a value that the hub rewrites.',
    );
  }

  /** Counts a correction that was sent. */
  count(cached: Corrected, key: string): void {
    cached.correction = {
      key,
      count: this.correctionsOf(cached, key) + 1,
      at: this.services.clock.monotonic(),
    };
  }

  /** Nothing differs: a correction that has lasted is not counted with later ones. */
  clear(cached: Corrected): void {
    if (cached.correction && this.services.clock.monotonic() - cached.correction.at > CORRECTION_LASTED)
      cached.correction = undefined;
  }

  /** The event of drift that is corrected. */
  reportCorrected(message: string): EventSpec {
    this.services.metrics.countDrift(this.definition.kind, 'corrected');
    return { type: 'Warning', reason: 'DriftDetected', message };
  }

  /** The outcome of drift that is not corrected. Drift that the present condition `Ready` reports is not counted again. */
  reportLeft(resource: Child, message: string): Stalled {
    if (conditionOf(resource, 'Ready')?.reason !== 'DriftDetected')
      this.services.metrics.countDrift(this.definition.kind, 'reported');
    return stalled('DriftDetected', message);
  }

  /** The number of recent corrections of these differences that were reverted. */
  private correctionsOf({ correction }: Corrected, key: string): number {
    const counts =
      correction?.key === key && this.services.clock.monotonic() - correction.at < CORRECTION_WINDOW;
    return counts ? correction.count : 0;
  }
}
