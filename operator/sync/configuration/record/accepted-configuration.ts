import type { Hub } from '../../../kinds';
import { operatorAnnotations } from '../../../kinds/annotations';
import { objectNames } from '../../../kinds/object-names';
import { builtin } from '../../../runtime/types';
import { PerHub } from '../../per-hub';
import type { Services } from '../../services';
import { type HubConfigMap, writeHubConfigMap } from './hub-config-map';
import { type LastGood, LastGoodConfigurations } from './last-good-configuration';
import type { MarkerVariables } from '../generate/content-marker';
import { HASH_FILE } from './publish';
import type { Files } from '../generate/config-files';
import type { Section, Sections } from '../generate/sections';

/** The last configuration that the check of the hub accepted, and how much of it the hub has loaded. */
export interface Accepted {
  readonly files: Files;
  /** The value of the marker once the hub has read it. */
  readonly marker: MarkerVariables;
  /** The sections as the hub has loaded them. Those that differ in `files` wait for a restart. */
  readonly loaded: Sections;
  /** Names of the sections that wait for a restart, sorted. */
  readonly pending: readonly string[];
  /** The hub is to be restarted for them. False: they are left to the next restart. */
  readonly mustRestart: boolean;
  /** The start of the hub in which it was seen to read `files`. */
  readonly startId: string;
  /** The warnings of the check, without secrets; empty: none. */
  readonly warnings: string;
  /** A later content that the check rejected. It is not tried again in this start of the hub. */
  readonly rejected?: MarkerVariables | undefined;
  /** A content that the check accepts and the hub cannot start with. It is not retried automatically. */
  readonly failedStart?: FailedStart | undefined;
  /** The settings of the web server that were sent last, until the hub has them. */
  readonly sentSettings?: SentSettings | undefined;
  /** How and when the hub loaded `files`; absent before the first load that was seen to end. */
  readonly lastLoad?: LastLoad | undefined;
}

export interface FailedStart {
  readonly marker: MarkerVariables;
  /** The uid of the pod that came up in recovery mode. */
  readonly pod: string;
}

export interface SentSettings {
  /** A hash of the settings. */
  readonly hash: string;
  /** How often they were sent: the hub restarts for each time. */
  readonly times: number;
}

/** How a content came into the hub. */
export type LoadMethod = 'hot-reload' | 'restart' | 'none';

export interface LastLoad {
  readonly method: LoadMethod;
  /** RFC 3339 */
  readonly time: string;
}

/** Key of the loaded sections; a name that begins with a dot is no file of the hub. */
const LOADED_KEY = '.loaded';

/**
 * The ConfigMap `<hub>-configuration-accepted`. The operator goes back to it when the hub rejects a change,
 * and compares the next change with it, so that a crash at any point loses nothing (rules.md, "Reload or restart").
 * It belongs to the Hub: the pod mounts it beneath the generated one, which goes with its HubConfiguration.
 */
export class AcceptedConfigurations {
  private readonly lastGoods: LastGoodConfigurations;
  private readonly known: PerHub<{ readonly resourceVersion: string | undefined; readonly value: Accepted }>;

  constructor(private readonly services: Pick<Services, 'applier' | 'cache'>) {
    this.lastGoods = new LastGoodConfigurations(services);
    this.known = new PerHub(services.cache);
  }

  async get(hub: Hub): Promise<Accepted | undefined> {
    const { applier, cache } = this.services;
    const { namespace, name } = hub.metadata;
    const present = cache.get(builtin.ConfigMap.kind, namespace, nameOf(name));
    if (!present || !applier.isOurs(present, hub)) return undefined;
    const known = this.known.get(hub);
    if (known?.resourceVersion === present.metadata.resourceVersion) return known?.value;
    const configMap = await applier.find<HubConfigMap>(builtin.ConfigMap, namespace, nameOf(name));
    const value = configMap && readAccepted(configMap);
    if (value) this.known.set(hub, { resourceVersion: configMap.metadata.resourceVersion, value });
    return value;
  }

  /** @param forced retries a failed content */
  async current(hub: Hub, forced: boolean): Promise<Accepted | undefined> {
    const accepted = await this.get(hub);
    if (!accepted || !forced || (!accepted.failedStart && !accepted.sentSettings)) return accepted;
    const fresh = { ...accepted, failedStart: undefined, sentSettings: undefined };
    await this.set(hub, fresh);
    return fresh;
  }

  async set(hub: Hub, accepted: Accepted): Promise<void> {
    const { files, marker, loaded, pending, mustRestart, startId, warnings } = accepted;
    const { rejected, failedStart, sentSettings, lastLoad } = accepted;
    const stored: Stored = {
      marker,
      sections: Object.fromEntries(loaded),
      pending,
      mustRestart,
      rejected,
      failedStart,
      sentSettings,
      lastLoad,
    };
    // First: after a crash between the two writes, the last good copy must not be older than the accepted one.
    await this.recordLastGood(hub, accepted);
    await writeHubConfigMap(this.services, hub, nameOf(hub.metadata.name), {
      files,
      hash: marker.configuration,
      annotations: {
        [operatorAnnotations.seenInStart]: startId,
        ...(warnings && { [operatorAnnotations.checkWarnings]: warnings }),
      },
      notes: { [LOADED_KEY]: JSON.stringify(stored) },
    });
  }

  /** Stores a fully loaded configuration, in case the hub does not start with the next one. */
  async recordLastGood(
    hub: Hub,
    { files, marker, pending }: Pick<Accepted, 'files' | 'marker' | 'pending'>,
  ): Promise<void> {
    if (pending.length === 0) await this.lastGoods.record(hub, { files, hash: marker.configuration });
  }

  /** Undefined: the hub has not run with any in full. */
  async lastGood(hub: Hub): Promise<LastGood | undefined> {
    const kept = await this.lastGoods.get(hub);
    if (kept) return kept;
    const accepted = await this.get(hub);
    return accepted?.pending.length === 0
      ? { files: accepted.files, hash: accepted.marker.configuration }
      : undefined;
  }
}

const nameOf = (hub: string): string => objectNames(hub).acceptedConfiguration;

/** Undefined: it was emptied. */
export function readAccepted({
  metadata: { annotations = {} },
  data = {},
}: HubConfigMap): Accepted | undefined {
  const { [HASH_FILE]: _hash, [LOADED_KEY]: stored, ...files } = data;
  if (stored === undefined) return undefined;
  const { sections, ...rest } = JSON.parse(stored) as Stored;
  return {
    ...rest,
    files,
    loaded: new Map(Object.entries(sections)),
    startId: annotations[operatorAnnotations.seenInStart] ?? '',
    warnings: annotations[operatorAnnotations.checkWarnings] ?? '',
  };
}

interface Stored extends Omit<Accepted, 'files' | 'loaded' | 'startId' | 'warnings'> {
  readonly sections: Readonly<Record<string, Section>>;
}
