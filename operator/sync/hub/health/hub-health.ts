import type { CoreConfig } from '../../../client/connection/api-types';
import { checkConfig, getConfig } from '../../../client/setup/core';
import { HubBanned, HubError, TokenRejected } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import { currentUser } from '../../../client/setup/tokens';
import type { Hub } from '../../../kinds';
import { API_NOT_LOADED_REQUEUE, DEPENDENCY_REQUEUE } from '../../../base/limits';
import { type Outcome, waiting } from '../../../runtime/outcome';
import { hubRedactor } from '../../hub-connection/hub-redactor';
import { type HealthMonitor, stateFingerprint } from '../../hub-connection/health-monitor';
import type { Services } from '../../services';
import type { Found, HubContext, StepResult } from '../steps';

/**
 * The outcome for a hub in recovery mode or safe mode. In these modes the hub hides most of its state, so
 * nothing is written to it (rules.md, "Health of a hub").
 *
 * @returns undefined when the hub runs normally
 */
export async function hubModeProblem(
  services: Pick<Services, 'secrets'>,
  hub: Hub,
  core: CoreConfig,
  client: HubClient,
): Promise<Outcome | undefined> {
  if (core.recovery_mode) {
    const message = `The hub runs in recovery mode: ${await recoveryModeCause(services, hub, client)}`;
    return waiting('RecoveryMode', message, DEPENDENCY_REQUEUE, { status: { phase: 'Failed' } });
  }
  if (core.safe_mode) {
    const message = 'The hub runs in safe mode, without custom integrations. Restart it to leave this mode.';
    return waiting('SafeMode', message, DEPENDENCY_REQUEUE, { status: { phase: 'Failed' } });
  }
  return undefined;
}

/**
 * The outcome for a token whose user is no administrator. The hub rejects every write of other users and
 * counts each as a failed login.
 *
 * @returns undefined when the user is an administrator
 */
export async function requireAdmin({ connection }: HubClient): Promise<Outcome | undefined> {
  if ((await currentUser(connection)).is_admin) return undefined;
  const message =
    'The API token belongs to a user who is no administrator of the hub. Store a token of an administrator.';
  return waiting('TokenRejected', message, DEPENDENCY_REQUEUE, { status: { phase: 'Unknown' } });
}

/**
 * The errors of the hub's configuration check. Secrets are redacted, since the errors quote the hub's files.
 */
async function recoveryModeCause(
  services: Pick<Services, 'secrets'>,
  hub: Hub,
  client: HubClient,
): Promise<string> {
  const unknownCause = 'its configuration or its storage is broken. See its log.';
  try {
    const { result, errors } = await checkConfig(client.rest);
    if (result === 'valid') return 'its configuration is valid now. Restart the hub to leave this mode.';
    return errors ? (await hubRedactor(services, hub))(errors) : unknownCause;
  } catch (error) {
    if (!isFaultOfHub(error)) throw error;
    return unknownCause; // it is too broken, or too slow, to check itself
  }
}

/** Waits for hubs that are starting. The hub's event `homeassistant_started` requeues the Hub. */
export class HubStart {
  private readonly subscribed = new WeakSet<HubClient>();

  constructor(
    private readonly services: Pick<Services, 'requeue'>,
    private readonly healthMonitor: HealthMonitor,
  ) {}

  /**
   * Sets the phase of a hub that runs and returns its configuration. For a hub that is starting or stopping,
   * an outcome is returned.
   */
  async running(
    { hub, status }: HubContext,
    client: HubClient,
    core: CoreConfig,
  ): Promise<StepResult<Found & { readonly core: CoreConfig }>> {
    const current = core.state === 'RUNNING' ? core : await this.followStart(hub, client, core);
    if (current.state !== 'RUNNING') {
      const isStarting = current.state === 'NOT_RUNNING' || current.state === 'STARTING';
      const message = isStarting
        ? `Starting: the hub is loading its integrations (${current.state}).`
        : `Stopping: the hub is shutting down (${current.state}).`;
      return waiting('ApiNotLoaded', message, API_NOT_LOADED_REQUEUE, { status: { phase: 'Pending' } });
    }
    if (current !== core) this.healthMonitor.watch(hub, client, stateFingerprint(current));
    status['phase'] = 'Running';
    return { core: current };
  }

  /**
   * Subscribes to the completion of the hub's start. The configuration is read again after that, since the
   * start may have been completed before the subscription.
   */
  private async followStart(hub: Hub, client: HubClient, core: CoreConfig): Promise<CoreConfig> {
    if (this.subscribed.has(client)) return core;
    const { namespace, name } = hub.metadata;
    const requeue = () => this.services.requeue('Hub', namespace, name);
    try {
      await client.connection.subscribeEvents('homeassistant_started', requeue);
      this.subscribed.add(client);
      client.connection.onReconnect(requeue);
      return await getConfig(client.rest);
    } catch (error) {
      if (!isFaultOfHub(error)) throw error;
      return core; // its WebSocket is not loaded yet
    }
  }
}

/** Reports whether the hub failed. A ban and a rejected token concern the operator instead. */
const isFaultOfHub = (error: unknown): boolean =>
  error instanceof HubError && !(error instanceof TokenRejected || error instanceof HubBanned);
