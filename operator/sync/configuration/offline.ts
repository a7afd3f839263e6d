import type { Hub } from '../../kinds';
import { userAnnotations } from '../../kinds/annotations';
import { isInRecoveryMode } from '../../kinds/hub';
import { objectNames } from '../../kinds/object-names';
import { DEPENDENCY_REQUEUE, HUB_RETURN_LIMIT, HUB_START_LIMIT } from '../../limits';
import { conditionOf } from '../../runtime/conditions';
import type { Outcome } from '../../runtime/outcome';
import { builtin } from '../../runtime/types';
import type { Pod } from '../hub/health/pod-state';
import { HUB_CONTAINER } from '../hub/owned-objects';
import { PerHub } from '../hub/per-hub';
import type { Services } from '../services';
import type { Accepted, AcceptedConfigurations } from './accepted';
import { type Content, isSameMarker } from './content';
import type { FailedStarts } from './failed-starts';
import type { Wanted } from './loads';
import { Outcomes } from './outcomes';
import type { PodReplacement } from './pod-replacement';
import { isRestartPublished, publishConfiguration, publishedConfiguration } from './publish';
import { decideReload } from './reload-decision';
import { startVerdict } from './start-verdict';

/** How soon it is looked whether the time for the return of the hub is over. */
const RETURN_POLL = 5_000;

/**
 * Writes a configuration for a hub that cannot be used. One that ran before is waited for, so that it checks the change
 * and loads it without a restart if it can; else the next start of the pod checks it.
 */
export class OfflineConfigurations {
  /** Since when a change waits, by the monotonic clock. */
  private readonly waiting: PerHub<{ readonly hash: string; readonly since: number }>;

  constructor(
    private readonly services: Services,
    private readonly accepted: AcceptedConfigurations,
    private readonly pods: PodReplacement,
    private readonly failedStarts: FailedStarts,
  ) {
    this.waiting = new PerHub(services.cache);
  }

  /** @param outcome why the hub cannot be used */
  async sync(wanted: Wanted, hub: Hub | undefined, outcome: Outcome, forced: boolean): Promise<Outcome> {
    const { services } = this;
    const { resource, content, policy } = wanted;
    const { namespace } = resource.metadata;
    const { name } = resource.spec.hubRef;
    const { files, restart } = content;
    const { configuration: hash } = content.marker;
    const verdict = await startVerdict(services, namespace, name);
    const isRejected = verdict !== undefined && isSameMarker(verdict.marker, content.marker) && !forced;
    const accepted = hub && (await this.accepted.current(hub, forced));
    const outcomes = new Outcomes(resource, content, accepted);
    const isRecovery = hub !== undefined && isInRecoveryMode(hub);
    const withHash = {
      ...outcome,
      // The hub may not have answered when it was asked for its mode.
      ...(isRecovery && { after: DEPENDENCY_REQUEUE }),
      status: { ...outcome.status, ...outcomes.generated },
    };
    if (hub && !verdict && (await this.failedStarts.goBack(resource, content, hub, accepted)))
      return outcomes.failedStart();
    const present = publishedConfiguration(services, resource);
    if (present?.hash === hash) {
      // A crash left it there before the hub had checked it, and the hub cannot start with it.
      if (
        isRecovery &&
        accepted &&
        accepted.marker.configuration !== hash &&
        present.restart.configuration !== hash
      ) {
        const { configuration } = accepted.marker;
        await publishConfiguration(services, resource, { files: accepted.files, hash: configuration });
        await this.pods.replace(hub, `recovery mode with ${hash}`);
        return outcomes.checkFailed(conditionOf(hub, 'Ready')?.message ?? 'The hub runs in recovery mode.');
      }
      if (isRejected || !accepted || !this.needsRestart(wanted, accepted)) {
        await publishConfiguration(services, resource, { files, hash }, accepted ? undefined : restart);
        return isRejected ? outcomes.checkFailed(verdict.message, false) : withHash;
      }
    } else if (!forced && !this.isCorrected(content, accepted)) {
      // The hub rejected it. That it is replaced for another reason changes nothing.
      const before = conditionOf(resource, 'Ready');
      if (before?.reason === 'CheckFailed' && resource.status?.configHash === hash)
        return outcomes.checkFailed(before.message, false);
    }
    if (hub && accepted && !isRecovery && !verdict && !forced) {
      const isStarting = this.isStarting(hub);
      // What it starts with may be what keeps it from starting.
      const isGood = present?.hash === accepted.marker.configuration && accepted.pending.length === 0;
      const limit = isStarting && isGood ? HUB_START_LIMIT : HUB_RETURN_LIMIT;
      if (this.mayReturn(hub, `${hash} ${restart.secrets}`, limit)) {
        const message = isStarting ? `${outcome.message} ${START_HINT}` : outcome.message;
        return { ...withHash, message, after: RETURN_POLL };
      }
    }
    // The next start of the pod reads it; with hot-reload nothing causes one.
    const mayRestart = !accepted || isRecovery || policy.strategy !== 'hot-reload';
    await publishConfiguration(services, resource, { files, hash }, mayRestart ? restart : undefined);
    return withHash;
  }

  /** Whether the hub could not start with the same files and other secrets. */
  private isCorrected({ marker }: Content, accepted: Accepted | undefined): boolean {
    const failed = accepted?.failedStart?.marker;
    return failed?.configuration === marker.configuration && !isSameMarker(failed, marker);
  }

  /** Whether changed secrets, or what waited for a restart before, ask for a restart that is not decided yet. */
  private needsRestart({ resource, content, policy }: Wanted, accepted: Accepted): boolean {
    if (isRestartPublished(this.services, resource, content.restart)) return false;
    const nothing = { services: new Set<string>(), httpByApi: true };
    return decideReload(policy, accepted.loaded, content.sections, nothing).type === 'restart';
  }

  private mayReturn(hub: Hub, hash: string, limit: number): boolean {
    const now = this.services.clock.monotonic();
    const before = this.waiting.get(hub);
    const since = before?.hash === hash ? before.since : now;
    this.waiting.set(hub, { hash, since });
    return now - since < limit;
  }

  /** It may be migrating its database, which must not be interrupted without need. */
  private isStarting({ metadata: { namespace, name } }: Hub): boolean {
    const pod = this.services.cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(name).pod);
    const container = pod?.status?.containerStatuses?.find((each) => each.name === HUB_CONTAINER);
    return container?.started === false && container.state?.running !== undefined;
  }
}

const START_HINT = `The hub is starting, and the change waits for up to ${HUB_START_LIMIT / 60_000} minutes. Annotate this resource with ${userAnnotations.reconcileAt} to restart the hub with it now.`;
