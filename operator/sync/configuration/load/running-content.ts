import { timestamp } from '../../../base/clock';
import type { HubConfiguration } from '../../../kinds';
import { objectNames } from '../../../kinds/object-names';
import type { Services } from '../../services';
import type { Content } from '../generate/generate';
import { isSameContent } from '../../hub-pod/content-hashes';
import type { ObservedUsable, UsableHub } from '../record/observe';
import type { ConfigurationRecord, ConfigurationRecords } from '../record/record';
import { findFiles } from '../record/stored-files';
import { readCapabilities } from './components';
import { decideReload, type ReloadPolicy } from './reload-decision';

/** A content that a hub is to have. */
export interface DesiredContent {
  readonly resource: HubConfiguration;
  readonly content: Content;
  readonly policy: ReloadPolicy;
}

export interface RunningHub extends DesiredContent, UsableHub {
  readonly observed: ObservedUsable;
  readonly record: ConfigurationRecord | undefined;
}

/**
 * The content that the present start of the hub has loaded, to compare a change with. The marker alone does not tell that: any
 * reload of scripts sets it, and reads files that came after the start.
 */
export class RunningContents {
  constructor(
    private readonly services: Pick<Services, 'applier' | 'clock'>,
    private readonly records: ConfigurationRecords,
  ) {}

  /** Undefined: not known, so that nothing can be compared. */
  async find(running: RunningHub): Promise<ConfigurationRecord | undefined> {
    const { hub, observed, record } = running;
    // A pod that fell back does not read the files that are written for it.
    if (observed.pod?.rejected) return undefined;
    const isSameStart = record?.start.id === observed.start.id;
    const found = isSameStart ? await this.afterCrash(running, record) : await this.ofNewStart(running);
    if (found && found !== record) await this.records.set(hub, found);
    return found;
  }

  /** What another process has published in this start, and a reload may have loaded, differs from any content. */
  private async afterCrash(running: RunningHub, record: ConfigurationRecord): Promise<ConfigurationRecord> {
    const { content, observed } = running;
    const hash = observed.published?.hash;
    if (hash === record.marker.configuration || hash === content.marker.configuration) return record;
    const published = await this.publishedFiles(running);
    if (!published) return record;
    const policy = { strategy: 'hot-reload', autoRestart: true } as const;
    const capabilities = await readCapabilities(running, record.loaded);
    const decision = decideReload(
      policy,
      record.loaded,
      await content.sectionsOf(published.files),
      capabilities,
    );
    if (decision.type !== 'hot-reload' || decision.reloads.length === 0) return record;
    const parts = decision.reloads.flatMap(({ sections }) => sections);
    const pending = [...new Set([...record.pending, ...parts])].sort();
    // Parts without a digest differ from any content.
    const unknown = parts.map((part) => [part, { digest: '', secrets: {} }] as const);
    return { ...record, loaded: new Map([...record.loaded, ...unknown]), pending };
  }

  private async ofNewStart(running: RunningHub): Promise<ConfigurationRecord | undefined> {
    const { content, record, observed } = running;
    const { start, shown } = observed;
    const published = await this.begunWithPublished(running);
    if (published) return published;
    if (!record || !(isSameContent(shown, record.marker) || isSameContent(shown, content.marker)))
      return undefined;
    const loaded = record.pending.length > 0 ? await content.sectionsOf(record.files) : record.loaded;
    return { ...record, ...FRESH, loaded, start };
  }

  /** The files of the ConfigMap `<hub>-configuration`, if the pod has begun with them: no process has seen that start yet. */
  private async begunWithPublished(running: RunningHub): Promise<ConfigurationRecord | undefined> {
    const { content, record, observed } = running;
    const { start, shown, pod } = observed;
    if (!shown || isSameContent(shown, record?.marker ?? content.marker)) return undefined;
    // The values of other secrets are not known any more.
    if (shown.secrets !== content.marker.secrets || !isSameContent(pod?.begunWith, shown)) return undefined;
    const published = await this.publishedFiles(running);
    const hash = published?.marker.configuration;
    if (!published || hash !== shown.configuration || hash === content.marker.configuration) return undefined;
    return {
      ...record,
      ...FRESH,
      files: published.files,
      folders: published.folders,
      definitions: published.definitions,
      marker: shown,
      loaded: await content.sectionsOf(published.files),
      start,
      warnings: record?.warnings ?? '',
      lastLoad: { method: 'restart', time: timestamp(this.services.clock.now()) },
    };
  }

  private publishedFiles({ resource, hub }: RunningHub) {
    return findFiles(this.services, resource, objectNames(hub.metadata.name).configuration);
  }
}

/** After a start, nothing waits for one, and verdicts of the former one do not count. */
const FRESH = { pending: [], rejected: undefined, replacedPod: undefined } as const;
