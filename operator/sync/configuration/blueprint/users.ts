import { validationError } from '../../../client/config-entities/validation';
import type { BlueprintDomain, EntityPayload } from '../../../client/connection/config-entity';
import { domainOf } from '../../../client/connection/entity-id';
import { HubFailed } from '../../../client/connection/errors';
import type { HubClient } from '../../../client/hub-client';
import { isObject } from '../../../base/is-object';
import type { Child } from '../../objects/child';
import type { Services } from '../../services';
import type { Trial } from './contexts';
import { canonicalBody } from './shown';

/** A blueprint in the hub. */
interface PlacedBlueprint {
  readonly domain: BlueprintDomain;
  readonly path: string;
}

/** An automation or a script that uses a blueprint. */
interface User {
  readonly entityId: string;
  /** The inputs that it is to have, by its resource, or that it has. */
  readonly input: object;
  /** Keys of its own, which override those of the blueprint. */
  readonly own: EntityPayload;
}

/** Users without a resource that are read: the hub reads its whole file for each. */
const MOST_READ = 25;

const KINDS = { automation: 'HubAutomation', script: 'HubScript' } as const;

/** The keys of a spec that are parts of a definition. */
const PARTS = ['triggers', 'conditions', 'actions', 'sequence'] as const;

/** The users of a blueprint that run now, with their inputs. Those that the hub has disabled as invalid break no more. */
export async function runningUsers(
  { cache }: Pick<Services, 'cache'>,
  client: HubClient,
  { metadata: { namespace }, spec: { hubRef } }: Child,
  { domain, path }: PlacedBlueprint,
  entityIds: readonly string[],
): Promise<readonly User[]> {
  if (domain === 'template') return [];
  const resources = new Map(
    [...cache.ofHub<Child>(KINDS[domain], namespace, hubRef.name)].map((each) => [
      each.status?.['entityId'],
      each,
    ]),
  );
  const users: User[] = [];
  let read = 0;
  for (const entityId of entityIds) {
    if ((await client.repairIssues.validationErrorOf(entityId)) !== undefined) continue;
    const resource = resources.get(entityId);
    if (!resource && ++read > MOST_READ) continue;
    const user = resource ? ofResource(entityId, resource) : await ofHub(client, domain, entityId);
    if (user?.path === path) users.push(user.user);
  }
  return users;
}

type Used = { readonly path: unknown; readonly user: User } | undefined;

function ofResource(entityId: string, { spec }: Child): Used {
  const fields = spec as unknown as Readonly<Record<string, unknown>>;
  const own = PARTS.flatMap((key) => (fields[key] === undefined ? [] : [[key, fields[key]] as const]));
  return userOf(entityId, fields['useBlueprint'], Object.fromEntries(own));
}

/** Undefined: it is in the YAML of a person, and the hub does not show its inputs. */
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

/** The users that a blueprint would break in the place of another: with that one they are valid. */
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

/** Why the hub would disable the user. */
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

/** The users that the hub has disabled as invalid, with its words. */
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

/** A user that a resource makes which is being deleted. */
export function isLeaving(
  { cache }: Pick<Services, 'cache'>,
  { metadata: { namespace }, spec: { hubRef } }: Child,
  entityId: string,
): boolean {
  const kind = domainOf(entityId) === 'script' ? KINDS.script : KINDS.automation;
  const [user] = cache.ofHubByStatus<Child>(kind, namespace, hubRef.name, 'entityId', entityId);
  return user?.metadata.deletionTimestamp !== undefined;
}
