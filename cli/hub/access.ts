import { readFile } from 'node:fs/promises';
import { HubUnreachable, NotHomeAssistant } from '../../operator/client/connection/errors';
import { HubClient, type HubAccess } from '../../operator/client/hub-client';
import { verifyIsHub } from '../../operator/client/connection/hub-identity';
import type { Clock } from '../../operator/base/clock';
import { messageOf } from '../../operator/base/errors';
import { type Hub, hub as definition } from '../../operator/kinds';
import { objectNames } from '../../operator/kinds/object-names';
import { defaulted } from '../../operator/kinds/schema';
import type { ClusterObject } from '../../operator/runtime/objects';
import { builtin } from '../../operator/runtime/types';
import { tokenSecretName } from '../../operator/sync/hub-connection/token';
import { valuesIn } from '../../operator/sync/hub-connection/hub-redactor';
import type { Cluster } from '../cluster';
import { CommandError } from '../command-error';
import { silentLog } from './silent-log';
import { forwardPort } from './port-forward';

/** A connection of a command to a hub. */
export interface OpenHub {
  readonly client: HubClient;
  close(): void;
}

interface Secret extends ClusterObject {
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * Opens the hub of a Hub resource with the token from its Secret. A hub in the cluster is reached through a
 * port that kubectl forwards through the API server, whose certificate is checked. The name of its Service
 * would not be safe: outside of the cluster, any name server may resolve it to another machine, which could
 * imitate a hub.
 *
 * @throws CommandError, HubError
 */
export async function openHub(cluster: Cluster, name: string, clock: Clock): Promise<OpenHub> {
  const hub = (await cluster.get(definition, name)) as unknown as Hub;
  const spec = defaulted(definition.spec, hub.spec);
  const { external } = spec;
  const token = external
    ? await secretValue(cluster, external.tokenSecretRef.name, external.tokenSecretRef.key)
    : await secretValue(cluster, tokenSecretName(hub, spec), 'token');
  const ca =
    external?.caSecretRef &&
    (await secretValue(cluster, external.caSecretRef.name, external.caSecretRef.key));
  const url = external ? new URL(external.url).origin : hub.status?.url;
  if (url === undefined)
    throw new CommandError(
      `the address of the Hub ${name} is not known yet: kubectl hub status ${name} says what it waits for`,
    );
  const masked = valuesIn(await secretContent(cluster, objectNames(name).secrets));
  const connect = (at: string) => openClient({ url: at, token: token.trim(), ca }, clock, masked);
  if (external) return connect(url);
  if (!cluster.isInside && !isOfThisMachine(url)) return openForwarded(cluster, name, url, connect);
  try {
    return await connect(url);
  } catch (error) {
    if (!(error instanceof HubUnreachable || error instanceof NotHomeAssistant)) throw error;
    return openForwarded(cluster, name, url, connect, error);
  }
}

/** Opens a hub by its URL, with a long-lived token from a file. @throws CommandError, HubError */
export async function openUrl(url: string, tokenFile: string, clock: Clock): Promise<OpenHub> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new CommandError(`${url} is no address of a hub: write it like http://192.168.1.10:8123`);
  const token = await readFile(tokenFile, 'utf8').catch((error: unknown) => {
    throw new CommandError(`cannot read the token in ${tokenFile}: ${messageOf(error)}`);
  });
  return openClient({ url: new URL(url).origin, token: token.trim() }, clock, []);
}

/**
 * Whether a URL leads to this machine. The hubs of a sandbox are local processes, so that no network and no
 * name server is involved.
 */
const isOfThisMachine = (url: string): boolean =>
  URL.canParse(url) && /^(127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

/** A client of a server that was verified to be a hub before the token is sent. @throws HubError */
async function openClient(access: HubAccess, clock: Clock, secrets: readonly string[]): Promise<OpenHub> {
  const client = new HubClient({ ...access, clock, log: silentLog, secrets });
  try {
    await verifyIsHub(client.rest);
    return { client, close: () => client.close() };
  } catch (error) {
    client.close();
    throw error;
  }
}

/** @param tried description of a previous attempt that failed */
async function openForwarded(
  cluster: Cluster,
  name: string,
  url: string,
  connect: (url: string) => Promise<OpenHub>,
  tried?: Error,
): Promise<OpenHub> {
  const { port } = new URL(url);
  const forwarded = await forwardPort(cluster, objectNames(name).workload, Number(port || 80), tried);
  try {
    const hub = await connect(forwarded.url);
    return {
      client: hub.client,
      close: () => {
        hub.close();
        forwarded.close();
      },
    };
  } catch (error) {
    forwarded.close();
    throw error;
  }
}

async function secretValue(cluster: Cluster, name: string, key: string): Promise<string> {
  const content = await secretContent(cluster, name);
  const where = `in the namespace ${cluster.namespace}`;
  if (!content)
    throw new CommandError(`the Secret ${name} ${where} does not exist: it holds the token for the hub`);
  const value = content.get(key);
  if (value === undefined)
    throw new CommandError(`the Secret ${name} ${where} has no key ${key}: it holds the token for the hub`);
  return value;
}

async function secretContent(
  cluster: Cluster,
  name: string,
): Promise<ReadonlyMap<string, string> | undefined> {
  const secret = await cluster.api.find<Secret>(builtin.Secret, cluster.namespace, name);
  if (!secret) return undefined;
  const entries = Object.entries(secret.data ?? {});
  return new Map(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));
}
