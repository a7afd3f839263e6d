import type { Hub, HubConfiguration } from '../../kinds';
import { HUB_RETURN_LIMIT } from '../../limits';
import { conditionOf } from '../../runtime/conditions';
import type { Outcome } from '../../runtime/outcome';
import { PerHub } from '../hub/per-hub';
import type { Services } from '../services';
import type { AcceptedConfigurations } from './accepted';
import type { Content } from './content';
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
  ) {
    this.waiting = new PerHub(services.cache);
  }

  /** @param outcome why the hub cannot be used */
  async sync(
    resource: HubConfiguration,
    content: Content,
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
    if (present?.hash === hash && present.restart.secrets === restart.secrets) {
      await publishConfiguration(services, resource, { files, hash });
      return verdict?.hash === hash ? outcomes.checkFailed(verdict.message, false) : withHash;
    }
    // The hub rejected it. That it is replaced for another reason changes nothing.
    const before = conditionOf(resource, 'Ready');
    if (before?.reason === 'CheckFailed' && resource.status?.configHash === hash)
      return outcomes.checkFailed(before.message, false);
    if (hub && (await this.mayReturn(hub, hash))) return { ...withHash, after: RETURN_POLL } as Outcome;
    await publishConfiguration(services, resource, { files, hash }, restart);
    return withHash;
  }

  private async mayReturn(hub: Hub, hash: string): Promise<boolean> {
    if (!(await this.accepted.get(hub))) return false; // it never ran with a configuration
    if (conditionOf(hub, 'Ready')?.reason === 'RecoveryMode') return false; // only another configuration helps
    const now = this.services.clock.monotonic();
    const before = this.waiting.get(hub);
    const since = before?.hash === hash ? before.since : now;
    this.waiting.set(hub, { hash, since });
    return now - since < HUB_RETURN_LIMIT;
  }
}
