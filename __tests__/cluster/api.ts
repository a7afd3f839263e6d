import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { kubeconfig } from '.';

// Reads and writes of tests go directly to the API server. A kubectl process for each would cost more
// processor time than the operator under test.

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Body {
  /** Content type of the body. */
  readonly type: string;
  readonly value: object;
}

interface Resource {
  /** Path of the group and version, such as `/apis/apps/v1`. */
  readonly root: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

interface Discovery {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      /**
       * Absent for a moment after another test has installed the first kinds of a group, while its discovery
       * is "Stale".
       */
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind: { readonly kind: string };
        readonly scope: 'Namespaced' | 'Cluster';
        readonly singularResource: string;
        readonly shortNames?: readonly string[];
      }[];
    }[];
  }[];
}

/**
 * Shorter than the 90 s after which the server closes idle connections, so that none is used just before the
 * server closes it. In milliseconds.
 */
const IDLE_TIMEOUT = 30_000;
const ANSWER_TIMEOUT = 120_000;

const MERGE_PATCH = 'application/merge-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';
const DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** Number of retries, for a minute in all, when the API server asks to repeat the request later. */
const RETRIES = 60;
const RETRY_PAUSE = 1_000; // milliseconds

let agent: https.Agent | undefined;
let resources: Map<string, Resource> | undefined;

afterAll(() => agent?.destroy());

/** An answer of the API server that reports a failure. */
export class Refused extends Error {
  override readonly name = 'Refused';

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Returns one object of a kind. The kind may have any name that kubectl accepts.
 * @throws Refused
 */
export async function getObject(kind: string, namespace: string, name: string): Promise<object> {
  const resource = await resourceOf(kind);
  return shown(resource, await request('GET', pathOf(resource, namespace, name)));
}

/**
 * Returns all objects of these kinds (`hubs,secrets`) in a namespace.
 * @throws Refused
 */
export async function listObjects(kinds: string, namespace: string, query = ''): Promise<object[]> {
  const lists = kinds.split(',').map(async (kind) => {
    const resource = await resourceOf(kind);
    const { items } = (await request('GET', `${pathOf(resource, namespace)}${query}`)) as {
      items: object[];
    };
    return items.map((item) => shown(resource, item));
  });
  return (await Promise.all(lists)).flat();
}

/**
 * Sends a JSON merge patch.
 * @throws Refused
 */
export async function patchObject(
  kind: string,
  namespace: string,
  name: string,
  patch: object,
): Promise<void> {
  await request('PATCH', pathOf(await resourceOf(kind), namespace, name), {
    type: MERGE_PATCH,
    value: patch,
  });
}

/**
 * Applies an object like `kubectl apply --server-side --force-conflicts`.
 * @throws Refused
 */
export async function applyObject(namespace: string, object: AppliedObject): Promise<void> {
  const { kind, metadata } = object;
  const path = pathOf(await resourceOf(kind), namespace, metadata.name);
  await request('PATCH', `${path}?fieldManager=test&force=true`, { type: APPLY_PATCH, value: object });
}

export interface AppliedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

/**
 * Deletes an object. Resolves when the API server has accepted the deletion; finalizers may still hold the
 * object.
 * @param name undefined to delete all objects of the kind
 * @throws Refused
 */
export async function deleteObject(kind: string, namespace: string, name?: string): Promise<void> {
  await request('DELETE', pathOf(await resourceOf(kind), namespace, name));
}

/** Returns the path of the collection of a kind in a namespace. */
export async function collectionPath(kind: string, namespace: string): Promise<string> {
  return pathOf(await resourceOf(kind), namespace);
}

function pathOf({ root, plural, namespaced }: Resource, namespace: string, name?: string): string {
  return [
    root,
    ...(namespaced ? ['namespaces', namespace] : []),
    plural,
    ...(name === undefined ? [] : [name]),
  ].join('/');
}

/** Returns an object as kubectl shows it: list items have their kind, and managedFields are left out. */
function shown({ apiVersion, kind }: Resource, object: unknown): object {
  const { metadata, ...rest } = object as { metadata: Record<string, unknown> };
  const { managedFields: _, ...others } = metadata;
  return { apiVersion, kind, ...rest, metadata: others };
}

async function resourceOf(kind: string): Promise<Resource> {
  const name = kind.toLowerCase();
  // The discovery is repeated once, because tests install and remove kinds.
  const found = resources?.get(name) ?? (resources = await discover()).get(name);
  if (!found) throw new Refused(404, `the server has no kind ${kind}`);
  return found;
}

async function discover(): Promise<Map<string, Resource>> {
  const found = new Map<string, Resource>();
  for (const path of ['/api', '/apis']) {
    const { items } = (await request('GET', path, undefined, DISCOVERY)) as Discovery;
    for (const { metadata, versions } of items) {
      const group = metadata.name ?? '';
      for (const { version, resources: all = [] } of versions) {
        const apiVersion = group === '' ? version : `${group}/${version}`;
        for (const { resource: plural, responseKind, scope, singularResource, shortNames = [] } of all) {
          const { kind } = responseKind;
          const resource = {
            root: `${path}/${apiVersion}`,
            apiVersion,
            kind,
            plural,
            namespaced: scope === 'Namespaced',
          };
          const names = [plural, singularResource, kind.toLowerCase(), ...shortNames, `${plural}.${group}`];
          // As in kubectl, the first group and version that has the name wins.
          for (const name of names) if (!found.has(name)) found.set(name, resource);
        }
      }
    }
  }
  return found;
}

async function request(
  method: string,
  path: string,
  body?: Body,
  accept = 'application/json',
): Promise<unknown> {
  let { status, body: answer, isRepeated } = await sendPatiently(method, path, body, accept);
  // Retries as kubectl does while the server is busy, or prepares a kind that was just installed ("storage is
  // (re)initializing").
  for (let retry = 1; isLater(method, status) && retry <= RETRIES; retry++) {
    await sleep(RETRY_PAUSE);
    ({ status, body: answer } = await sendPatiently(method, path, body, accept));
    isRepeated = true;
  }
  if (status < 300) return answer;
  // 404 after a repeated deletion means that the first request succeeded and its answer was lost.
  if (status === 404 && isRepeated && method === 'DELETE') return undefined;
  throw new Refused(status, (answer as { message?: string }).message ?? `${method} ${path}: HTTP ${status}`);
}

/**
 * Whether the same request may be sent again. A 5xx, for example when etcd is slow, does not say that the
 * request failed.
 */
const isLater = (method: string, status: number): boolean =>
  status === 429 || (isRepeatable(method) && status >= 500);

/**
 * Requests that may be sent twice: a second equal patch changes nothing, and a second deletion finds nothing.
 */
const isRepeatable = (method: string): boolean => ['GET', 'PATCH', 'DELETE'].includes(method);

/**
 * Sends a request a second time if there was no answer, because the server may just have closed the
 * connection.
 */
async function sendPatiently(
  ...request: Parameters<typeof send>
): Promise<Answer & { readonly isRepeated: boolean }> {
  try {
    return { ...(await send(...request)), isRepeated: false };
  } catch (error) {
    if (!isRepeatable(request[0])) throw error;
    await sleep(RETRY_PAUSE);
    return { ...(await send(...request)), isRepeated: true };
  }
}

async function send(method: string, path: string, body: Body | undefined, accept: string): Promise<Answer> {
  agent ??= new https.Agent({ keepAlive: true, timeout: IDLE_TIMEOUT, ...(await identity()) });
  const headers = { accept, ...(body && { 'content-type': body.type }) };
  const { server } = access!;
  const outgoing = https.request(`${server}${path}`, { method, agent, headers, timeout: ANSWER_TIMEOUT });
  outgoing.on('timeout', () =>
    outgoing.destroy(new Error(`${method} ${path}: no answer within ${ANSWER_TIMEOUT / 1_000} s`)),
  );
  outgoing.end(body && JSON.stringify(body.value));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  // The body is parsed here, since objects from outside of jest's context have other prototypes than those of
  // the tests.
  return { status: response.statusCode ?? 0, body: JSON.parse(await text(response)) };
}

let access: { readonly server: string } | undefined;

async function identity(): Promise<https.AgentOptions> {
  const { clusters, users } = JSON.parse(await readFile(kubeconfig(), 'utf8')) as {
    clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
    users: [{ user: { 'client-certificate-data': string; 'client-key-data': string } }];
  };
  const decoded = (data: string) => Buffer.from(data, 'base64').toString();
  const [{ cluster }] = clusters;
  const [{ user }] = users;
  access = { server: cluster.server };
  return {
    ca: decoded(cluster['certificate-authority-data']),
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
  };
}
