import { HubBanned, HubError, HubRejected, HubUnreachable } from '../../../client/connection/errors';
import { type Clock, timestamp } from '../../../base/clock';
import type { Hub } from '../../../kinds/index';
import { BOOTSTRAP_RETRY, DEPENDENCY_REQUEUE, POD_NOT_READY_REQUEUE } from '../../../base/limits';
import type { Reason } from '../../../kinds/reasons';
import { conditionOf } from '../../../runtime/conditions';
import { errorOutcome } from '../../../runtime/error-outcome';
import type { EventSpec } from '../../../runtime/event-spec';
import { condition, type Outcome, stalled, waiting } from '../../../runtime/outcome';
import type { NotReadyCause } from '../health/pod-state';
import type { HubContext } from '../steps';
import { Bootstrap, type BootstrapServices, type BootstrapState, type Step } from './bootstrap';

/** `BootstrapReady` of a hub that accepts the operator's token. */
export const bootstrapCompleted = condition('True', 'Completed', 'The API token is available.');

/** `BootstrapReady` of a hub that the operator does not bootstrap. */
export const bootstrapDisabled = condition(
  'True',
  'Disabled',
  'bootstrap.enabled is false: the stored API token is used.',
);

/** Runs one step of the bootstrap per reconcile and reports it as the outcome of the Hub. */
export class BootstrapRunner {
  private readonly bootstrap: Bootstrap;

  constructor(private readonly services: BootstrapServices) {
    this.bootstrap = new Bootstrap(services);
  }

  /**
   * Runs the step of the present state. A refusal by the cluster, such as that of the Secret for the token, is an outcome
   * too: without a token the hub cannot be used, and `BootstrapReady` says so.
   *
   * @throws HubBanned the hub has banned the operator's address
   */
  async run({ hub, spec, reconcile }: HubContext, url: string): Promise<Outcome> {
    const { clock } = this.services;
    const state = hub.status?.bootstrap?.state ?? 'WaitForHealth';
    reconcile.log.debug({ step: 'bootstrap', state }, 'running a step of the bootstrap');
    try {
      const from = state === 'Done' ? 'CheckOnboarding' : state;
      const step = await this.bootstrap.step(from, { hub, spec, url, forced: reconcile.forced });
      return stepOutcome(hub, clock, step, this.bootstrap.rejectedDigest(hub));
    } catch (error) {
      const refusal = errorOutcome(error);
      if (refusal) return { ...refusal, ...inProgress(hub, clock, state, `${state}: ${refusal.message}`) };
      if (!(error instanceof HubError) || error instanceof HubBanned) throw error;
      if (isInvalidSetting(error)) {
        const message = rejectedSettingMessage(error);
        return stalled('RejectedByHub', message, inProgress(hub, clock, state, message));
      }
      // Other rejections mostly mean that the hub has not loaded that part of its API yet.
      const message = `${state}: ${error.message}`;
      const after = error instanceof HubUnreachable ? POD_NOT_READY_REQUEUE : retryDelay(hub, clock, message);
      const requestPending = error instanceof HubUnreachable;
      return waiting('Bootstrapping', message, after, {
        ...inProgress(hub, clock, state, message),
        requestPending,
      });
    }
  }
}

/**
 * Milliseconds until the next attempt: a quarter of the time since the hub first gave this answer, within
 * bounds.
 */
function retryDelay({ status }: Hub, clock: Clock, message: string): number {
  const { message: before, lastAttempt } = status?.bootstrap ?? {};
  const [shortest, longest] = BOOTSTRAP_RETRY;
  const since = before === message ? Date.parse(lastAttempt ?? '') : NaN;
  const age = Number.isNaN(since) ? 0 : clock.now() - since;
  return Math.min(Math.max(shortest, age / 4), longest);
}

/** The outcome `PodNotReady`. A completed bootstrap does not start again because of it. */
export function podNotReady(
  hub: Hub,
  clock: Clock,
  message: string,
  cause: NotReadyCause = 'fault',
): Outcome {
  const details =
    hub.status?.bootstrap?.state === 'Done'
      ? { status: { phase: 'Pending' } }
      : inProgress(hub, clock, 'WaitForHealth', message);
  return waiting('PodNotReady', message, POD_NOT_READY_REQUEUE, {
    ...details,
    events: eventsOf(hub, message, cause),
    requestPending: true,
  });
}

/**
 * The events of a pod that is not ready. If the pod was ready and is being replaced, the event is Normal: the
 * replacement was requested. A lost node gets a Warning that says what to do: the Hub usually stops being
 * ready before the loss of the node is known, so no event of that change would say so.
 */
function eventsOf(hub: Hub, message: string, cause: NotReadyCause): EventSpec[] {
  const before = conditionOf(hub, 'Ready');
  const isReported = before?.message.includes(message) ?? false; // the message of a problem may come before this one
  if (cause === 'replacement' && before?.status === 'True')
    return [{ type: 'Normal', reason: 'PodNotReady', message }];
  if (cause === 'node' && !isReported) return [{ type: 'Warning', reason: 'PodNotReady', message }];
  return [];
}

/**
 * The field `status.bootstrap`. The time of the last attempt changes only together with state or message.
 *
 * @param rejectedCredentials digest of the credentials that the hub rejected, null for none; by default
 * unchanged
 */
export function bootstrapStatus(
  hub: Hub,
  clock: Clock,
  state: BootstrapState,
  message: string,
  rejectedCredentials: string | null = hub.status?.bootstrap?.rejectedCredentials ?? null,
) {
  const before = hub.status?.bootstrap;
  const changed = before?.state !== state || before.message !== message;
  const lastAttempt = changed ? timestamp(clock.now()) : before.lastAttempt;
  const rejected = state !== 'Done' && rejectedCredentials !== null && { rejectedCredentials };
  return { bootstrap: { state, message, lastAttempt, ...rejected } };
}

/**
 * Reports whether the hub understood a setting and does not accept its value, such as a time zone that does
 * not exist.
 */
function isInvalidSetting(error: HubError): error is HubRejected {
  return error instanceof HubRejected && ['invalid_format', 'invalid_info'].includes(error.code);
}

export function rejectedSettingMessage(error: HubRejected): string {
  const what = isInvalidSetting(error)
    ? 'The hub does not accept a setting in spec.bootstrap (or spec.timezone)'
    : 'The hub rejected a request of the bootstrap';
  return `${what}: ${error.message}`;
}

function stepOutcome(hub: Hub, clock: Clock, step: Step, rejected: string | null): Outcome {
  const { message } = step;
  if (step.type === 'next') {
    const isLoading = step.state === 'WaitForAPIReady' && step.after > 0;
    const reason = isLoading ? 'ApiNotLoaded' : 'Bootstrapping';
    return waiting(reason, message, step.after, inProgress(hub, clock, step.state, message, rejected));
  }
  const { reason } = step;
  const state = hub.status?.bootstrap?.state ?? 'CheckOnboarding';
  const details = inProgress(hub, clock, state, message, rejected, reason);
  return reason === 'MissingCredentials'
    ? waiting('Bootstrapping', message, DEPENDENCY_REQUEUE, details)
    : stalled(reason === 'SecretRefused' ? reason : 'Bootstrapping', message, details);
}

function inProgress(
  hub: Hub,
  clock: Clock,
  state: BootstrapState,
  message: string,
  rejected?: string | null,
  reason: Reason = 'InProgress',
) {
  return {
    conditions: { BootstrapReady: condition('False', reason, message) },
    status: { phase: 'Pending', ...bootstrapStatus(hub, clock, state, message, rejected) },
  };
}
