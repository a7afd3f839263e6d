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

/** A start of the hub. A verdict on a configuration is valid for the start in which it was given. */
export interface HubStart {
  /** The id of the start, see {@link hubStartId}. Empty if not known. */
  readonly id: string;
  readonly version?: string | undefined;
  /** The uid of the pod. */
  readonly pod?: string | undefined;
  /** Digest of everything in that pod except the configuration. Absent if not known. */
  readonly workload?: string | undefined;
  /** Number of restarts of the hub's container in that pod. Absent if not known. */
  readonly restarts?: number | undefined;
}

/**
 * The record of a hub's configuration: the content that it loaded last, to which the operator goes back if
 * the hub rejects another one, and the hub's verdict in its present start.
 */
export interface ConfigurationRecord {
  readonly files: Files;
  readonly folders?: PublishedFiles['folders'];
  /**
   * Ids of the automations, scenes and scripts that the files define. Absent if no file defines one, or if
   * the ids are not known.
   */
  readonly definitions?: OwnDefinitions | undefined;
  /** The value of the marker once the hub has read it. */
  readonly marker: ContentHashes;
  /** The sections that the hub has loaded. Sections that differ in `files` wait for a restart. */
  readonly loaded: Sections;
  /** Names of the sections that wait for a restart, sorted. */
  readonly pending: readonly string[];
  /**
   * The start in which the hub was seen to have read `files`. The fields below are valid only for this start,
   * except `failed` and `lastLoad`.
   */
  readonly start: HubStart;
  /**
   * The hub's messages about items of `files` that it leaves out, without secrets. Empty if there are none.
   */
  readonly warnings: string;
  /** Another content that was rejected in this start. It is not tried again before the next start. */
  readonly rejected?: Rejection | undefined;
  /**
   * Content with which the hub came up in recovery mode, or its process ended. It is not tried again
   * automatically.
   */
  readonly failed?: FailedStart | undefined;
  /**
   * The uid of the pod that was replaced because the hub was in recovery mode with `files`, although it had
   * run with them before.
   */
  readonly replacedPod?: string | undefined;
  /** The settings of the web server that were sent last, until the hub uses them. */
  readonly sentSettings?: SentSettings | undefined;
  /** Time and method of the hub's load of `files`. Absent until a load has been seen to end. */
  readonly lastLoad?: LastLoad | undefined;
}

export interface Rejection {
  readonly marker: ContentHashes;
  readonly problem: string;
}

interface FailedStart {
  readonly marker: ContentHashes;
  /** The uid of the pod in which the hub failed. */
  readonly pod: string;
  /** Absent if the hub came up in recovery mode. */
  readonly ends?: ProcessEnds | undefined;
  /** The errors that the hub logged in that start. Absent while not known. */
  readonly cause?: string | undefined;
}

/** Repeated ends of a hub's process soon after its start. */
export interface ProcessEnds {
  readonly times: number;
  /** The last end in words, for messages. */
  readonly last: string;
  /** The last lines of the log, without secrets. Empty if there are none. */
  readonly words: string;
}

export interface SentSettings {
  /** A hash of the settings. */
  readonly hash: string;
  /** Number of times that the settings were sent. The hub restarts for each. */
  readonly times: number;
}

/** The way in which content was loaded into the hub. */
export type LoadMethod = 'hot-reload' | 'restart' | 'none';

export interface LastLoad {
  readonly method: LoadMethod;
  /** The time of the load, in RFC 3339. */
  readonly time: string;
}

/** Key of the record. Since it begins with a dot, it is not a file of the hub. */
const RECORD_KEY = '.loaded';
/**
 * Key of the record when the files are in parts. It differs, since an earlier version would mistake the files
 * in this ConfigMap for the whole configuration.
 */
const RECORD_KEY_OF_PARTS = '.loaded-in-parts';

/**
 * The records of all hubs, each in the ConfigMap `<hub>-configuration-accepted`. It is owned by the Hub,
 * since the pod mounts it beneath the generated ConfigMap, which is deleted with its HubConfiguration.
 */
export class ConfigurationRecords {
  private readonly known: PerHub<{ resourceVersion: string | undefined; value: ConfigurationRecord }>;

  constructor(private readonly services: Pick<Services, 'applier' | 'cache'>) {
    this.known = new PerHub(services.cache);
  }

  /**
   * The record of a hub.
   *
   * @returns undefined when no content is known to have run in this hub
   */
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
    // Files that wait for a restart may prevent the hub from starting, so the former files are kept in
    // another ConfigMap.
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

  /**
   * The files that the hub has last loaded completely.
   *
   * @returns undefined when there are none, or they are not known
   */
  async lastGood(hub: Hub, record: ConfigurationRecord | undefined): Promise<PublishedFiles | undefined> {
    if (record?.pending.length === 0) return record;
    return findFiles(this.services, hub, objectNames(hub.metadata.name).lastGoodConfiguration);
  }
}

/**
 * Reads the record from its ConfigMap.
 *
 * @returns undefined when the record was removed from it
 */
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
  /** Absent in a record of an earlier version, which had only the id. */
  readonly start?: Omit<HubStart, 'id'>;
}
