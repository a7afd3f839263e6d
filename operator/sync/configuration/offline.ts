import type { Hub, HubConfiguration } from '../../kinds';
import { HUB_RETURN_LIMIT } from '../../limits';
import { conditionOf } from '../../runtime/conditions';
import type { Outcome } from '../../runtime/outcome';
import { PerHub } from '../hub/per-hub';
import type { Services } from '../services';
import { objectNames } from '../../kinds/object-names';
import { builtin } from '../../runtime/types';
import type { Pod } from '../hub/health/pod-state';
import { HUB_CONTAINER } from '../hub/owned-objects';
import type { AcceptedConfigurations } from './accepted';
import { type Content, isSameMarker } from './content';
import type { ReloadStrategy } from './reload-decision';
import type { PodReplacement } from './pod-replacement';
import { publishConfiguration, publishedConfiguration } from './publish';
import { Outcomes } from './outcomes';
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
  ) {
    this.waiting = new PerHub(services.cache);
  }

  /** @param outcome why the hub cannot be used */
  async sync(
    resource: HubConfiguration,
    { content, strategy }: { readonly content: Content; readonly strategy: ReloadStrategy },
    hub: Hub | undefined,
    outcome: Outcome,
  ): Promise<Outcome> {
    const { services } = this;
    const { namespace } = resource.metadata;
    const { name } = resource.spec.hubRef;
    const { files, restart } = content;
    const { configuration: hash } = content.marker;
    const outcomes = new Outcomes(resource, hash, services.clock.now());
    const withHash = { ...outcome, status: { ...outcome.status, ...outcomes.generated } };
    const present = publishedConfiguration(services, resource);
    const verdict = await startVerdict(services, namespace, name);
    const accepted = hub && (await this.accepted.get(hub));
    const isRecovery = hub !== undefined && conditionOf(hub, 'Ready')?.reason === 'RecoveryMode';
    if (present?.hash === hash) {
      // A crash left it there before the hub had checked it, and the hub cannot start with it.
      if (isRecovery && accepted && accepted.marker.configuration !== hash) {
        const { configuration } = accepted.marker;
        await publishConfiguration(services, resource, { files: accepted.files, hash: configuration });
        await this.pods.replace(hub, `recovery mode with ${hash}`);
        return outcomes.checkFailed(conditionOf(hub, 'Ready')?.message ?? 'The hub runs in recovery mode.');
      }
      await publishConfiguration(services, resource, { files, hash }, accepted ? undefined : restart);
      const isRejected = verdict && isSameMarker(verdict.marker, content.marker);
      return isRejected ? outcomes.checkFailed(verdict.message, false) : withHash;
    }
    // The hub rejected it. That it is replaced for another reason changes nothing.
    const before = conditionOf(resource, 'Ready');
    if (before?.reason === 'CheckFailed' && resource.status?.configHash === hash)
      return outcomes.checkFailed(before.message, false);
    if (hub && accepted && !isRecovery && !verdict && this.mayReturn(hub, hash))
      return { ...withHash, after: RETURN_POLL };
    // The next start of the pod reads it; with hot-reload nothing causes one.
    const mayRestart = !accepted || isRecovery || strategy !== 'hot-reload';
    await publishConfiguration(services, resource, { files, hash }, mayRestart ? restart : undefined);
    return withHash;
  }

  /** For a minute, or as long as its pod starts: the migration of a database must not be interrupted. */
  private mayReturn(hub: Hub, hash: string): boolean {
    const { namespace, name } = hub.metadata;
    const pod = this.services.cache.get<Pod>(builtin.Pod.kind, namespace, objectNames(name).pod);
    const container = pod?.status?.containerStatuses?.find((each) => each.name === HUB_CONTAINER);
    if (container?.started === false && container.state?.running) return true;
    const now = this.services.clock.monotonic();
    const before = this.waiting.get(hub);
    const since = before?.hash === hash ? before.since : now;
    this.waiting.set(hub, { hash, since });
    return now - since < HUB_RETURN_LIMIT;
  }
}
