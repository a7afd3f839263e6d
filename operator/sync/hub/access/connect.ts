import type { CoreConfig } from '../../../client/connection/api-types';
import { getConfig } from '../../../client/setup/core';
import {
  HubBanned,
  HubError,
  HubFailed,
  HubRejected,
  HubUnreachable,
  TokenRejected,
} from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import { isLower, OLDEST_SUPPORTED } from '../../../base/hub-version';
import type { Hub } from '../../../kinds/index';
import { DEPENDENCY_REQUEUE } from '../../../base/limits';
import { undefinedIf } from '../../../base/undefined-if';
import { condition, type Outcome, stalled, waiting } from '../../../runtime/outcome';
import { builtin } from '../../../runtime/types';
import { ApiError, isForbidden, isWebhookFailure } from '../../../runtime/api-errors';
import { conditionOf } from '../../../runtime/conditions';
import type { HubClients } from '../../hub-connection/hub-clients';
import { hubErrorOutcome } from '../../hub-connection/hub-errors';
import type { Services } from '../../services';
import { BanRecovery } from '../health/ban-recovery';
import { stateFingerprint } from '../../hub-connection/health-monitor';
import { hubModeProblem, HubStart, requireAdmin } from '../health/hub-health';
import { podState } from '../health/pod-state';
import {
  type Authenticated,
  type Found,
  type HubContext,
  isOutcome,
  requeueAfter,
  type StepResult,
  type WithAddress,
  type WithClaim,
} from '../steps';
import { type Claim, configClaimOf, podOf } from '../../hub-pod/owned-objects';
import { recordRanVersion } from '../workload/downgrade';
import type { MissingValue } from '../../hub-connection/secret-value';
import {
  bootstrapCompleted,
  bootstrapDisabled,
  BootstrapRunner,
  bootstrapStatus,
  podNotReady,
  rejectedSettingMessage,
} from './bootstrap-runner';
import { coreDifference, ensureAnalytics, ensureCoreSettings } from './core-settings';
import { releaseCredentials } from './credentials';
import { resolveAccess, revokeOtherTokens, TokenRenewal } from '../../hub-connection/token';

/** A hub whose pod is ready, and its client. */
interface Located extends Found {
  readonly url: string;
  readonly client: HubClient;
  readonly token: string;
}

/** The context after the steps of the workload. */
type Context = HubContext & WithClaim & WithAddress;

/**
 * Connects to the hub of a workload in four stages: locate (pod, address, token), authenticate (one request with the
 * token), observe (version, mode, the rights of the token), ensure (tokens and settings of the bootstrap). Where the
 * token is missing or rejected, the bootstrap makes one.
 */
export class Connector {
  private readonly bootstrap: BootstrapRunner;
  private readonly renewal: TokenRenewal;
  private readonly banRecovery: BanRecovery;
  private readonly hubStart: HubStart;
  /** Clients whose token is known to be an administrator's. */
  private readonly verifiedAdmins = new WeakSet<HubClient>();

  constructor(
    private readonly services: Services,
    private readonly hubs: HubClients,
  ) {
    this.bootstrap = new BootstrapRunner(services);
    this.renewal = new TokenRenewal(services);
    this.banRecovery = new BanRecovery(services);
    this.hubStart = new HubStart(services, hubs.healthMonitor);
  }

  /** Returns the hub that accepted the token, or the outcome that ends the reconcile. */
  async connect(context: Context): Promise<StepResult<Authenticated>> {
    try {
      const located = await this.locate(context);
      return isOutcome(located) ? located : await this.connectWithToken(context, located);
    } catch (error) {
      if (error instanceof HubBanned) {
        if (conditionOf(context.hub, 'BootstrapReady')?.status === 'False')
          context.conditions['BootstrapReady'] = bootstrapBanned;
        return this.banRecovery.recover(context, error.message);
      }
      if (!(error instanceof HubError)) throw error;
      const explained = error instanceof HubUnreachable && (await this.explainLoss(context.hub));
      return explained || hubErrorOutcome(error, 'state', phaseUnknown);
    }
  }

  private async connectWithToken(context: Context, located: Located): Promise<StepResult<Authenticated>> {
    try {
      const session = await this.observe(context, located, await this.authenticate(context, located));
      if (!isOutcome(session)) await this.ensure(context, session, located.token);
      return session;
    } catch (error) {
      if (!(error instanceof TokenRejected)) throw error;
      // The user of the token may have lost the role of an administrator.
      this.verifiedAdmins.delete(located.client);
      // The token was revoked in the hub, or is younger than the backup that was restored.
      const message = `${error.message}: store another long-lived access token in the API token Secret.`;
      const rejected = waiting('TokenRejected', message, DEPENDENCY_REQUEUE, phaseUnknown);
      return this.replaceToken(context, located.url, rejected);
    }
  }

  private async locate(context: Context): Promise<Located | Outcome> {
    const { hub, spec, url } = context;
    await releaseCredentials(this.services, hub);
    if (spec.backup && !conditionOf(hub, 'BackupConfigured'))
      context.conditions['BackupConfigured'] = noToken;
    const problem = await this.podProblem(hub);
    if (problem) return withCauseOfVolume(problem, context);
    if (!url) return podNotReady(hub, this.services.clock, 'The address of the hub is not known yet.');
    const found = await resolveAccess(this.services, hub, spec, url);
    if ('missing' in found) return this.replaceToken(context, url, tokenMissing(found));
    return { url, client: this.hubs.client(hub, found.access), token: found.access.token };
  }

  /** The outcome of a hub whose pod is not ready; undefined: it is. */
  private async podProblem(hub: Hub): Promise<Outcome | undefined> {
    const pod = await podState(this.services, hub);
    if (pod.ready) return undefined;
    if (pod.isDowngrade) return stalled('DowngradeRefused', pod.message, { status: { phase: 'Failed' } });
    return podNotReady(hub, this.services.clock, pod.message, pod.cause);
  }

  /**
   * The connection to a hub that stops is lost at about the time at which the watch delivers the change of its pod: one
   * that came since the reconcile began is the explanation.
   */
  private async explainLoss(hub: Hub): Promise<Outcome | undefined> {
    return this.banRecovery.restartInProgress(hub) ?? (await this.podProblem(hub));
  }

  private async authenticate({ hub }: HubContext, { client }: Located): Promise<CoreConfig> {
    const { healthMonitor } = this.hubs;
    try {
      const core = await getConfig(client.rest);
      healthMonitor.watch(hub, client, stateFingerprint(core));
      return core;
    } catch (error) {
      if (error instanceof HubError) healthMonitor.watch(hub, client, stateFingerprint(error));
      throw error;
    }
  }

  /** Records version and mode. Returns an outcome if the hub, or this token, must not be used for writes. */
  private async observe(
    context: Context,
    { url, client }: Located,
    core: CoreConfig,
  ): Promise<StepResult<Authenticated>> {
    const { hub, spec, status, conditions } = context;
    this.banRecovery.recordAuthenticated(context);
    reportUnsupportedVersion(context, core.version);
    status['version'] = core.version;
    const checked = this.checkedVolume(context);
    // Also in recovery mode: that version has used the volume.
    await this.recordVersion(context, checked, core.version);
    const problem = await hubModeProblem(this.services, hub, core, client);
    if (problem) return problem;
    const notAdmin = await this.requireAdmin(context, client);
    if (notAdmin) return this.replaceToken(context, url, notAdmin);
    conditions['BootstrapReady'] = spec.bootstrap.enabled ? bootstrapCompleted : bootstrapDisabled;
    const running = await this.hubStart.running(context, client, core);
    if (isOutcome(running)) return running;
    // Together with the phase, by which the children know that they may use the hub.
    const volume = checked ?? (await this.readVolume(context));
    if (volume) status['volumeID'] = volume.metadata.uid;
    return { url, client, core: running.core };
  }

  /** A claim that may not be changed keeps no hub from being used: the init container reads the version on the volume. */
  private async recordVersion(
    { hub, spec, reconcile }: HubContext,
    claim: Claim | undefined,
    version: string,
  ): Promise<void> {
    try {
      await recordRanVersion(this.services, { hub, spec, claim }, version);
    } catch (error) {
      if (!isForbidden(error) && !isWebhookFailure(error)) throw error;
      reconcile.log.warn({ error }, 'cannot record the version on the claim');
    }
  }

  /** The claim of the context, if the pod runs on it: it may be that of the next pod. */
  private checkedVolume({ hub, claim }: Context): Claim | undefined {
    return claim?.metadata.name === configClaimOf(podOf(this.services, hub)?.spec) ? claim : undefined;
  }

  /**
   * The claim that the pod runs on, where it could not be checked: a hub that came up may be on another one than before, also
   * while no operator ran. Undefined: it cannot be read, and the hub is in use.
   */
  private async readVolume({ hub }: Context): Promise<Claim | undefined> {
    const mounted = configClaimOf(podOf(this.services, hub)?.spec);
    if (mounted === undefined) return undefined;
    const type = builtin.PersistentVolumeClaim;
    const reading = this.services.applier.find<Claim>(type, hub.metadata.namespace, mounted);
    const mayFail = (error: unknown) => error instanceof ApiError && hub.status?.phase === 'Running';
    return undefinedIf(mayFail, reading);
  }

  private async ensure(context: HubContext, { client, core }: Authenticated, token: string): Promise<void> {
    const { hub, spec, status } = context;
    if (!spec.bootstrap.enabled) return;
    try {
      // A crash, or an earlier Hub of this name, may have left tokens in the hub that no Secret holds.
      if (hub.status?.bootstrap?.state !== 'Done') await revokeOtherTokens(client.connection, token);
      Object.assign(status, bootstrapStatus(hub, this.services.clock, 'Done', 'Bootstrap is complete.'));
      await this.renewal.ensureFresh(hub, spec, client, token);
      const overridden = await ensureCoreSettings(client.connection, coreDifference(hub, spec, core));
      if (overridden.length > 0) reportOverriddenSettings(context, overridden);
      await ensureAnalytics(hub, client.connection);
    } catch (error) {
      reportFailedSetting(context, error);
    }
  }

  /** Checked once per token: if the user loses the role later, the first write is rejected. */
  private async requireAdmin({ reconcile }: HubContext, client: HubClient): Promise<Outcome | undefined> {
    if (this.verifiedAdmins.has(client) && !reconcile.forced) return undefined;
    const notAdmin = await requireAdmin(client);
    if (!notAdmin) this.verifiedAdmins.add(client);
    return notAdmin;
  }

  /** Creates a token with the owner's credentials; returns `otherwise` if the bootstrap is disabled. */
  private async replaceToken(context: HubContext, url: string, otherwise: Outcome): Promise<Outcome> {
    const { spec, conditions } = context;
    if (spec.backup) conditions['BackupConfigured'] = noToken;
    return spec.bootstrap.enabled ? this.bootstrap.run(context, url) : otherwise;
  }
}

/**
 * The outcome of a running hub that rejects a setting of the bootstrap: it is reported and does not stop the reconcile.
 *
 * @throws error itself if it does not concern the setting
 */
function reportFailedSetting(context: HubContext, error: unknown): void {
  if (!(error instanceof HubRejected || error instanceof HubFailed)) throw error;
  if (error instanceof HubRejected) {
    context.problem ??= stalled('RejectedByHub', rejectedSettingMessage(error));
    return;
  }
  const message = `${bootstrapCompleted.message} The hub failed at a request of the bootstrap: ${error.message}`;
  context.conditions['BootstrapReady'] = { ...bootstrapCompleted, message };
  requeueAfter(context, DEPENDENCY_REQUEUE);
}

/** Core settings in the user's YAML win (rules.md, "Core settings"). */
function reportOverriddenSettings({ hub, conditions, events }: HubContext, fields: readonly string[]): void {
  const message = `The hub takes its location and units from configuration.yaml; these differ in bootstrap: ${fields.join(', ')}. Remove them in one of the two.`;
  conditions['BootstrapReady'] = {
    ...bootstrapCompleted,
    message: `${bootstrapCompleted.message} ${message}`,
  };
  const reported = hub.status?.conditions?.some(({ message: before }) => before.endsWith(message));
  if (!reported) events.push({ type: 'Warning', reason: 'CoreConfigInYaml', message });
}

const phaseUnknown = { status: { phase: 'Unknown' } };

/** `BootstrapReady` of a hub that has banned the operator before it was bootstrapped. */
const bootstrapBanned = condition(
  'False',
  'InProgress',
  'The bootstrap continues when the hub has lifted its ban of the operator.',
);

/** The scheduler does not say why a claim has no volume. */
function withCauseOfVolume(problem: Outcome, { conditions }: HubContext): Outcome {
  const storage = conditions['StorageReady'];
  if (storage?.reason !== 'Pending') return problem;
  return { ...problem, message: `${problem.message.replace(/\.?$/, '.')} ${storage.message}` };
}

/** `BackupConfigured` while no token works. */
const noToken = condition('False', 'TokenNotAvailable', 'Waiting for the API token.');

function tokenMissing({ missing, isRefused }: MissingValue): Outcome {
  if (isRefused) return stalled('SecretRefused', missing, { status: { phase: 'Pending' } });
  const message = `${missing} bootstrap.enabled is false: store a long-lived access token of an administrator there.`;
  return waiting('TokenNotAvailable', message, DEPENDENCY_REQUEUE, {
    conditions: { BootstrapReady: condition('False', 'Disabled', message) },
    status: { phase: 'Pending' },
  });
}

/** Once for each version: the hub may lack commands that the operator uses. */
function reportUnsupportedVersion({ hub, events }: HubContext, version: string): void {
  if (hub.status?.version === version || !isLower(version, OLDEST_SUPPORTED)) return;
  const message =
    `The hub runs Home Assistant ${version}. The oldest version that is supported is ${OLDEST_SUPPORTED}: ` +
    'what the operator needs may be missing. Set spec.version to a later one, or update an external hub.';
  events.push({ type: 'Warning', reason: 'UnsupportedVersion', message });
}
