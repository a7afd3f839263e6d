import { HubError } from '../../client/connection/errors';
import type { HubClient } from '../../client/hub-client';
import type { Hub } from '../../kinds';
import type { EventSpec } from '../../runtime/event-spec';
import { type Authenticated, type HubContext, type HubStep, requeueAfter } from './steps';

/** A report on the automations, scenes and scripts of a hub, for the status of its Hub. */
interface Report {
  /**
   * The field `status.delivery`: how the automations, scenes and scripts are delivered (rules.md,
   * "Delivery").
   */
  readonly status?: object | null;
  /** A sentence for the message of the Hub. */
  readonly notice?: string;
  readonly events?: readonly EventSpec[];
  /** Milliseconds until the next reconcile. */
  readonly after?: number;
}

export type ReportOf = (hub: Hub, client: HubClient) => Promise<Report>;

/**
 * Adds a report to the status of the Hub. If the hub fails during the report, nothing is added: other steps
 * report the failure.
 */
export function addReport(name: string, reportOf: ReportOf): HubStep<HubContext & Authenticated> {
  return {
    name,
    async run(context) {
      const { hub, client, status, notices, events, reconcile } = context;
      try {
        const report = await reportOf(withVolume(hub, status['volumeID']), client);
        if (report.status !== undefined) status['delivery'] = report.status;
        if (report.notice !== undefined) notices.push(report.notice);
        events.push(...(report.events ?? []));
        if (report.after !== undefined) requeueAfter(context, report.after);
      } catch (error) {
        if (!(error instanceof HubError)) throw error;
        reconcile.log.debug({ error, step: name }, 'failed to report on objects in hub');
      }
      return {};
    },
  };
}

/** The Hub with the volume id that this reconcile has found. */
function withVolume(hub: Hub, volumeID: unknown): Hub {
  return typeof volumeID === 'string' ? { ...hub, status: { ...hub.status, volumeID } } : hub;
}
