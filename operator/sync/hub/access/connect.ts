import { type CoreConfig, getConfig } from '../../../client/core';
import {
  HubBanned,
  HubError,
  HubFailed,
  HubRejected,
  HubUnreachable,
  TokenRejected,
} from '../../../client/errors';
import type { HubClient } from '../../../client/hub-client';
import { revokeOldTokens } from '../../../client/tokens';
import type { ReadyReason } from '../../../kinds/reasons';
import type { Hub } from '../../../kinds/index';
import { timestamp } from '../../../clock';
import { BOOTSTRAP_RETRY, DEPENDENCY_REQUEUE, POD_NOT_READY_REQUEUE } from '../../../limits';
import { type ConditionValue, type Outcome, stalled, waiting } from '../../../runtime/outcome';
import { conditionOf } from '../../../runtime/conditions';
import type { HubClients } from '../../hub-clients';
import { hubErrorOutcome } from '../../hub-errors';
import type { Services } from '../../services';
import { Bootstrap, type BootstrapState, type Step } from './bootstrap';
import { ensureAnalytics, ensureCoreSettings } from './core-settings';
import { ensureCredentialsOwner } from './credentials';
import { recordRanVersion } from '../workload/downgrade';
import { podState } from '../health/pod-state';
import { resolveAccess, tokenNamePrefix } from './token';
import { TokenRenewal } from './token-renewal';
import { requireAdmin, hubModeProblem } from '../health/hub-health';
import { BanRecovery } from '../health/ban-recovery';
import { stateFingerprint } from '../health/health-monitor';
import { type HubContext, requeueAfter, type StepResult } from '../steps';

/** From a hub's workload to a hub that answers with our token: bootstrap, and everything that keeps it so. */
export class Connector {
  private readonly bootstrap: Bootstrap;
  private readonly renewal: TokenRenewal;
  private readonly banRecovery: BanRecovery;
  /** Whose tokens are an administrator's. */
  private readonly verifiedAdmins = new WeakSet<HubClient>();

  constructor(
    private readonly services: Services,
    private readonly hubs: HubClients,
  ) {
    this.bootstrap = new Bootstrap(services);
    this.renewal = new TokenRenewal(services);
    this.banRecovery = new BanRecovery(services);
  }

  /** Goes on with `context.client` and `context.core` set when the hub has answered. */
  async connect(context: HubContext): Promise<StepResult> {
    const { hub, spec, url } = context;
    await ensureCredentialsOwner(this.services, hub, spec);
    if (spec.backup && !conditionOf(hub, 'BackupConfigured'))
      context.conditions['BackupConfigured'] = noToken;
    const pod = await podState(this.services, hub);
    if (!pod.ready || !url) {
      const words = pod.ready ? 'The address of the hub is not known yet.' : pod.message;
      return this.podNotReady(context, words);
    }
    const found = await resolveAccess(this.services, hub, spec, url);
    if ('missing' in found) {
      if (spec.backup) context.conditions['BackupConfigured'] = noToken;
      return spec.bootstrap.enabled ? this.runBootstrap(context, url) : withoutBootstrap(found.missing);
    }
    const client = this.hubs.client(hub, found.access);
    let core: CoreConfig | undefined;
    try {
      core = await getConfig(client.rest);
      this.hubs.healthMonitor.watch(hub, client, stateFingerprint(core));
      return await this.answered(context, client, core, found.access.token);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      if (!core) this.hubs.healthMonitor.watch(hub, client, stateFingerprint(error));
      if (error instanceof TokenRejected) return this.rejected(context, url, error);
      return context.client && core ? this.refused(context, core, error) : this.failed(context, error);
    }
  }

  private async answered(
    context: HubContext,
    client: HubClient,
    core: CoreConfig,
    token: string,
  ): Promise<StepResult> {
    const { hub, spec, status, conditions } = context;
    this.banRecovery.authenticated(context);
    status['version'] = core.version;
    // Also of one in recovery mode: it has touched the volume.
    await recordRanVersion(this.services, context, core.version);
    const trouble = await hubModeProblem(this.services, hub, core, client);
    if (trouble) return trouble;
    const powerless = await this.requireAdmin(context, client);
    if (powerless) {
      if (spec.backup) conditions['BackupConfigured'] = noToken;
      return spec.bootstrap.enabled ? this.runBootstrap(context, context.url!) : powerless;
    }
    status['phase'] = 'Running';
    conditions['BootstrapReady'] = spec.bootstrap.enabled ? completed : disabled;
    context.client = client;
    context.core = core;
    if (!spec.bootstrap.enabled) return undefined;
    // A crash, or a Hub of this name before, may have left tokens in the hub that no Secret holds.
    if (hub.status?.bootstrap?.state !== 'Done')
      await revokeOldTokens(client.connection, tokenNamePrefix(hub), token);
    Object.assign(status, this.progress(hub, 'Done', 'The hub is set up.'));
    await this.renewal.ensureFresh(hub, spec, client, token);
    const overruled = await ensureCoreSettings(hub, spec, core, client.connection);
    if (overruled.length > 0) reportOverriddenSettings(context, overruled);
    // Not there before: the hub loads its analytics while it starts.
    if (core.state === 'RUNNING') await ensureAnalytics(hub, client.connection);
    return undefined;
  }

  /** Asked once: a user who is no administrator any more is found out with the first write that the hub refuses. */
  private async requireAdmin({ reconcile }: HubContext, client: HubClient): Promise<Outcome | undefined> {
    if (this.verifiedAdmins.has(client) && !reconcile.forced) return undefined;
    const powerless = await requireAdmin(client);
    if (!powerless) this.verifiedAdmins.add(client);
    return powerless;
  }

  /** Revoked in the hub, or younger than the backup that was restored: made anew with the owner's credentials. */
  private async rejected(context: HubContext, url: string, error: TokenRejected): Promise<Outcome> {
    if (context.spec.backup) context.conditions['BackupConfigured'] = noToken;
    if (context.spec.bootstrap.enabled) return this.runBootstrap(context, url);
    const message = `${error.message}: store another long-lived access token in the API token Secret.`;
    return waiting('TokenRejected', message, DEPENDENCY_REQUEUE, phaseUnknown);
  }

  private async runBootstrap(context: HubContext, url: string): Promise<Outcome> {
    const { hub, spec, reconcile } = context;
    const state = hub.status?.bootstrap?.state ?? 'WaitForHealth';
    reconcile.log.debug({ step: 'bootstrap', state }, 'bootstrap');
    try {
      const from = state === 'Done' ? 'CheckOnboarding' : state;
      return this.bootstrapOutcome(
        context,
        await this.bootstrap.step(from, { hub, spec, url, forced: reconcile.forced }),
      );
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      if (error instanceof HubBanned) return this.failed(context, error);
      if (isRefusal(error)) return refusal(error, this.inProgress(hub, state, refusal(error).message));
      // Any other refusal mostly means that the hub has not loaded that part of itself yet.
      const after = error instanceof HubUnreachable ? POD_NOT_READY_REQUEUE : BOOTSTRAP_RETRY;
      return this.pending(context, 'Bootstrapping', `${state}: ${error.message}`, after, state);
    }
  }

  private bootstrapOutcome(context: HubContext, step: Step): Outcome {
    if (step.type === 'next') {
      const reason = step.state === 'WaitForAPIReady' && step.after > 0 ? 'ApiNotLoaded' : 'Bootstrapping';
      return this.pending(context, reason, step.message, step.after, step.state);
    }
    const { reason, message } = step;
    const details = {
      status: {
        phase: 'Pending',
        ...this.progress(context.hub, context.hub.status?.bootstrap?.state ?? 'CheckOnboarding', message),
      },
      conditions: { BootstrapReady: { status: 'False', reason, message } as const },
    };
    return reason === 'MissingCredentials'
      ? waiting('Bootstrapping', message, DEPENDENCY_REQUEUE, details)
      : stalled('Bootstrapping', message, details);
  }

  /**
   * The hub is well, but does not do what bootstrap asks of it. That keeps it from nothing else; while it starts it is
   * no news.
   */
  private async refused(context: HubContext, core: CoreConfig, error: HubError): Promise<StepResult> {
    const isAnswer = error instanceof HubRejected || error instanceof HubFailed;
    if (!isAnswer || (core.state !== 'RUNNING' && !isRefusal(error))) return this.failed(context, error);
    if (error instanceof HubRejected) {
      context.problem ??= refusal(error);
      return undefined;
    }
    const message = `${completed.message} The hub failed at something that bootstrap asks of it: ${error.message}`;
    context.conditions['BootstrapReady'] = { ...completed, message };
    requeueAfter(context, DEPENDENCY_REQUEUE);
    return undefined;
  }

  private async failed(context: HubContext, error: HubError): Promise<Outcome> {
    if (error instanceof HubBanned) return this.banRecovery.recover(context, error.message);
    return hubErrorOutcome(error, 'state', phaseUnknown);
  }

  /** "Hub pod not ready: requeue after 10 s". A hub that is through its bootstrap does not begin it anew for that. */
  private podNotReady(context: HubContext, words: string): Outcome {
    if (context.hub.status?.bootstrap?.state !== 'Done')
      return this.pending(context, 'PodNotReady', words, POD_NOT_READY_REQUEUE, 'WaitForHealth');
    return waiting('PodNotReady', words, POD_NOT_READY_REQUEUE, { status: { phase: 'Pending' } });
  }

  private pending(
    { hub }: HubContext,
    reason: ReadyReason,
    message: string,
    after: number,
    state: BootstrapState,
  ): Outcome {
    return waiting(reason, message, after, this.inProgress(hub, state, message));
  }

  private inProgress(hub: Hub, state: BootstrapState, message: string) {
    const BootstrapReady = { status: 'False', reason: 'InProgress', message } as const;
    return {
      conditions: { BootstrapReady },
      status: { phase: 'Pending', ...this.progress(hub, state, message) },
    };
  }

  private progress(hub: Hub, state: BootstrapState, message: string) {
    const { state: before, message: said, lastAttempt } = hub.status?.bootstrap ?? {};
    const moved = before !== state || said !== message;
    return {
      bootstrap: { state, message, lastAttempt: moved ? timestamp(this.services.clock.now()) : lastAttempt },
    };
  }
}

/** The hub understood a setting of ours and does not take it, such as a time zone that does not exist. */
const isRefusal = (error: HubError): error is HubRejected =>
  error instanceof HubRejected && ['invalid_format', 'invalid_info'].includes(error.code);

function refusal(error: HubRejected, details: Parameters<typeof stalled>[2] = {}): Outcome {
  const what = isRefusal(error)
    ? 'The hub does not accept a setting of bootstrap (or the time zone)'
    : 'The hub refuses something that bootstrap asks of it';
  return stalled('RejectedByHub', `${what}: ${error.message}`, details);
}

const phaseUnknown = { status: { phase: 'Unknown' } };
const completed: ConditionValue = { status: 'True', reason: 'Completed', message: 'The API token is there.' };
const disabled: ConditionValue = {
  status: 'True',
  reason: 'Disabled',
  message: 'bootstrap.enabled is false: the API token is the one that was stored.',
};
const noToken: ConditionValue = {
  status: 'False',
  reason: 'TokenNotAvailable',
  message: 'Waiting for the API token.',
};

function withoutBootstrap(missing: string): Outcome {
  const message = `${missing} bootstrap.enabled is false: store a long-lived access token of an administrator there.`;
  const BootstrapReady = { status: 'False', reason: 'Disabled', message } as const;
  return waiting('TokenNotAvailable', message, DEPENDENCY_REQUEUE, {
    conditions: { BootstrapReady },
    status: { phase: 'Pending' },
  });
}

/** "Core keys in the user's YAML win, and that is reported" (kinds.md 3). */
function reportOverriddenSettings({ hub, conditions, events }: HubContext, fields: readonly string[]): void {
  const message = `The hub takes its location and units from configuration.yaml; these differ in bootstrap: ${fields.join(', ')}. Remove them in one of the two.`;
  conditions['BootstrapReady'] = { ...completed, message: `${completed.message} ${message}` };
  const told = hub.status?.conditions?.some(({ message: before }) => before.endsWith(message));
  if (!told) events.push({ type: 'Warning', reason: 'CoreConfigInYaml', message });
}
