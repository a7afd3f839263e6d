import type { HubClient } from '../../../operator/client/hub-client';
import type { DescribedHome } from '../home';
import type { Home, Payload, StoredHelper } from '../protocol';
import { expanded, type RunningHub } from './running-hub';

/** The two homes against which a history is played. */
export interface Sides {
  /** The home as the hub runs it now. */
  readonly before: Home;
  /** The home as it would be with the files. */
  readonly after: Home;
  /** Definitions and helpers of resources in the cluster that the files lack, by domain and id: `automation.porch`. */
  readonly removed: readonly string[];
}

type Definitions = Pick<Home, 'automations' | 'scripts' | 'scenes' | 'disabled' | 'entityIds'>;

/**
 * Builds both homes.
 *
 * @param inCluster the resources of the Hub in the cluster: if the files lack one, its object is removed,
 * unlike other objects of the hub
 * @param given the resources in the files
 */
export function sidesOf(running: RunningHub, inCluster: DescribedHome, given: DescribedHome): Sides {
  const common = {
    hub: running.location,
    ...configurationOf(inCluster.home, given.home),
    secrets: {},
    blueprints: [],
  };
  const now = definitionsNow(running, inCluster.home);
  const managed = idsOf(inCluster.home);
  const inFiles = idsOf(given.home);
  const stays = (key: string) => inFiles.has(key) || !managed.has(key);
  return {
    before: { ...common, ...running.places, helpers: running.helpers, ...now },
    after: {
      ...common,
      ...configurationOf(given.home, inCluster.home),
      blueprints: given.home.blueprints,
      ...withOwnPlaces(given.home, running.places),
      helpers: [
        ...given.home.helpers,
        ...running.helpers.filter((each) => !inFiles.has(helperKey(each)) && stays(helperKey(each))),
      ],
      ...definitionsWith(now, given.home, stays),
    },
    removed: [...managed].filter((key) => !stays(key)).sort(),
  };
}

/** The configuration of the first home, or of the other one if the first has none. */
function configurationOf(first: Home, other: Home): Pick<Home, 'configuration' | 'files'> {
  const { configuration, files } = first.configuration === undefined ? other : first;
  return { files, ...(configuration !== undefined && { configuration }) };
}

const hubIdOf = (definition: Payload): string => String(definition['id']);

const helperKey = ({ domain, item }: StoredHelper): string => `${domain}.${hubIdOf(item)}`;

/** Keys of all definitions and helpers: `automation.<id>`, `script.<id>`, `scene.<id>`, `<domain>.<id>`. */
function idsOf({
  automations,
  scripts,
  scenes,
  helpers = [],
}: Pick<Home, 'automations' | 'scenes' | 'scripts'> & Partial<Pick<Home, 'helpers'>>): Set<string> {
  return new Set([
    ...automations.map((each) => `automation.${hubIdOf(each)}`),
    ...Object.keys(scripts).map((id) => `script.${id}`),
    ...scenes.map((each) => `scene.${hubIdOf(each)}`),
    ...helpers.map(helperKey),
  ]);
}

/**
 * The current definitions. An automation of a resource is off only if its spec says so. If another automation
 * has turned it off, that is a state and not part of the definition.
 */
function definitionsNow({ definitions, off }: RunningHub, inCluster: Home): Definitions {
  const { automation, script, scene } = definitions;
  const managed = idsOf(inCluster);
  const all = Object.entries(definitions).flatMap(([, stored]) => stored);
  return {
    automations: automation.map(({ id, payload }) => ({ ...payload, id })),
    scripts: Object.fromEntries(script.map(({ id, payload }) => [id, payload])),
    scenes: scene.map(({ id, payload }) => ({ ...payload, id })),
    disabled: automation.flatMap(({ id, entityId }) => {
      const isOff = managed.has(`automation.${id}`) ? inCluster.disabled.includes(id) : off.has(entityId);
      return isOff ? [id] : [];
    }),
    entityIds: Object.fromEntries(all.map(({ entityId, id }) => [entityId, id])),
  };
}

/** The definitions of the hub, with those of the files replacing the ones with equal ids. */
function definitionsWith(now: Definitions, given: Home, stays: (key: string) => boolean): Definitions {
  const merged = (domain: string, before: readonly Payload[], after: readonly Payload[]) => {
    const own = new Map(after.map((each) => [hubIdOf(each), each]));
    const kept = before.filter((each) => stays(`${domain}.${hubIdOf(each)}`));
    const known = new Set(kept.map(hubIdOf));
    // The hub's order is kept, because the hub starts simultaneous automations in that order.
    return [
      ...kept.map((each) => own.get(hubIdOf(each)) ?? each),
      ...after.filter((each) => !known.has(hubIdOf(each))),
    ];
  };
  const scripts = Object.entries(now.scripts).filter(([id]) => stays(`script.${id}`));
  const own = new Set(given.automations.map(hubIdOf));
  const all = {
    automations: merged('automation', now.automations, given.automations),
    scripts: { ...Object.fromEntries(scripts), ...given.scripts },
    scenes: merged('scene', now.scenes, given.scenes),
  };
  const ids = idsOf(all);
  return {
    ...all,
    disabled: [
      ...now.disabled.filter((id) => !own.has(id) && ids.has(`automation.${id}`)),
      ...given.disabled,
    ],
    entityIds: Object.fromEntries(
      Object.entries(now.entityIds ?? {}).filter(([entity, id]) => ids.has(`${entity.split('.')[0]}.${id}`)),
    ),
  };
}

/** The zones, floors, labels and areas of the files, and those that only the hub has. */
function withOwnPlaces(given: Home, hub: RunningHub['places']): RunningHub['places'] {
  const both = (kind: keyof RunningHub['places']) => {
    const names = new Set(given[kind].map(nameOf));
    return [...given[kind], ...hub[kind].filter((each) => !names.has(nameOf(each)))];
  };
  return { zones: both('zones'), floors: both('floors'), labels: both('labels'), areas: both('areas') };
}

const nameOf = ({ name }: Payload): string => String(name).trim().toLowerCase();

/**
 * The home with its blueprints expanded by the hub, except those that the home has itself.
 */
export async function withoutBlueprints(client: HubClient, home: Home): Promise<Home> {
  const plain = async (domain: 'automation' | 'script', definition: Payload): Promise<Payload> => {
    const { path } = (definition['use_blueprint'] ?? {}) as { readonly path?: unknown };
    const isOwn =
      `blueprints/${domain}/${String(path)}` in home.files ||
      home.blueprints.some((each) => each.domain === domain && each.path === path);
    return isOwn ? definition : expanded(client, domain, definition);
  };
  const automations: Payload[] = [];
  for (const each of home.automations) automations.push(await plain('automation', each));
  const scripts: [string, Payload][] = [];
  for (const [id, each] of Object.entries(home.scripts)) scripts.push([id, await plain('script', each)]);
  return { ...home, automations, scripts: Object.fromEntries(scripts) };
}
