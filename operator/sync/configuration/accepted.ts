import type { Hub } from '../../kinds';
import { operatorAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import type { ClusterObject } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import { PerHub } from '../hub/per-hub';
import type { Services } from '../services';
import type { MarkerVariables } from './marker';
import { HASH_FILE } from './publish';
import type { Files, Section, Sections } from './sections';

/** The last configuration that the check of the hub accepted, and how much of it the hub has loaded. */
export interface Accepted {
  readonly files: Files;
  /** What the marker shows once the hub has read it. */
  readonly marker: MarkerVariables;
  /** The sections as the hub has loaded them. Those that differ in `files` wait for a restart. */
  readonly loaded: Sections;
  /** Names of the sections that wait for a restart, sorted. */
  readonly pending: readonly string[];
  /** The hub is to be restarted for them. False: they are left to the next restart. */
  readonly mustRestart: boolean;
  /** The start of the hub in which it was seen to read `files`. */
  readonly startId: string;
  /** Of what the check warned, without secrets; empty: of nothing. */
  readonly warnings: string;
  /** What the check rejected since. It is not tried again in this start of the hub. */
  readonly rejected?: MarkerVariables | undefined;
}

/** Key of the loaded sections; a name that begins with a dot is no file of the hub. */
const LOADED_KEY = '.loaded';

interface ConfigMap extends ClusterObject {
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * The ConfigMap `<hub>-configuration-accepted`. It is what the operator goes back to when the hub rejects a change, and
 * what the next change is compared with, so that a crash at any point loses nothing (rules.md, "Reload or restart").
 * It belongs to the Hub: the pod mounts it beneath the generated one, which goes with its HubConfiguration.
 */
export class AcceptedConfigurations {
  private readonly known: PerHub<{ readonly resourceVersion: string | undefined; readonly value: Accepted }>;

  constructor(private readonly services: Pick<Services, 'applier' | 'cache'>) {
    this.known = new PerHub(services.cache);
  }

  async get(hub: Hub): Promise<Accepted | undefined> {
    const { applier, cache } = this.services;
    const { namespace, name } = hub.metadata;
    const present = cache.get(builtin.ConfigMap.kind, namespace, nameOf(name));
    if (!present || !applier.isOurs(present, hub)) return undefined;
    const known = this.known.get(hub);
    if (known?.resourceVersion === present.metadata.resourceVersion) return known?.value;
    const configMap = await applier.find<ConfigMap>(builtin.ConfigMap, namespace, nameOf(name));
    const value = configMap && parse(configMap);
    if (value) this.known.set(hub, { resourceVersion: configMap.metadata.resourceVersion, value });
    return value;
  }

  async set(
    hub: Hub,
    { files, marker, loaded, pending, mustRestart, startId, warnings, rejected }: Accepted,
  ): Promise<void> {
    const { namespace, name } = hub.metadata;
    await this.services.applier.apply(
      builtin.ConfigMap,
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: nameOf(name),
          namespace,
          annotations: {
            [operatorAnnotations.contentHash]: marker.configuration,
            [operatorAnnotations.seenInStart]: startId,
            ...(warnings && { [operatorAnnotations.checkWarnings]: warnings }),
          },
        },
        data: {
          ...files,
          [HASH_FILE]: marker.configuration,
          [LOADED_KEY]: JSON.stringify({
            marker,
            sections: Object.fromEntries(loaded),
            pending,
            mustRestart,
            rejected,
          }),
        },
      },
      { owner: hub },
    );
  }
}

const nameOf = (hub: string): string => objectNames(hub).acceptedConfiguration;

/** Undefined: it was emptied. */
function parse({ metadata: { annotations = {} }, data = {} }: ConfigMap): Accepted | undefined {
  const { [HASH_FILE]: _hash, [LOADED_KEY]: stored, ...files } = data;
  if (stored === undefined) return undefined;
  const { marker, sections, pending, mustRestart, rejected } = JSON.parse(stored) as Stored;
  return {
    files,
    marker,
    loaded: new Map(Object.entries(sections)),
    pending,
    mustRestart,
    rejected,
    startId: annotations[operatorAnnotations.seenInStart] ?? '',
    warnings: annotations[operatorAnnotations.checkWarnings] ?? '',
  };
}

interface Stored {
  readonly marker: MarkerVariables;
  readonly sections: Readonly<Record<string, Section>>;
  readonly pending: readonly string[];
  readonly mustRestart: boolean;
  readonly rejected?: MarkerVariables;
}
