import { HUB_SETTLE_TIME } from '../../operator/base/limits';
import type { Clock } from '../../operator/base/clock';
import { isObject } from '../../operator/base/is-object';
import { OperationalError } from '../../operator/base/errors';
import { HubError } from '../../operator/client/connection/errors';
import type { HubClient } from '../../operator/client/hub-client';
import { fieldOf, type Path } from '../../operator/offline/field-path';
import { type Finding, nameOf, validResource } from '../../operator/offline/findings';
import type { Manifest } from '../../operator/offline/manifests';
import { expandBlueprint } from '../../operator/sync/config-entities/blueprint';
import {
  type Reference,
  type References,
  referencesOf,
} from '../../operator/sync/config-entities/references/extract';
import { notSetUp, readIds } from '../../operator/sync/config-entities/references/missing';
import { Settling } from '../../operator/sync/config-entities/references/settling';
import { suggestionFor, Suggestions } from '../../operator/sync/config-entities/references/suggestion';
import { wordsOf } from '../../operator/sync/config-entities/references/verdict';
import type { Child } from '../../operator/sync/objects/child';
import type { CustomResource } from '../../operator/kinds/resource';
import { automation, script } from '../../operator/kinds';
import { ApiError } from '../../operator/runtime/api-errors';
import type { EntityPayload } from '../../operator/client/connection/config-entity';
import { type Cluster, type ClusterOptions, resourceType } from '../cluster';
import { entityTypeOf } from '../diff/config-entity-change';
import type { Environment } from '../environment';
import { errorText } from '../error-text';
import { openHub } from '../hub/access';
import { hubNameOf } from '../status/causes';
import { MadeNames } from './made-names';

/** The result of looking names up in a hub. */
export interface LookUp {
  readonly findings: readonly Finding[];
  /** Sentences about the look-up itself. */
  readonly notes: readonly string[];
}

interface Given {
  readonly manifest: Manifest;
  readonly resource: CustomResource;
}

type Definition = Given & References;

/**
 * Looks up what automations, scenes and scripts in files name in the hub of a Hub resource. If the hub cannot be
 * read, a note says why, and there are no findings.
 */
export async function lookUp(
  environment: Environment,
  options: ClusterOptions,
  hubName: string,
  manifests: readonly Manifest[],
): Promise<LookUp> {
  let cluster: Cluster | undefined;
  try {
    cluster = environment.connect(options);
    const { namespace } = cluster;
    const given = manifests.flatMap((manifest): readonly Given[] => {
      const resource = validResource(manifest);
      if (!resource || hubNameOf(resource) !== hubName) return [];
      return ['', namespace].includes(resource.metadata.namespace) ? [{ manifest, resource }] : [];
    });
    const hub = await openHub(cluster, hubName, environment.clock);
    try {
      const created = await createdInCluster(cluster, hubName);
      return {
        findings: await missingNames(hub.client, given, created),
        notes: await settlingNotes(hub.client, environment.clock, hubName),
      };
    } finally {
      hub.close();
    }
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error;
    const wayOut = error instanceof HubError ? ': kubectl hub doctor says why a hub cannot be used' : '';
    const why = `${errorText(error, cluster).replace(/[.]$/, '')}${wayOut}`;
    return {
      findings: [],
      notes: [`No name was looked up in the hub of the Hub ${hubName}, everything else was checked: ${why}.`],
    };
  } finally {
    cluster?.close();
  }
}

/** The scenes and groups that actions in the cluster create. None for a user who may not list the resources. */
async function createdInCluster(cluster: Cluster, hubName: string): Promise<readonly string[]> {
  try {
    const listed = await Promise.all([automation, script].map((kind) => cluster.list(resourceType(kind))));
    return listed
      .flat()
      .filter((resource) => hubNameOf(resource) === hubName)
      .flatMap(({ spec }) => [...referencesOf(spec as EntityPayload).created]);
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}

/** A note about a hub that does not have all of its entities yet. None if the hub does not tell since when it runs. */
async function settlingNotes(client: HubClient, clock: Clock, hubName: string): Promise<readonly string[]> {
  try {
    if ((await new Settling(client, clock, HUB_SETTLE_TIME).left()) === 0) return [];
  } catch (error) {
    if (error instanceof HubError) return [];
    throw error;
  }
  return [
    `The hub of the Hub ${hubName} was started a short time ago, or is setting up its integrations: it may get some of the missing names. Repeat this afterwards.`,
  ];
}

/** @throws HubError */
async function missingNames(
  client: HubClient,
  given: readonly Given[],
  inCluster: readonly string[],
): Promise<readonly Finding[]> {
  const made = await MadeNames.of(
    client,
    given.map(({ resource }) => resource),
  );
  const definitions: Definition[] = [];
  for (const each of given) {
    const references = await referencesIn(client, each.resource as Child);
    if (references) definitions.push({ ...each, ...references });
  }
  const created = new Set([...inCluster, ...definitions.flatMap((each) => [...each.created])]);
  const suggestions = new Suggestions();
  const findings: Finding[] = [];
  for (const { manifest, all } of definitions) {
    const ids = await readIds(client, all, '', suggestions);
    const missing = all.filter(
      (each) => !ids.get(each.type)!.has(each.id) && !made.has(each) && !created.has(each.id),
    );
    const absent = await notSetUp(client, missing);
    for (const reference of missing) {
      const { type, id } = reference;
      const suggestion =
        ids.get(type)!.suggest(id) ?? (type === 'entity' ? suggestionFor(id, made.entities) : undefined);
      const words = wordsOf({ ...reference, ...(suggestion !== undefined && { suggestion }) }, absent);
      findings.push(findingAt(manifest, reference, `The hub does not have ${words}.`));
    }
  }
  return findings;
}

/**
 * The references of a definition, with its blueprint filled in by the hub. Of a blueprint that the hub does not have
 * yet, those of the definition's own parts.
 *
 * @returns undefined for a resource without a definition
 */
async function referencesIn(client: HubClient, resource: Child): Promise<References | undefined> {
  const entityType = entityTypeOf(resource.kind);
  if (!entityType) return undefined;
  const payload = entityType.payload(entityType.spec(resource));
  const { type } = entityType;
  const expanded = type === 'scene' ? payload : await expandBlueprint(type, { client, payload });
  return referencesOf(expanded ?? payload);
}

function findingAt(manifest: Manifest, reference: Reference, message: string): Finding {
  const { spec } = manifest.object as { readonly spec: Readonly<Record<string, unknown>> };
  const inSpec = placeOf(spec, reference) ?? ('useBlueprint' in spec ? ['useBlueprint'] : []);
  const path = ['spec', ...inSpec];
  const { file, lineOf, object } = manifest;
  return {
    severity: 'warning',
    file,
    line: lineOf(path),
    object: nameOf(object),
    field: fieldOf(path),
    message,
  };
}

const ACTION_KEYS: readonly unknown[] = ['action', 'service'];

/** The keys below which a text is an id of this type. */
function isBelow(path: Path, type: Reference['type']): boolean {
  const key = path.findLast((each) => typeof each === 'string');
  if (type === 'action') return ACTION_KEYS.includes(key);
  return type === 'entity' ? !ACTION_KEYS.includes(key) && key !== 'alias' : key === `${type}_id`;
}

/**
 * The first place of an id in a definition. An input of a blueprint has a name of its own, so a place with any key is
 * the second choice.
 */
function placeOf(spec: object, { type, id }: Reference): Path | undefined {
  const places = [...placesOf(spec, [], type === 'entity' || type === 'action' ? id : undefined, id)];
  return places.find((path) => isBelow(path, type)) ?? places.find((path) => path[0] === 'useBlueprint');
}

/** @param folded the id of an entity or an action, which is compared in lower case and may be one of a list */
function* placesOf(value: unknown, path: Path, folded: string | undefined, id: string): Generator<Path> {
  if (typeof value === 'string') {
    const all = folded === undefined ? [value] : value.split(',').map((each) => each.trim().toLowerCase());
    if (all.includes(id)) yield path;
  } else if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) yield* placesOf(each, [...path, index], folded, id);
  } else if (isObject(value)) {
    for (const [key, each] of Object.entries(value)) {
      if (key === id) yield [...path, key];
      yield* placesOf(each, [...path, key], folded, id);
    }
  }
}
