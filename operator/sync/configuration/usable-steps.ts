import type { Hub } from '../../kinds';
import { objectNames } from '../../kinds/object-names';
import type { Outcome } from '../../runtime/outcome';
import { hubRedactor } from '../hub-access/hub-secrets';
import { type Known, knownOf } from './decide';
import { isSameMarker } from './generate/configuration-content';
import { notSetUp } from './load/components';
import type { LoadTask } from './load/hub-loader';
import type { LoadJobs } from './load/load-jobs';
import type { LoadResult } from './load/load-result';
import { isSameRestart, publishConfiguration, publishWithoutRestart } from './record/publish';
import {
  changedOf,
  replacePod,
  reportFailed,
  reportRejected,
  type StepServices,
  type UsableWork,
  type Work,
} from './step-context';

const TASKS: Readonly<Partial<Record<Known, LoadTask>>> = { Begun: 'adopt', InUse: 'check' };

/** The steps for a hub that can be used. */
export class UsableSteps {
  constructor(
    private readonly given: StepServices,
    private readonly loads: LoadJobs,
  ) {}

  async take(work: UsableWork): Promise<Outcome> {
    const { step, outcomes, record, observed, hub } = work;
    switch (step) {
      case 'ReportInUse':
        return this.reportInUse(work);
      case 'ReportRejected':
        return reportRejected(work);
      case 'ReportFailed':
        return reportFailed(this.given, { ...work, hub }, record?.marker.configuration);
      case 'ReportLoad':
        return this.reportLoad(work, work.last!);
      case 'AwaitRestart':
        return this.awaitRestart(work, hub, changedOf(work));
      default: {
        this.loads.start(work, hub, work.client, TASKS[knownOf(work)] ?? 'load', observed, record);
        return outcomes.loading();
      }
    }
  }

  /** Ready is proven by its effect: the integration of each section is set up. */
  private async reportInUse({
    resource,
    content,
    outcomes,
    hub,
    client,
    record,
    observed,
  }: UsableWork): Promise<Outcome> {
    const { files, sections } = content;
    await publishWithoutRestart(this.given.services, resource, content);
    if (record?.warnings) return outcomes.loaded();
    const texts = Object.values(files);
    const empty =
      observed.pod?.createdFiles.filter((name) => texts.some((text) => text.includes(name))) ?? [];
    if (empty.length > 0) return outcomes.includesNothing(empty);
    const missing = await notSetUp(client, sections, await hubRedactor(this.given.services, hub));
    return missing ? outcomes.notLoaded(missing.sections, missing.words) : outcomes.loaded();
  }

  /** The outcome of a load that ended and need not be repeated. */
  private async reportLoad(work: UsableWork, result: LoadResult): Promise<Outcome> {
    const { resource, content, policy, outcomes, hub } = work;
    switch (result.type) {
      case 'rejected':
        return outcomes.checkFailed(result.problem);
      case 'restart':
        return this.awaitRestart(work, hub, result.because);
      case 'new-files':
        return outcomes.newFiles(result.names);
      case 'loaded':
        return outcomes.restartNeeded(result.pending, policy);
      case 'failed':
        return outcomes.reloadFailed(result.message, result.sections);
      case 'unseen': {
        if (policy.strategy === 'hot-reload') return outcomes.newPodNeeded();
        await publishConfiguration(this.given.services, resource, content, content.restart);
        return this.awaitRestart(work, hub, []);
      }
    }
  }

  /** A pod that was started for this content before has the same template: nothing but its deletion restarts it. */
  private async awaitRestart(
    { resource, content, observed, record, outcomes }: Work,
    hub: Hub,
    sections: readonly string[],
  ): Promise<Outcome> {
    const { pod, template, published, heldBy } = observed;
    const isDecided = isSameRestart(published?.restart, content.restart);
    if (
      isDecided &&
      isSameRestart(template, content.restart) &&
      isSameRestart(pod?.restart, content.restart)
    ) {
      const hasBegun = isSameMarker(pod!.begunWith, content.marker) && pod!.uid !== record?.start.pod;
      if (hasBegun) {
        const { configuration } = objectNames(resource.spec.hubRef.name);
        const message = `The hub does not read the files of the ConfigMap ${configuration}, although its pod has started with them. Read the log of the pod.`;
        return outcomes.reloadFailed(message);
      }
      await replacePod(this.given, hub, 'it has to read its configuration');
    }
    return outcomes.restarting(
      sections,
      isDecided && isSameRestart(template, content.restart) ? undefined : heldBy,
    );
  }
}
