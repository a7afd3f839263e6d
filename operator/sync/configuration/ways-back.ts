import type { Hub } from '../../kinds';
import type { Outcome } from '../../runtime/outcome';
import { isSameContent } from '../hub-pod/content-hashes';
import type { PodRestarts } from '../hub-pod/pod-restarts';
import type { Services } from '../services';
import { Outcomes } from './conditions';
import { FAILED_MODES } from './decide';
import { formerMarker } from './generate/content-marker';
import { publishConfiguration, publishWithoutRestart } from './record/publish';
import type { ConfigurationRecords } from './record/record';
import { rejectionOf, type UnusableWork } from './step-inputs';

/** The steps by which a hub that could not start with a configuration runs again (rules.md, "Reload or restart"). */
export class WaysBack {
  constructor(
    private readonly services: Pick<Services, 'cache' | 'applier'>,
    private readonly restarts: Pick<PodRestarts, 'restart'>,
    private readonly records: ConfigurationRecords,
  ) {}

  /**
   * Deletes the pod of a hub that could not start, if the pod was already started for this content: its
   * template does not change then.
   */
  async replaceFailed({ content, observed }: UnusableWork, hub: Hub): Promise<void> {
    const { mode, pod, template } = observed;
    const isOfPod = [template, pod?.restart].every((each) => isSameContent(each, content.restart));
    if (FAILED_MODES.has(mode) && isOfPod)
      await this.restarts.restart(hub, 'it could not start, and has another configuration');
  }

  /**
   * Goes back to the last good content after a restart into recovery mode, or into a process that ends. The
   * failure is recorded before anything is written, so that a crash cannot repeat the failed restart.
   */
  async goBack(work: UnusableWork, hub: Hub): Promise<Outcome> {
    const { resource, content, policy, observed, record, outcomes } = work;
    const { configuration: hash } = content.marker;
    const { pod } = observed;
    const isKnown = isSameContent(record?.failed?.marker, content.marker);
    const good = await this.records.lastGood(hub, record);
    let former = record!;
    if (!isKnown) {
      if (!good || good.marker.configuration === hash) return outcomes.noOther(policy, pod?.ends);
      if (!pod) return work.unusable;
      former = {
        files: good.files,
        folders: good.folders,
        definitions: good.definitions,
        marker: formerMarker(good, content.marker),
        loaded: await content.sectionsOf(good.files),
        pending: [],
        start: { id: '', workload: record?.start.workload },
        warnings: '',
        failed: { marker: content.marker, pod: pod.uid, ends: pod.ends, cause: pod.ends?.words || undefined },
        sentSettings: record?.sentSettings,
        lastLoad: record?.lastLoad,
      };
      await this.records.set(hub, former);
    }
    // If another pod has replaced the failed one, it reads the published files without a restart.
    const isSamePod = pod !== undefined && pod.uid === former.failed?.pod;
    const restart = {
      configuration: former.marker.configuration,
      secrets: observed.published?.restart.secrets,
    };
    await publishConfiguration(this.services, resource, former, isSamePod ? restart : undefined);
    if (isSamePod && isSameContent(pod.restart, restart)) {
      const what = former.failed?.ends ? 'its process ends' : 'recovery mode';
      await this.restarts.restart(hub, `${what} with a new configuration`);
    }
    return new Outcomes(resource, content, former).reverted(observed);
  }

  async goBackUnchecked(work: UnusableWork, hub: Hub): Promise<Outcome> {
    const { resource, outcomes, record, policy, observed } = work;
    const good = await this.records.lastGood(hub, record);
    if (!good) return outcomes.noOther(policy);
    await publishConfiguration(this.services, resource, good);
    const result = await this.restarts.restart(hub, 'recovery mode with an unchecked configuration');
    return result === 'held' ? outcomes.restarting(observed.heldBy) : outcomes.revertedUnchecked();
  }

  /**
   * Replaces the pod once, since the cause may be temporary, such as a full disk or a missing volume. The
   * record says that this was tried.
   */
  async heal(work: UnusableWork, hub: Hub): Promise<Outcome> {
    const { resource, content, observed, outcomes } = work;
    const record = work.record!;
    const good = (await this.records.lastGood(hub, record)) ?? record;
    await publishWithoutRestart(this.services, resource, good);
    const { pod } = observed;
    if (!pod) return work.unusable;
    const rejection = rejectionOf(work);
    const isReplaced = record.replacedPod !== undefined && record.replacedPod !== pod.uid;
    if (isReplaced) return outcomes.healing(true, rejection);
    if (record.replacedPod === undefined) {
      // The next pod does not know that this one rejected the desired content.
      const rejected =
        rejection === undefined ? record.rejected : { marker: content.marker, problem: rejection };
      await this.records.set(hub, { ...record, replacedPod: pod.uid, rejected });
    }
    const result = await this.restarts.restart(
      hub,
      'recovery mode with a configuration that it has run with',
    );
    return outcomes.healing(false, rejection, result === 'held' ? observed.heldBy : undefined);
  }
}
