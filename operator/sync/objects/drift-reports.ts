import type { KindDefinition } from '../../kinds/kind';
import type { EventSpec } from '../../runtime/event-spec';
import { type Stalled, stalled } from '../../runtime/outcome';
import type { Services } from '../services';

/** Reports drift of the resources of one kind, and counts it (rules.md, "Drift"). */
export class DriftReports {
  constructor(
    private readonly services: Pick<Services, 'metrics'>,
    private readonly definition: Pick<KindDefinition, 'kind'>,
  ) {}

  /** The event of drift that is corrected. */
  reportCorrected(message: string): EventSpec {
    this.services.metrics.countDrift(this.definition.kind, 'corrected');
    return { type: 'Warning', reason: 'DriftDetected', message };
  }

  /**
   * The outcome of drift that is not corrected.
   *
   * @param previous the present condition `Ready`: drift that it reports is not counted again
   */
  reportLeft(previous: { readonly reason?: string } | undefined, message: string): Stalled {
    if (previous?.reason !== 'DriftDetected')
      this.services.metrics.countDrift(this.definition.kind, 'reported');
    return stalled('DriftDetected', message);
  }
}
