import { validationError } from '../../../client/config-entities/validation';
import type { BlueprintDomain, EntityPayload } from '../../../client/connection/config-entity';
import { domainOf } from '../../../client/connection/entity-id';
import { HubFailed } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import { isObject } from '../../../base/is-object';
import type { Child } from '../../objects/child';
import type { Services } from '../../services';
import type { ReadUsers, Trial, User } from './contexts';
import { canonicalBody } from './shown';

/** The place of a blueprint in the hub. */
interface PlacedBlueprint {
  readonly domain: BlueprintDomain;
  readonly path: string;
}

/**
 * Maximum number of automations and scripts without a resource that are read, since each read makes the hub
 * parse a whole file.
 */
const MOST_READ = 25;

const KINDS = { automation: 'HubAutomation', script: 'HubScript' } as const;

/** Fields of a spec that are parts of the definition. */
const PARTS = ['triggers', 'conditions', 'actions', 'sequence'] as const;

interface UsersOfBlueprint extends PlacedBlueprint {
  /** Ids of the entities that use it. */
  readonly entityIds: readonly string[];
  /** Automations and scripts that were read before. */
  readonly read: ReadUsers;
}

/**
 * The running automations and scripts with a blueprint, and their inputs. Those that the hub has disabled as
 * invalid are left out.
 */
export async function runningUsers(
  { cache }: Pick<Services, 'cache'>,
  client: HubClient,
  blueprint: Child,
  { domain, path, entityIds, read }: UsersOfBlueprint,
): Promise<readonly User[]> {
  if (domain === 'template') return [];
  const users: User[] = [];
  let count = 0;
  for (const entityId of entityIds) {
    if ((await client.repairIssues.validationErrorOf(entityId)) !== undefined) continue;
    const resource = resourceOf(cache, blueprint, entityId);
    if (!resource && ++count > MOST_READ) continue;
    if (!resource && !read.has(entityId)) read.set(entityId, await ofHub(client, domain, entityId));
    const user = resource ? ofResource(entityId, resource) : read.get(entityId);
    if (user?.path === path) users.push(user.user);
  }
  return users;
}

type Used = ReturnType<ReadUsers['get']>;

function ofResource(entityId: string, { spec }: Child): Used {
  const fields = spec as unknown as Readonly<Record<string, unknown>>;
  const own = PARTS.flatMap((key) => (fields[key] === undefined ? [] : [[key, fields[key]] as const]));
  return userOf(entityId, fields['useBlueprint'], Object.fromEntries(own));
}

/**
 * Reads an automation or script without a resource. Undefined if it is defined in the hub's YAML, since the
 * hub does not return its inputs then.
 */
async function ofHub(
  { entities, entityRegistry }: HubClient,
  domain: 'automation' | 'script',
  entityId: string,
): Promise<Used> {
  const entity = await entityRegistry.get(entityId);
  const { use_blueprint: use, ...own } = (entity && (await entities.read(domain, entity.unique_id))) ?? {};
  return userOf(entityId, use, own);
}

function userOf(entityId: string, use: unknown, own: EntityPayload): Used {
  if (!isObject(use)) return undefined;
  const input = isObject(use['input']) ? use['input'] : {};
  return { path: use['path'], user: { entityId, input, own } };
}

/** The automations and scripts for which the present blueprint is valid and the copy is not. */
export async function brokenBy(
  client: Pick<HubClient, 'blueprints' | 'connection'>,
  { domain, path: copy }: PlacedBlueprint,
  present: string,
  users: readonly User[],
): Promise<Trial['broken']> {
  const broken: { entityId: string; problem: string }[] = [];
  if (domain === 'template') return broken;
  for (const user of users) {
    const problem = await problemOf(client, { domain, path: copy }, user);
    if (problem === undefined || (await problemOf(client, { domain, path: present }, user)) !== undefined)
      continue;
    broken.push({ entityId: user.entityId, problem });
  }
  return broken;
}

/**
 * The reason why the hub would disable an automation or script as invalid with this blueprint. Undefined if
 * it is valid.
 */
async function problemOf(
  { blueprints, connection }: Pick<HubClient, 'blueprints' | 'connection'>,
  { domain, path }: { readonly domain: 'automation' | 'script'; readonly path: string },
  { input, own }: User,
): Promise<string | undefined> {
  try {
    const body = canonicalBody(domain, await blueprints.substitute(domain, path, input));
    const definition = { ...body, ...own };
    const needed = domain === 'automation' ? ['triggers', 'actions'] : ['sequence'];
    const missing = needed.find((key) => !(key in definition));
    if (missing !== undefined) return `there is no ${missing}`;
    return await validationError(connection, domain, definition);
  } catch (error) {
    if (error instanceof HubFailed) return error.message;
    throw error;
  }
}

/** The automations and scripts that the hub has disabled as invalid, each with the hub's message. */
export async function disabledUsers(
  { repairIssues }: Pick<HubClient, 'repairIssues'>,
  entityIds: readonly string[],
): Promise<readonly { readonly entityId: string; readonly problem: string }[]> {
  const found = [];
  for (const entityId of entityIds) {
    const problem = await repairIssues.validationErrorOf(entityId);
    if (problem !== undefined) found.push({ entityId, problem });
  }
  return found;
}

/** Reports whether the resource of an automation or script is being deleted. */
export const isLeaving = ({ cache }: Pick<Services, 'cache'>, blueprint: Child, entityId: string): boolean =>
  resourceOf(cache, blueprint, entityId)?.metadata.deletionTimestamp !== undefined;

/** The resource of an automation or script in the hub of a blueprint. Undefined if it has none. */
function resourceOf(
  cache: Services['cache'],
  { metadata: { namespace }, spec: { hubRef } }: Child,
  entityId: string,
): Child | undefined {
  const kind = domainOf(entityId) === 'script' ? KINDS.script : KINDS.automation;
  const [found] = cache.ofHubByStatus<Child>(kind, namespace, hubRef.name, 'entityId', entityId);
  return found;
}
