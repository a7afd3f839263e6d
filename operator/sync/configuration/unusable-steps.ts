import type { Hub } from '../../kinds';
import { userAnnotations } from '../../kinds/annotations';
import { HUB_START_LIMIT } from '../../base/limits';
import type { Outcome } from '../../runtime/outcome';
import { SECRETS_HASH_KEY } from '../secrets-yaml/secrets-yaml';
import { Outcomes } from './conditions';
import { addedFiles, isSameMarker } from './generate/configuration-content';
import type { MarkerVariables } from './generate/content-marker';
import {
  isSameRestart,
  publishConfiguration,
  type PublishedFiles,
  publishWithoutRestart,
} from './record/publish';
import type { ConfigurationRecord } from './record/record';
import {
  changedOf,
  replacePod,
  reportFailed,
  reportRejected,
  type StepServices,
  type UnusableWork,
  type Work,
} from './step-context';

/** Interval of the check whether a hub has had its time to return, in milliseconds. */
const RETURN_POLL = 5_000;

const START_HINT = `The hub is starting, and the change waits for up to ${HUB_START_LIMIT / 60_000} minutes. Annotate this resource with ${userAnnotations.reconcileAt} to restart the hub with it now.`;

/** The steps for a hub that cannot be used, or that does not exist. */
export class UnusableSteps {
  constructor(private readonly given: StepServices) {}

  async take(work: UnusableWork): Promise<Outcome> {
    const { step, outcomes, record, observed, unusable, content, hub } = work;
    switch (step) {
      case 'ReportRejected':
        return reportRejected(work);
      case 'ReportFailed':
        return reportFailed(this.given, { ...work, hub: hub! });
      case 'ReportNewFiles':
        return outcomes.newFiles(addedFiles(record!.files, content.files));
      case 'ReportNoOther':
        return outcomes.noOther(work.policy);
      case 'ReportHeld':
        return outcomes.restarting(changedOf(work), observed.heldBy);
      case 'Hold': {
        const isStarting = observed.mode === 'starting';
        return {
          ...unusable,
          message: isStarting ? `${unusable.message} ${START_HINT}` : unusable.message,
          after: RETURN_POLL,
        };
      }
      case 'Publish':
        await this.publish(work);
        return unusable;
      case 'GoBack':
        return this.goBack(work, hub!);
      case 'GoBackUnchecked':
        return this.goBackUnchecked(work, hub!);
      case 'Heal':
        return this.heal(work, hub!);
      default:
        if (!record) await this.publish(work);
        return unusable;
    }
  }

  /** The next start of the pod reads it; with hot-reload nothing causes one. */
  private async publish({ resource, content, policy, observed }: UnusableWork): Promise<void> {
    const isFirst = observed.published === undefined;
    const mayRestart = isFirst || observed.mode === 'recovery' || policy.strategy !== 'hot-reload';
    await publishConfiguration(
      this.given.services,
      resource,
      content,
      mayRestart ? content.restart : undefined,
    );
  }

  /**
   * One restart into recovery mode, and one out of it. What failed is in the record before anything is written, so that no
   * crash repeats it.
   */
  private async goBack(work: UnusableWork, hub: Hub): Promise<Outcome> {
    const { resource, content, policy, observed, record, outcomes } = work;
    const { configuration: hash } = content.marker;
    const { pod } = observed;
    const isKnown = isSameMarker(record?.failed?.marker, content.marker);
    const good = await this.given.records.lastGood(hub, record);
    if (!isKnown && (!good || good.marker.configuration === hash)) return outcomes.noOther(policy);
    if (!pod) return work.unusable;
    const former: ConfigurationRecord = isKnown
      ? record!
      : {
          files: good!.files,
          marker: formerMarker(good!, work),
          loaded: content.sectionsOf(good!.files),
          pending: [],
          start: { id: '' },
          warnings: '',
          failed: { marker: content.marker, pod: pod.uid },
          sentSettings: record?.sentSettings,
          lastLoad: record?.lastLoad,
        };
    if (!isKnown) await this.given.records.set(hub, former);
    // Another pod runs with what came after the failed content: it needs no restart.
    const isSamePod = pod.uid === former.failed?.pod;
    const restart = {
      configuration: former.marker.configuration,
      secrets: observed.published?.restart.secrets,
    };
    await publishConfiguration(this.given.services, resource, former, isSamePod ? restart : undefined);
    if (isSamePod && isSameRestart(pod.restart, restart))
      await replacePod(this.given, hub, 'recovery mode with a new configuration');
    return new Outcomes(resource, content, former).reverted(undefined, observed.heldBy);
  }

  private async goBackUnchecked(work: UnusableWork, hub: Hub): Promise<Outcome> {
    const { resource, outcomes, record, policy } = work;
    const good = await this.given.records.lastGood(hub, record);
    if (!good) return outcomes.noOther(policy);
    await publishConfiguration(this.given.services, resource, good);
    await replacePod(this.given, hub, 'recovery mode with an unchecked configuration');
    return outcomes.revertedUnchecked();
  }

  /** A passing cause, such as a full disk, or a volume that was not there. The record says that it was tried. */
  private async heal(work: UnusableWork, hub: Hub): Promise<Outcome> {
    const { resource, content, observed, outcomes } = work;
    const record = work.record!;
    await publishWithoutRestart(this.given.services, resource, content);
    const { pod } = observed;
    if (!pod) return work.unusable;
    const isReplaced = record.replacedPod !== undefined && record.replacedPod !== pod.uid;
    if (isReplaced) return outcomes.healing(true);
    if (record.replacedPod === undefined)
      await this.given.records.set(hub, { ...record, replacedPod: pod.uid });
    await replacePod(this.given, hub, 'recovery mode with a configuration that it has run with');
    return outcomes.healing(false);
  }
}

/** Secrets have no copy to go back to: the marker shows those of now. */
function formerMarker({ files, marker }: PublishedFiles, { content }: Work): MarkerVariables {
  const { secrets } = content.marker;
  const showsSecrets = files['configuration.yaml']?.includes(SECRETS_HASH_KEY) ?? false;
  return {
    configuration: marker.configuration,
    ...(showsSecrets && secrets !== undefined && { secrets }),
  };
}
