import type { Hub } from '../../../kinds';
import { operatorAnnotations } from '../../../kinds/annotations';
import { objectNames } from '../../../kinds/object-names';
import { builtin } from '../../../runtime/types';
import { PerHub } from '../../hub-connection/per-hub';
import { definitionsIn, type OwnDefinitions } from '../../hub-pod/own-definitions';
import type { Services } from '../../services';
import type { Files } from '../generate/config-files';
import type { ContentHashes } from '../../hub-pod/content-hashes';
import { isInParts } from '../generate/parts';
import type { Section, Sections } from '../generate/sections';
import {
  filesIn,
  findConfigMap,
  findFiles,
  foldersIn,
  type HubConfigMap,
  type PublishedFiles,
  writeFiles,
} from './stored-files';

/** A start of the hub. A verdict on a configuration holds for the start in which it was given. */
export interface HubStart {
  /** {@link hubStartId}; empty: it is not known. */
  readonly id: string;
  readonly version?: string | undefined;
  /** The uid of the pod. */
  readonly pod?: string | undefined;
  /** What that pod was made of beside the configuration, as a digest. Absent: not known. */
  readonly workload?: string | undefined;
  /** How often the container of the hub had been restarted in that pod. Absent: not known. */
  readonly restarts?: number | undefined;
}

/**
 * The record of a hub's configuration: the content that it has loaded last, to which the operator goes back when it
 * rejects another one, and the verdict of the hub in its present start.
 */
export interface ConfigurationRecord {
  readonly files: Files;
  readonly folders?: PublishedFiles['folders'];
  /** Absent: none, or not known. */
  readonly definitions?: OwnDefinitions | undefined;
  /** The value of the marker once the hub has read it. */
  readonly marker: ContentHashes;
  /** The sections as the hub has loaded them. Those that differ in `files` wait for a restart. */
  readonly loaded: Sections;
  /** Names of the sections that wait for a restart, sorted. */
  readonly pending: readonly string[];
  /** The start in which the hub was seen to have read `files`. All below falls with it, except `failed` and `lastLoad`. */
  readonly start: HubStart;
  /** The items of `files` that the hub leaves out, in its words, without secrets; empty: nothing. */
  readonly warnings: string;
  /** Another content, which this start has rejected. It is not tried again before the next one. */
  readonly rejected?: Rejection | undefined;
  /** A content with which the hub came up in recovery mode, or its process ended. It is not tried again automatically. */
  readonly failed?: FailedStart | undefined;
  /** The pod that was replaced since the hub was in recovery mode with `files`, with which it has run. */
  readonly replacedPod?: string | undefined;
  /** The settings of the web server that were sent last, until the hub has them. */
  readonly sentSettings?: SentSettings | undefined;
  /** How and when the hub loaded `files`; absent before the first load that was seen to end. */
  readonly lastLoad?: LastLoad | undefined;
}

export interface Rejection {
  readonly marker: ContentHashes;
  readonly problem: string;
}

interface FailedStart {
  readonly marker: ContentHashes;
  /** The uid of that pod. */
  readonly pod: string;
  /** Absent: the hub came up in recovery mode. */
  readonly ends?: ProcessEnds | undefined;
  /** The errors that the hub logged in that start; absent: not known yet. */
  readonly cause?: string | undefined;
}

/** The process of a hub has ended each time soon after its start. */
export interface ProcessEnds {
  readonly times: number;
  /** How it ended last, for people. */
  readonly last: string;
  /** The last lines of its log, without secrets; empty: none. */
  readonly words: string;
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
  /** The time of the load, in RFC 3339. */
  readonly time: string;
}

/** Key of the record; a name that begins with a dot is no file of the hub. */
const RECORD_KEY = '.loaded';
/** The key beside files in parts: an earlier version would take a part of them for the whole. */
const RECORD_KEY_OF_PARTS = '.loaded-in-parts';

/**
 * The records of all hubs, each in the ConfigMap `<hub>-configuration-accepted`, which belongs to the Hub: the pod mounts it
 * beneath the generated one, which goes with its HubConfiguration.
 */
export class ConfigurationRecords {
  private readonly known: PerHub<{ resourceVersion: string | undefined; value: ConfigurationRecord }>;

  constructor(private readonly services: Pick<Services, 'applier' | 'cache'>) {
    this.known = new PerHub(services.cache);
  }

  /** Undefined: no content is known to have run in this hub. */
  async get(hub: Hub): Promise<ConfigurationRecord | undefined> {
    const { applier, cache } = this.services;
    const { namespace, name } = hub.metadata;
    const { acceptedConfiguration } = objectNames(name);
    const present = cache.get(builtin.ConfigMap.kind, namespace, acceptedConfiguration);
    if (!present || !applier.isOurs(present, hub)) return undefined;
    const known = this.known.get(hub);
    if (known?.resourceVersion === present.metadata.resourceVersion) return known?.value;
    const configMap = await findConfigMap(this.services, namespace, acceptedConfiguration);
    const value = configMap && readRecord(configMap);
    if (value) this.known.set(hub, { resourceVersion: configMap.metadata.resourceVersion, value });
    return value;
  }

  async set(hub: Hub, record: ConfigurationRecord): Promise<void> {
    const names = objectNames(hub.metadata.name);
    const former = record.pending.length > 0 ? await this.get(hub) : undefined;
    // Files that wait for a restart may keep the hub from starting: those of before stay beside them.
    if (former?.pending.length === 0)
      await writeFiles(this.services, { owner: hub }, names.lastGoodConfiguration, former);
    const {
      files: _files,
      folders: _folders,
      definitions: _definitions,
      loaded,
      start,
      warnings,
      ...rest
    } = record;
    const { id, ...startFields } = start;
    const stored: Stored = { ...rest, sections: Object.fromEntries(loaded), start: startFields };
    const annotations = {
      [operatorAnnotations.seenInStart]: id,
      ...(warnings && { [operatorAnnotations.checkWarnings]: warnings }),
    };
    const key = isInParts(record.files) ? RECORD_KEY_OF_PARTS : RECORD_KEY;
    const notes = { annotations, data: { [key]: JSON.stringify(stored) } };
    await writeFiles(this.services, { owner: hub }, names.acceptedConfiguration, record, notes);
  }

  /** The files that the hub has last run with in full. Undefined: none, or not known. */
  async lastGood(hub: Hub, record: ConfigurationRecord | undefined): Promise<PublishedFiles | undefined> {
    if (record?.pending.length === 0) return record;
    return findFiles(this.services, hub, objectNames(hub.metadata.name).lastGoodConfiguration);
  }
}

/** Undefined: it was emptied. */
export function readRecord(configMap: HubConfigMap): ConfigurationRecord | undefined {
  const { annotations = {} } = configMap.metadata;
  const stored = configMap.data?.[RECORD_KEY] ?? configMap.data?.[RECORD_KEY_OF_PARTS];
  if (stored === undefined) return undefined;
  const { sections, start, ...rest } = JSON.parse(stored) as Stored;
  return {
    ...rest,
    files: filesIn(configMap),
    folders: foldersIn(configMap),
    definitions: definitionsIn(configMap),
    loaded: new Map(Object.entries(sections)),
    start: { id: annotations[operatorAnnotations.seenInStart] ?? '', ...start },
    warnings: annotations[operatorAnnotations.checkWarnings] ?? '',
  };
}

interface Stored extends Omit<
  ConfigurationRecord,
  'files' | 'folders' | 'definitions' | 'loaded' | 'start' | 'warnings'
> {
  readonly sections: Readonly<Record<string, Section>>;
  /** Absent in a record of an operator that knew the id alone. */
  readonly start?: Omit<HubStart, 'id'>;
}
