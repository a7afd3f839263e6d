import type { Hub } from '../../kinds';
import { isInRecoveryMode } from '../../kinds/hub';
import { DEPENDENCY_REQUEUE } from '../../limits';
import { conditionOf } from '../../runtime/conditions';
import type { Outcome } from '../../runtime/outcome';
import type { Services } from '../services';
import type { Accepted, AcceptedConfigurations } from './record/accepted-configuration';
import { addedFiles, type Content, isSameMarker } from './generate/configuration-content';
import type { FailedStarts } from './failed-starts';
import { restartHeldBy } from './held-restart';
import type { HubReturn } from './hub-return';
import type { DesiredContent } from './load/load-jobs';
import { Outcomes } from './record/conditions';
import type { PodReplacement } from './pod-replacement';
import { isRestartPublished, publishConfiguration, type Published, publishedConfiguration } from './record/publish';
import { decideReload } from './load/reload-decision';
import { type StartVerdict, startVerdict } from './start-verdict';

/** Interval of the check whether the hub has had its time to return, in milliseconds. */
const RETURN_POLL = 5_000;

/** The state of a hub that cannot be used, and the configuration that it shall get. */
interface Situation {
  readonly desired: DesiredContent;
  readonly hub: Hub | undefined;
  /** Why the hub cannot be used, with the fields of status. */
  readonly unusable: Outcome;
  readonly forced: boolean;
  /** The configuration that the start of the present pod rejected. */
  readonly verdict: StartVerdict | undefined;
  readonly accepted: Accepted | undefined;
  readonly present: Published | undefined;
  readonly isRecovery: boolean;
  readonly outcomes: Outcomes;
}

/**
 * Writes a configuration for a hub that cannot be used. One that ran before is waited for, so that it checks the change
 * and loads it without a restart if it can; else the next start of the pod checks it.
 */
export class OfflineConfigurations {
  constructor(
    private readonly services: Pick<Services, 'cache' | 'applier' | 'secrets'>,
    private readonly accepted: AcceptedConfigurations,
    private readonly pods: PodReplacement,
    private readonly failedStarts: FailedStarts,
    private readonly hubReturn: HubReturn,
  ) {}

  /** @param outcome why the hub cannot be used */
  async sync(
    desired: DesiredContent,
    hub: Hub | undefined,
    outcome: Outcome,
    forced: boolean,
  ): Promise<Outcome> {
    const { resource, content } = desired;
    const { namespace } = resource.metadata;
    const verdict = await startVerdict(this.services, namespace, resource.spec.hubRef.name);
    const accepted = hub && (await this.accepted.current(hub, forced));
    const outcomes = new Outcomes(resource, content, accepted);
    const failure = hub && !verdict && (await this.failedStarts.handle(resource, content, hub, accepted));
    if (hub && failure === 'went back')
      return outcomes.failedStartOffline(restartHeldBy(this.services, resource, hub));
    const isRecovery = hub !== undefined && isInRecoveryMode(hub);
    const situation = {
      desired,
      hub,
      forced,
      verdict,
      accepted,
      isRecovery,
      outcomes,
      present: publishedConfiguration(this.services, resource),
      unusable: {
        ...outcome,
        // The hub may not have answered when it was asked for its mode.
        ...(isRecovery && { after: DEPENDENCY_REQUEUE }),
        status: { ...outcome.status, ...outcomes.generated },
      },
    };
    const settled =
      situation.present?.hash === content.marker.configuration
        ? await this.published(situation, failure === 'has no other')
        : this.rejectedBefore(situation);
    return (
      settled ?? this.withNewFiles(situation) ?? this.waiting(situation) ?? (await this.publish(situation))
    );
  }

  /** The outcome for a content that is in the ConfigMap; undefined: the hub has to be restarted for it. */
  private async published(situation: Situation, hasNoOther: boolean): Promise<Outcome | undefined> {
    const { desired, hub, forced, verdict, accepted, present, isRecovery, outcomes, unusable } = situation;
    const { resource, content, policy } = desired;
    const { files, restart, marker } = content;
    const { configuration: hash } = marker;
    // A crash left it there before the hub had checked it, and the hub cannot start with it.
    if (
      hub &&
      isRecovery &&
      accepted &&
      accepted.marker.configuration !== hash &&
      present?.restart.configuration !== hash
    ) {
      const { configuration } = accepted.marker;
      await publishConfiguration(this.services, resource, { files: accepted.files, hash: configuration });
      await this.pods.replace(hub, `recovery mode with ${hash}`);
      return outcomes.uncheckedStart();
    }
    const rejected = verdict && isSameMarker(verdict.marker, marker) && !forced ? verdict : undefined;
    if (!rejected && accepted && this.needsRestart(situation, accepted)) return undefined;
    await publishConfiguration(this.services, resource, { files, hash }, accepted ? undefined : restart);
    if (rejected) return outcomes.checkFailed(rejected.message, false);
    return hasNoOther ? outcomes.failedOnlyStart(policy) : unusable;
  }

  /** The hub rejected it. That the hub is away for another reason changes nothing. */
  private rejectedBefore({ desired, forced, accepted, outcomes }: Situation): Outcome | undefined {
    const { resource, content } = desired;
    if (forced || isCorrected(content, accepted)) return undefined;
    const before = conditionOf(resource, 'Ready');
    return before?.reason === 'CheckFailed' && resource.status?.configHash === content.marker.configuration
      ? outcomes.checkFailed(before.message, false)
      : undefined;
  }

  /** With hot-reload no pod is started that could read them, and a hub that restarts by itself could not. */
  private withNewFiles({ desired, accepted, isRecovery, outcomes }: Situation): Outcome | undefined {
    const { content, policy } = desired;
    if (!accepted || isRecovery || policy.strategy !== 'hot-reload') return undefined;
    const added = addedFiles(accepted.files, content.files);
    return added.length > 0 ? outcomes.newFiles(added) : undefined;
  }

  private waiting(situation: Situation): Outcome | undefined {
    const { desired, hub, forced, verdict, accepted, present, isRecovery, unusable } = situation;
    if (!hub || !accepted || isRecovery || verdict || forced) return undefined;
    const { marker, restart } = desired.content;
    const isGood = present?.hash === accepted.marker.configuration && accepted.pending.length === 0;
    const held = this.hubReturn.hold(hub, `${marker.configuration} ${restart.secrets}`, isGood);
    if (!held) return undefined;
    const message = held.hint === undefined ? unusable.message : `${unusable.message} ${held.hint}`;
    return { ...unusable, message, after: RETURN_POLL };
  }

  /** The next start of the pod reads it; with hot-reload nothing causes one. */
  private async publish({ desired, accepted, isRecovery, unusable }: Situation): Promise<Outcome> {
    const { resource, content, policy } = desired;
    const { files, restart, marker } = content;
    const mayRestart = !accepted || isRecovery || policy.strategy !== 'hot-reload';
    const written = { files, hash: marker.configuration };
    await publishConfiguration(this.services, resource, written, mayRestart ? restart : undefined);
    return unusable;
  }

  /** Whether changed secrets or pending sections require a restart that is not decided yet. */
  private needsRestart({ desired, isRecovery }: Situation, accepted: Accepted): boolean {
    const { resource, content, policy } = desired;
    if (isRestartPublished(this.services, resource, content.restart)) return false;
    // Recovery mode uses no configuration, and the hub failed to start with another one than the accepted one.
    if (isRecovery) return true;
    const nothing = { services: new Set<string>(), httpByApi: true };
    return decideReload(policy, accepted.loaded, content.sections, nothing).type === 'restart';
  }
}

/** Whether the hub could not start with the same files and other secrets. */
function isCorrected({ marker }: Content, accepted: Accepted | undefined): boolean {
  const failed = accepted?.failedStart?.marker;
  return failed?.configuration === marker.configuration && !isSameMarker(failed, marker);
}
