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
import { sentence } from '../../../base/sentence';
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
  failureOutcome,
  type Found,
  type HubContext,
  isOutcome,
  requeueAfter,
  type StepResult,
  type WithAddress,
  type WithClaim,
} from '../steps';
import { type Claim, configClaimOf, podOf } from '../../hub-pod/owned-objects';
import type { PodRestarts } from '../../hub-pod/pod-restarts';
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
import { resolveAccess, TokenRenewal } from '../../hub-connection/token';

/** The hub of a ready pod, and a client for it. */
interface Located extends Found {
  readonly url: string;
  readonly client: HubClient;
  readonly token: string;
}

/** The context after the steps that ensure the workload. */
type Context = HubContext & WithClaim & WithAddress;

/**
 * Connects to the hub of a workload in four stages: locate (pod, address, token), authenticate (one request
 * with the token), observe (version, mode, the rights of the token), ensure (tokens and settings of the
 * bootstrap). If the token is missing or rejected, the bootstrap creates one.
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
    restarts: Pick<PodRestarts, 'occupation'>,
  ) {
    this.bootstrap = new BootstrapRunner(services);
    this.renewal = new TokenRenewal(services);
    this.banRecovery = new BanRecovery(services, restarts);
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
      // The user of the token may no longer be an administrator.
      this.verifiedAdmins.delete(located.client);
      // The token was revoked in the hub, or is younger than the backup that was restored.
      const message = `${error.message}: store another long-lived access token in the API token Secret.`;
      const rejected = waiting('TokenRejected', message, DEPENDENCY_REQUEUE, phaseUnknown);
      return this.replaceToken(context, located.url, rejected);
    }
  }

  private async locate(context: Context): Promise<Located | Outcome> {
    const { hub, reconcile, spec, url } = context;
    await releaseCredentials(this.services, hub);
    if (spec.backup && !conditionOf(hub, 'BackupConfigured'))
      context.conditions['BackupConfigured'] = noToken;
    const problem = await this.podProblem(hub);
    if (problem) return withCauseOfVolume(problem, context);
    if (!url) return podNotReady(hub, this.services.clock, 'The address of the hub is not known yet.');
    const found = await resolveAccess(this.services, hub, spec, url);
    if ('missing' in found) return this.replaceToken(context, url, tokenMissing(found));
    const client = this.hubs.client(hub, found.access, reconcile.forced);
    return { url, client, token: found.access.token };
  }

  /** The outcome for a pod that is not ready. @returns undefined when the pod is ready */
  private async podProblem(hub: Hub): Promise<Outcome | undefined> {
    const pod = await podState(this.services, hub);
    if (pod.ready) return undefined;
    if (pod.isDowngrade) return stalled('DowngradeRefused', pod.message, { status: { phase: 'Failed' } });
    return podNotReady(hub, this.services.clock, pod.message, pod.cause);
  }

  /**
   * The outcome that explains a lost connection. A stopping hub loses its connection at about the time at
   * which the watch delivers the change of its pod, so the state of the pod is checked again.
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

  /**
   * Records version and mode.
   *
   * @returns an outcome if the hub, or this token, must not be used for writes
   */
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
    // In recovery mode the version is recorded too, since it has already used the volume.
    await this.recordVersion(context, checked, core.version);
    const problem = await hubModeProblem(this.services, hub, core, client);
    if (problem) return problem;
    const notAdmin = await this.requireAdmin(context, client);
    if (notAdmin) return this.replaceToken(context, url, notAdmin);
    conditions['BootstrapReady'] = spec.bootstrap.enabled ? bootstrapCompleted : bootstrapDisabled;
    const running = await this.hubStart.running(context, client, core);
    if (isOutcome(running)) return running;
    // The volume is set together with the phase `Running`, from which the children know that they may use the
    // hub.
    const volume = checked ?? (await this.readVolume(context));
    if (volume) status['volumeID'] = volume.metadata.uid;
    return { url, client, core: running.core };
  }

  /**
   * Records the version on the claim. If the claim may not be changed, the hub is used nevertheless: the init
   * container also reads the version from the volume.
   */
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

  /**
   * The claim of the context if the pod runs on it. It may be the claim of the next pod instead, and then
   * undefined is returned.
   */
  private checkedVolume({ hub, claim }: Context): Claim | undefined {
    return claim?.metadata.name === configClaimOf(podOf(this.services, hub)?.spec) ? claim : undefined;
  }

  /**
   * Reads the claim that the pod runs on, when it could not be checked earlier. A hub that was not in use
   * before may have started on another claim, also while no operator ran.
   *
   * @returns undefined when no pod has a claim, or when it cannot be read and the hub is in use
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
    const settings = [
      async () => {
        await this.renewal.revokeOthers(hub, spec, client, token);
        Object.assign(status, bootstrapStatus(hub, this.services.clock, 'Done', 'Bootstrap is complete.'));
      },
      () => this.renewal.ensureFresh(hub, spec, client, token),
      async () => {
        const overridden = await ensureCoreSettings(client.connection, coreDifference(hub, spec, core));
        if (overridden.length > 0) reportOverriddenSettings(context, overridden);
      },
      () => ensureAnalytics(hub, client.connection),
    ];
    for (const ensure of settings) await ensure().catch((error) => reportFailedSetting(context, error));
  }

  /**
   * Checks that the user of the token is an administrator, once per token. If the user loses that role later,
   * the hub rejects the first write.
   */
  private async requireAdmin({ reconcile }: HubContext, client: HubClient): Promise<Outcome | undefined> {
    if (this.verifiedAdmins.has(client) && !reconcile.forced) return undefined;
    const notAdmin = await requireAdmin(client);
    if (!notAdmin) this.verifiedAdmins.add(client);
    return notAdmin;
  }

  /**
   * Creates a token with the owner's credentials.
   *
   * @returns `otherwise` if the bootstrap is disabled
   */
  private async replaceToken(context: HubContext, url: string, otherwise: Outcome): Promise<Outcome> {
    const { spec, conditions } = context;
    if (spec.backup) conditions['BackupConfigured'] = noToken;
    return spec.bootstrap.enabled ? this.bootstrap.run(context, url) : otherwise;
  }
}

/**
 * Reports that a running hub rejects a setting of the bootstrap, or that the cluster refuses the Secret of a new token.
 * The reconcile continues.
 *
 * @throws error unchanged, if it does not concern the setting
 */
function reportFailedSetting(context: HubContext, error: unknown): void {
  if (error instanceof HubFailed) {
    addToBootstrapReady(context, `The hub failed at a request of the bootstrap: ${error.message}`);
    requeueAfter(context, DEPENDENCY_REQUEUE);
    return;
  }
  const problem =
    error instanceof HubRejected
      ? stalled('RejectedByHub', rejectedSettingMessage(error))
      : failureOutcome(error, true);
  // `Ready` has the first problem only.
  addToBootstrapReady(context, problem.message);
  context.problem ??= problem;
}

/** Reports the core settings that the user's YAML overrides (rules.md, "Core settings"). */
function reportOverriddenSettings(context: HubContext, fields: readonly string[]): void {
  const message = `The hub takes its location and units from configuration.yaml; these differ in bootstrap: ${fields.join(', ')}. Remove them in one of the two.`;
  addToBootstrapReady(context, message);
  const reported = context.hub.status?.conditions?.some(({ message: before }) => before.includes(message));
  if (!reported) context.events.push({ type: 'Warning', reason: 'CoreConfigInYaml', message });
}

/** Adds to `BootstrapReady` that a setting differs. Each of several settings is named, in a sentence of its own. */
function addToBootstrapReady({ conditions }: HubContext, problem: string): void {
  const { message } = conditions['BootstrapReady'] ?? bootstrapCompleted;
  conditions['BootstrapReady'] = { ...bootstrapCompleted, message: `${message} ${ended(sentence(problem))}` };
}

/** A text of the hub or of the API server, to which another sentence is added. */
const ended = (text: string): string => text.replace(/\.?$/, '.');

const phaseUnknown = { status: { phase: 'Unknown' } };

/** `BootstrapReady` of a hub that banned the operator before the bootstrap was complete. */
const bootstrapBanned = condition(
  'False',
  'InProgress',
  'The bootstrap continues when the hub has lifted its ban of the operator.',
);

/**
 * Adds the cause that a claim has no volume to the problem of the pod, since the scheduler does not name it.
 */
function withCauseOfVolume(problem: Outcome, { conditions }: HubContext): Outcome {
  const storage = conditions['StorageReady'];
  if (storage?.reason !== 'Pending') return problem;
  return { ...problem, message: `${ended(problem.message)} ${storage.message}` };
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

/**
 * Warns of a hub that is older than any supported version, once per version: it may lack commands that the
 * operator uses.
 */
function reportUnsupportedVersion({ hub, events }: HubContext, version: string): void {
  if (hub.status?.version === version || !isLower(version, OLDEST_SUPPORTED)) return;
  const message =
    `The hub runs Home Assistant ${version}. The oldest version that is supported is ${OLDEST_SUPPORTED}: ` +
    'what the operator needs may be missing. Set spec.version to a later one, or update an external hub.';
  events.push({ type: 'Warning', reason: 'UnsupportedVersion', message });
}
