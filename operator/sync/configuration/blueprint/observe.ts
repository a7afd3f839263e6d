import { HubFailed } from '../../../client/connection/errors';
import { canonical } from '../../objects/payload-hash';
import { hasAccepted } from '../../objects/ownership';
import type { Services } from '../../services';
import type { CachedBlueprint, ReadUsers, Trial } from './contexts';
import { type Shown, shownBlueprint } from './shown';
import { brokenBy, runningUsers } from './users';
import type { Work } from './begin';

/** A blueprint in the hub at the path of the spec. */
export interface Present {
  /** The blueprint as the hub returns it. Undefined if the hub cannot read the file. */
  readonly shown: Shown | undefined;
}

interface WithUrl {
  /** The source URL that another client has set, and that is kept. */
  readonly keptUrl?: string | undefined;
}

export type Seen = WithUrl &
  (
    | { readonly type: 'Absent' }
    | ({ readonly type: 'Equal' } & Present)
    | ({ readonly type: 'Different' } & Present & Pick<Trial, 'broken'>)
  );

/**
 * Compares the text with the blueprint in the hub. If they are not known to be equal, the hub reads a
 * temporary copy of the text.
 */
export async function see(services: Pick<Services, 'cache'>, work: Work): Promise<Seen> {
  const { client, spec, hasSource, hub, context, resource, hash } = work;
  const { domain, path } = spec;
  const { blueprints } = client;
  let list = await blueprints.list(domain);
  if (resource.status?.path !== path && !list.has(path)) {
    // The list may be a second old, and a user may have imported the blueprint since: it would not count as adopted.
    blueprints.invalidate(domain);
    list = await blueprints.list(domain);
  }
  if (!context.dryRun) await hub.checks.clean(domain, list.keys());
  const listed = list.get(path);
  if (!listed) return { type: 'Absent' };
  const shown = listed.metadata && (await readable(shownBlueprint(blueprints, domain, path, listed)));
  const isOwnUrl = resource.status?.appliedFields?.includes('sourceUrl') === true;
  const keptUrl = isOwnUrl || hasSource ? undefined : shown?.sourceUrl;
  const isKnown = shown && hasAccepted(resource, hash) && resource.status?.bodyHash === shown.hash;
  if (isKnown) return { type: 'Equal', shown };
  if (context.dryRun) return { type: 'Different', shown, keptUrl, broken: [] };
  const { isEqual, broken } = await tried(services, work, shown, keptUrl);
  return isEqual ? { type: 'Equal', shown } : { type: 'Different', shown, keptUrl, broken };
}

/** The blueprint in the hub. Undefined if its file is broken, which the operator replaces. */
async function readable(shown: Promise<Shown>): Promise<Shown | undefined> {
  try {
    return await shown;
  } catch (error) {
    if (error instanceof HubFailed) return undefined;
    throw error;
  }
}

/**
 * Saves the text under another path, which nothing uses. Determines how the hub reads it, and which
 * automations and scripts with the present blueprint would be invalid with the text.
 */
async function tried(
  services: Pick<Services, 'cache'>,
  { client, spec, given, hub, cached, resource, hash }: Work,
  present: Shown | undefined,
  keptUrl: string | undefined,
): Promise<Trial> {
  const { domain, path } = spec;
  const key = canonical({ hash, present: present?.hash ?? null });
  const known = cached.trial?.key === key ? cached.trial : undefined;
  if (known?.isEqual) return known;
  const findUsers = async () => {
    const entityIds = (await client.blueprints.usersOf(domain, path)) ?? [];
    const read = readUsers(cached, hub.reloadCount());
    return runningUsers(services, client, resource, { domain, path, entityIds, read });
  };
  if (known && known.users === canonical(await findUsers())) return known;
  const sourceUrl = spec.sourceUrl ?? keptUrl;
  const trial = await hub.checks.withCopy({ domain, yaml: given.text, sourceUrl }, async (copy) => {
    const listed = (await client.blueprints.list(domain)).get(copy) ?? {};
    const shown = await shownBlueprint(client.blueprints, domain, copy, listed);
    if (shown.hash === present?.hash) return { key, isEqual: true, users: '', broken: [] };
    const users = await findUsers();
    const broken = await brokenBy(client, { domain, path: copy }, path, users);
    return { key, isEqual: false, users: canonical(users), broken };
  });
  cached.trial = trial;
  return trial;
}

/** The automations and scripts without a resource that were read since the last reload in the hub. */
function readUsers(cached: CachedBlueprint, reloadCount: number): ReadUsers {
  if (cached.read?.reloadCount !== reloadCount) cached.read = { reloadCount, users: new Map() };
  return cached.read.users;
}
