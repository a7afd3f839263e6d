import type { KindDefinition } from '../../kinds/kind';
import { conditionOf } from '../../runtime/conditions';
import type { EventSpec } from '../../runtime/event-spec';
import { type Stalled, stalled } from '../../runtime/outcome';
import type { Services } from '../services';
import type { Child } from './child';

/** A difference between an object in the hub and its resource. */
interface Difference {
  /** A sentence, such as `The floor was changed in the hub (level: hub has 1, resource says 2).` */
  readonly change: string;
  /** True if the hub had accepted the present spec, so that another client must have changed the object. */
  readonly drifted: boolean;
  /** The end of the sentence when `driftPolicy` is Warn. */
  readonly left: string;
  /** The correction, for counting. If absent, corrections are not counted. */
  readonly correction?: {
    /**
     * Identifies the desired values and the differences: a changed spec has another key and is sent without
     * delay.
     */
    readonly key: string;
    /** The differences in words. */
    readonly text: string;
  };
}

/** The count of corrections that a user or the hub has reverted. */
export interface Corrected {
  /** `count`: number of successive corrections with this key. `at`: monotonic time of the last one. */
  correction?: { readonly key: string; readonly count: number; readonly at: number } | undefined;
  /** The key of a correction that takes another write. */
  begun?: string | undefined;
}

/** Number of reverted corrections after which the operator stops writing. */
const MAX_EQUAL_CORRECTIONS = 3;

/**
 * Milliseconds within which corrections are counted together. After a longer time, a user may have made the
 * same change again.
 */
const CORRECTION_WINDOW = 3_600_000;

/** Milliseconds after which a correction counts as successful. */
const CORRECTION_LASTED = 10_000;

/** @param drifted another client changed or removed the object */
export const isDriftLeft = ({ spec }: Pick<Child, 'spec'>, drifted: boolean): boolean =>
  drifted && spec.driftPolicy === 'Warn';

/**
 * Decides which differences of objects of one kind are written. Drift is reported and counted (rules.md,
 * "Drift").
 */
export class DriftPolicy {
  constructor(
    private readonly services: Pick<Services, 'clock' | 'metrics'>,
    private readonly definition: Pick<KindDefinition, 'kind'>,
  ) {}

  /**
   * The outcome of a difference that is not corrected.
   *
   * @returns undefined when the difference has to be written
   */
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

  /** Remembers a correction of several writes after its first one. All of them are counted as one. */
  begin(cached: Corrected, key: string): void {
    cached.begun = key;
  }

  /** Counts a correction that was sent. */
  count(cached: Corrected, last: string): void {
    const { begun: key = last } = cached;
    cached.begun = undefined;
    cached.correction = {
      key,
      count: this.correctionsOf(cached, key) + 1,
      at: this.services.clock.monotonic(),
    };
  }

  /** Called when nothing differs: a correction that has lasted is no longer counted. */
  clear(cached: Corrected): void {
    cached.begun = undefined;
    if (cached.correction && this.services.clock.monotonic() - cached.correction.at > CORRECTION_LASTED)
      cached.correction = undefined;
  }

  /** The event of drift that is corrected. */
  reportCorrected(message: string): EventSpec {
    this.services.metrics.countDrift(this.definition.kind, 'corrected');
    return { type: 'Warning', reason: 'DriftDetected', message };
  }

  /**
   * The outcome of drift that is not corrected. Drift that the condition `Ready` already reports is not
   * counted again.
   */
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
