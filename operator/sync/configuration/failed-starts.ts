import { getConfig } from '../../client/core';
import { HubError } from '../../client/errors';
import type { Hub, HubConfiguration } from '../../kinds';
import { isInRecoveryMode } from '../../kinds/hub';
import type { HubClients } from '../hub-clients';
import type { Services } from '../services';
import { SECRETS_HASH_KEY } from '../secrets/secrets-yaml';
import type { Accepted, AcceptedConfigurations } from './record/accepted-configuration';
import { type Content, isSameMarker } from './generate/configuration-content';
import type { LastGood } from './record/last-good-configuration';
import type { PodReplacement } from './pod-replacement';
import { publishConfiguration, publishedConfiguration } from './record/publish';

/**
 * Brings back the last good configuration when the hub came up in recovery mode with one that its check accepts, such as
 * one with an unknown type of `auth_providers` (rules.md, "Reload or restart"). What failed is remembered in the accepted
 * ConfigMap before anything is written, so that no crash repeats it: one restart into recovery mode, and one out of it.
 */
export class FailedStarts {
  constructor(
    private readonly services: Pick<Services, 'cache' | 'applier'>,
    private readonly hubs: Pick<HubClients, 'contact'>,
    private readonly accepted: AcceptedConfigurations,
    private readonly pods: PodReplacement,
  ) {}

  /**
   * Publishes the last good configuration if the hub cannot start with the content. Undefined: that is not known of it.
   * `has no other`: it has run with none before, or with the same files and other secrets, which have no copy.
   */
  async handle(
    resource: HubConfiguration,
    content: Content,
    hub: Hub,
    accepted: Accepted | undefined,
  ): Promise<'went back' | 'has no other' | undefined> {
    const isKnown =
      accepted?.failedStart !== undefined && isSameMarker(accepted.failedStart.marker, content.marker);
    const former = isKnown ? accepted : await this.find(resource, content, hub, accepted);
    if (!former || former === 'has no other') return former;
    if (!isKnown) await this.accepted.set(hub, former);
    await this.publish(resource, content, hub, former);
    return 'went back';
  }

  private async publish(
    resource: HubConfiguration,
    content: Content,
    hub: Hub,
    former: Accepted,
  ): Promise<void> {
    const { services } = this;
    const restart = {
      configuration: former.marker.configuration,
      secrets: publishedConfiguration(services, resource)?.restart.secrets,
    };
    const isSamePod = this.pods.podOf(hub)?.metadata.uid === former.failedStart?.pod;
    await publishConfiguration(
      services,
      resource,
      { files: former.files, hash: restart.configuration },
      // Another pod runs with what came after it: it needs no restart.
      isSamePod ? restart : undefined,
    );
    // Its template does not change: the pod was started with these files, and has got the others since.
    if (isSamePod && this.pods.isPodOf(hub, restart))
      await this.pods.replace(hub, `recovery mode with ${content.marker.configuration}`);
  }

  /** The configuration that replaces it; undefined: this start has not failed because of the content. */
  private async find(
    resource: HubConfiguration,
    content: Content,
    hub: Hub,
    accepted: Accepted | undefined,
  ): Promise<Accepted | 'has no other' | undefined> {
    const { configuration: hash } = content.marker;
    const pod = this.pods.podOf(hub);
    const published = publishedConfiguration(this.services, resource);
    if (!isInRecoveryMode(hub) || !pod || pod.metadata.deletionTimestamp) return undefined;
    // The pod before this decision may still be there.
    if (published?.hash !== hash || !this.pods.isPodOf(hub, published.restart)) return undefined;
    if (pod.metadata.uid === undefined || accepted?.failedStart?.pod === pod.metadata.uid) return undefined;
    const wasChecked = published.restart.configuration === hash || accepted?.marker.configuration === hash;
    if (!wasChecked) return undefined;
    if (!(await this.answersInRecoveryMode(hub))) return undefined;
    const good = await this.accepted.lastGood(hub);
    if (!good || good.hash === hash) return 'has no other';
    return {
      files: good.files,
      marker: markerOf(good, content),
      loaded: content.sectionsOf(good.files),
      pending: [],
      mustRestart: false,
      startId: '',
      warnings: '',
      failedStart: { marker: content.marker, pod: pod.metadata.uid },
      sentSettings: accepted?.sentSettings,
      lastLoad: accepted?.lastLoad,
    };
  }

  /** The condition of the Hub may be of the start before. */
  private async answersInRecoveryMode(hub: Hub): Promise<boolean> {
    const contacted = await this.hubs.contact(hub);
    if ('missing' in contacted) return false;
    try {
      return (await getConfig(contacted.client.rest)).recovery_mode === true;
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      return false; // it says nothing now; the Hub repairs the access
    }
  }
}

/** Secrets have no copy to go back to: the marker shows those of now. */
function markerOf({ files, hash }: LastGood, { marker }: Content): Content['marker'] {
  const showsSecrets = files['configuration.yaml']?.includes(SECRETS_HASH_KEY) ?? false;
  return {
    configuration: hash,
    ...(showsSecrets && marker.secrets !== undefined && { secrets: marker.secrets }),
  };
}
