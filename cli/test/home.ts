import { isObject } from '../../operator/base/is-object';
import {
  configuration,
  blueprint as blueprintKind,
  helper as helperKind,
  type Hub,
  hub as hubKind,
  type HubAutomation,
  type HubBlueprint,
  type HubConfiguration,
  type HubScene,
  type HubScript,
  kindsByName,
} from '../../operator/kinds';
import { ownDomain } from '../../operator/kinds/kind';
import { registryName } from '../../operator/kinds/ids';
import type { CustomResource } from '../../operator/kinds/resource';
import { isConfigMap } from '../../operator/offline/findings';
import { configMapIn, type GivenConfigMap } from '../../operator/offline/given-state';
import type { Manifest } from '../../operator/offline/manifests';
import { checkSchema } from '../../operator/offline/schema';
import { automations } from '../../operator/sync/config-entities/automation';
import { scenes } from '../../operator/sync/config-entities/scene';
import { scripts } from '../../operator/sync/config-entities/script';
import { givenText } from '../../operator/sync/configuration/blueprint/text-of';
import { givenFiles } from '../../operator/sync/configuration/generate/given-files';
import { desiredEntry } from '../../operator/sync/registry/desired';
import {
  areas,
  type EntryResource,
  type EntryType,
  entryTypeOf,
  floors,
  labels,
  zones,
} from '../../operator/sync/registry/entry-types';
import { defaulted } from '../../operator/kinds/schema';
import { CommandError } from '../command-error';
import type { Home, Location, StoredHelper } from './protocol';

/** The simulated home of a Hub, as described by its resources. */
export interface DescribedHome {
  readonly home: Home;
  /**
   * Manifests by the id of the definition in the hub: `automation.<id>`, `script.<id>`, or `<domain>.<id>` of a
   * helper. The HubConfiguration has the key `configuration`.
   */
  readonly definitions: ReadonlyMap<string, Manifest>;
  /** Absent if the Hub itself is not among the resources. */
  readonly hub?: { readonly version?: string; readonly image?: string };
}

/** Time zone of a hub without a configured one. */
const DEFAULT_TIMEZONE = 'UTC';

/**
 * Builds the home from resources.
 *
 * @param manifests valid resources of one Hub, and ConfigMaps
 * @throws CommandError a ConfigMap of the configuration is missing
 */
export function describeHome(manifests: readonly Manifest[]): DescribedHome {
  const placed = manifests.map((manifest) => ({ manifest, resource: storedForm(manifest) }));
  const resources = placed.map(({ resource }) => resource);
  const [hub] = ofKind<Hub>(resources, hubKind.kind);
  return {
    ...(hub && { hub: workloadOf(hub) }),
    definitions: new Map(
      placed.flatMap(({ manifest, resource }) => {
        const key = definitionKey(resource);
        return key === undefined ? [] : [[key, manifest] as const];
      }),
    ),
    home: {
      hub: hub ? locationOf(hub) : { timezone: DEFAULT_TIMEZONE },
      ...configurationOf(resources, configMapsIn(manifests)),
      ...definitionsOf(resources),
      ...entityPlacesOf(resources),
      secrets: {},
      zones: entriesOf(zones, resources),
      floors: entriesOf(floors, resources),
      labels: entriesOf(labels, resources),
      areas: entriesOf(areas, resources),
      helpers: helpersOf(resources),
      blueprints: blueprintsOf(resources, configMapsIn(manifests)),
    },
  };
}

const ofKind = <R>(resources: readonly CustomResource[], kind: string): readonly R[] =>
  resources.filter((each) => each.kind === kind) as unknown as readonly R[];

const configMapsIn = (manifests: readonly Manifest[]): readonly GivenConfigMap[] =>
  manifests.filter(isConfigMap).map(({ object }) => object as GivenConfigMap);

function configurationOf(
  resources: readonly CustomResource[],
  configMaps: readonly GivenConfigMap[],
): Pick<Home, 'configuration' | 'files'> {
  const [resource] = ofKind<HubConfiguration>(resources, configuration.kind);
  if (!resource) return { files: {} };
  const { metadata, spec } = resource;
  const named = (spec.filesFrom ?? []).map(({ configMapRef: { name } }) => name);
  const given = givenFiles(
    defaulted(configuration.spec, spec),
    new Map(named.map((name) => [name, configMapIn(configMaps, metadata.namespace ?? '', name)])),
  );
  if (given.type !== 'files')
    throw new CommandError(
      `the HubConfiguration ${metadata.name} is not complete: ${given.message} If Kustomize makes it, give its output: kubectl kustomize DIR | kubectl hub test - TESTS`,
    );
  const { configuration: text } = spec;
  return { ...(text !== undefined && { configuration: text }), files: given.files };
}

/** The blueprints of HubBlueprints. @throws CommandError a ConfigMap is not among the manifests */
const blueprintsOf = (
  resources: readonly CustomResource[],
  configMaps: readonly GivenConfigMap[],
): Home['blueprints'] =>
  ofKind<HubBlueprint>(resources, blueprintKind.kind).map(({ metadata, spec }) => {
    const name = spec.configMapRef?.name;
    const configMap =
      name === undefined ? undefined : configMapIn(configMaps, metadata.namespace ?? '', name);
    const given = givenText(spec, configMap);
    if (given.type !== 'text')
      throw new CommandError(`the HubBlueprint ${metadata.name} is not complete: ${given.message}`);
    return { domain: spec.domain, path: spec.path, yaml: given.text };
  });

/** The payloads that the operator would send to the hub, with their ids. */
function definitionsOf(
  resources: readonly CustomResource[],
): Pick<Home, 'automations' | 'disabled' | 'scenes' | 'scripts'> {
  const given = ofKind<HubAutomation>(resources, 'HubAutomation');
  const payload = <R, S>(
    type: { id(resource: R): string; spec(resource: R): S; payload(spec: S): object },
    resource: R,
  ) => ({ id: type.id(resource), ...type.payload(type.spec(resource)) });
  return {
    automations: given.map((each) => payload(automations, each)),
    disabled: given.filter((each) => !automations.spec(each).enabled).map((each) => automations.id(each)),
    scenes: ofKind<HubScene>(resources, 'HubScene').map((each) => payload(scenes, each)),
    scripts: Object.fromEntries(
      ofKind<HubScript>(resources, 'HubScript').map((each) => {
        const { id, ...script } = payload(scripts, each);
        return [id, script];
      }),
    ),
  };
}

/**
 * The areas and labels that `spec.entity` gives to the entities of definitions. An area that does not exist is left
 * out, as the operator waits for it.
 */
function entityPlacesOf(resources: readonly CustomResource[]): Pick<Home, 'entityPlaces'> {
  const allAreas = ofKind<EntryResource>(resources, areas.definition.kind);
  const allLabels = ofKind<EntryResource>(resources, labels.definition.kind);
  const names = new Set(allAreas.map(({ spec }) => spec.name));
  const places = resources.flatMap((resource) => {
    const definition = kindsByName.get(resource.kind);
    const { ownEntity } = definition ?? {};
    if (!definition || !ownEntity) return [];
    const { entity = {} } = resource.spec as { readonly entity?: Placed };
    const { areaName, labels: given = [] } = entity;
    if (areaName === undefined && given.length === 0) return [];
    const area = areaName === undefined ? undefined : nameIn(allAreas, areaName);
    const isThere = area !== undefined && (names.size === 0 || names.has(area));
    const domain = ownDomain(ownEntity, resource);
    return [
      {
        domain,
        platform: ownEntity.integrations[domain]!,
        id: String(ownEntity.uniqueIdOf?.(resource) ?? definition.identity?.(resource)),
        ...(isThere && { area }),
        labels: given.map((each) => nameIn(allLabels, each)),
      },
    ];
  });
  return places.length > 0 ? { entityPlaces: places } : {};
}

/** The settings in `spec.entity` that targets of actions resolve to. */
interface Placed {
  readonly areaName?: string;
  readonly labels?: readonly string[];
}

/** The object as the API server would store it: without null values, and with the defaults of the schema. */
function storedForm({ object }: Manifest): CustomResource {
  const definition = kindsByName.get(String(object['kind']));
  return (definition ? checkSchema(definition, object).object : object) as unknown as CustomResource;
}

function definitionKey(resource: CustomResource): string | undefined {
  const { kind } = resource;
  if (kind === configuration.kind) return 'configuration';
  if (kind === helperKind.kind) return helperKind.identity!(resource as never);
  if (kind === 'HubAutomation') return `automation.${automations.id(resource as never)}`;
  return kind === 'HubScript' ? `script.${scripts.id(resource as never)}` : undefined;
}

/** The entries with the fields of the hub's commands. References to floors and labels contain their names. */
function entriesOf(
  type: EntryType,
  resources: readonly CustomResource[],
): readonly Readonly<Record<string, unknown>>[] {
  return ofKind<EntryResource>(resources, type.definition.kind).map((resource) => {
    const references = Object.entries(type.fields).flatMap(([field, { refersTo }]) => {
      const given = resource.spec[field] as string | readonly string[] | undefined;
      if (!refersTo || given === undefined) return [];
      const others = ofKind<EntryResource>(resources, refersTo.entryType.definition.kind);
      const name = (each: string) => nameIn(others, each);
      return [[field, typeof given === 'string' ? name(given) : given.map(name)] as const];
    });
    const { fields } = desiredEntry(type, resource, Object.fromEntries(references));
    const { floor_id: floor, ...rest } = fields as { readonly floor_id?: unknown };
    return { ...rest, ...(floor !== undefined && { floor }) };
  });
}

/**
 * The `spec.name` of the resource that a reference means: the one with this name, or else with this
 * `metadata.name`. Without such a resource, the reference itself.
 */
function nameIn(others: readonly EntryResource[], name: string): string {
  const found =
    others.find(({ spec }) => registryName(spec.name) === registryName(name)) ??
    others.find(({ metadata }) => metadata.name === name);
  return found?.spec.name ?? name;
}

/** The helpers that the operator would create. */
const helpersOf = (resources: readonly CustomResource[]): readonly StoredHelper[] =>
  ofKind<EntryResource>(resources, helperKind.kind).flatMap((resource) => {
    const type = entryTypeOf(resource);
    if (!type) return [];
    const { fields } = desiredEntry(type, resource, {});
    return [{ domain: type.type, item: { id: type.identity.of(resource), ...fields } }];
  });

function workloadOf({ spec }: Hub): NonNullable<DescribedHome['hub']> {
  const { version, image } = spec;
  return { ...(version !== undefined && { version }), ...(image !== undefined && { image }) };
}

/** The location that the operator sets in the hub during the bootstrap. */
function locationOf({ spec }: Hub): Location {
  const { timezone } = defaulted(hubKind.spec, spec) as { readonly timezone: string };
  const location: unknown = spec.bootstrap?.location;
  const { timeZone, latitude, longitude, name: _, ...rest } = isObject(location) ? location : {};
  return {
    ...rest,
    timezone: (timeZone as string | undefined) ?? timezone,
    ...(latitude !== undefined && { latitude: Number(latitude) }),
    ...(longitude !== undefined && { longitude: Number(longitude) }),
  };
}
