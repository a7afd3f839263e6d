import { homedir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import type { Clock } from '../operator/base/clock';
import { messageOf } from '../operator/base/errors';
import { undefinedIf } from '../operator/base/undefined-if';
import { kinds } from '../operator/kinds';
import { API_GROUP, API_VERSION } from '../operator/kinds/group';
import type { KindDefinition } from '../operator/kinds/kind';
import type { CustomResource } from '../operator/kinds/resource';
import { ApiClient, type ApiRequest } from '../operator/runtime/api-client';
import { isForbidden, isNotFound } from '../operator/runtime/api-errors';
import { pathOf, type ResourceType } from '../operator/runtime/objects';
import { CommandError } from './command-error';
import { meantBy, orElse } from './suggestion';

/** Options of every command that uses a cluster, like those of kubectl. */
export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
}

/** Objects per request. The API server's answer says how to continue the list. */
const PAGE = 500;
/**
 * Concurrent connections. The TLS handshake of a further one takes longer than listing a kind without
 * resources.
 */
const CONNECTIONS = 3;
/** Nesting depth at which the items of a list begin. */
const LISTED_OBJECT_DEPTH = 3;

/** Field manager of all changes that the commands make. */
const FIELD_MANAGER = 'kubectl-hub';

type ListOptions = Pick<ApiRequest, 'plain'>;

interface List<T> {
  readonly items: readonly T[];
  readonly metadata?: { readonly continue?: string };
}

export const resourceType = ({ kind, plural }: KindDefinition): ResourceType => ({
  group: API_GROUP,
  version: API_VERSION,
  kind,
  plural,
});

/** The resources of the operator's kinds that the user may read. */
interface Readable {
  readonly resources: ReadonlyMap<string, readonly CustomResource[]>;
  /** The kinds that the user may not list, each with the API server's error message. */
  readonly refused: ReadonlyMap<string, string>;
}

const inOrder = <T>(byKind: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
  new Map([...byKind].sort(([a], [b]) => placeOf(a) - placeOf(b)));
const placeOf = (kind: string): number => kinds.findIndex((each) => each.kind === kind);

/** The server that the library assumes if there is no kubeconfig. */
const NO_SERVER = 'http://localhost:8080';

const firstLine = (error: unknown): string => messageOf(error).split('\n')[0]!;

function sourceOf({ kubeconfig }: ClusterOptions, env: Readonly<Record<string, string | undefined>>): string {
  return kubeconfig ?? (env['KUBECONFIG'] || join(env['HOME'] ?? homedir(), '.kube', 'config'));
}

/** A cluster as the user of the kubeconfig sees it, with the namespace that a command uses. */
export class Cluster {
  constructor(
    readonly api: ApiClient,
    readonly namespace: string,
    /** The options, to pass them to a program that is started for the same cluster. */
    readonly options: ClusterOptions = {},
    /** Whether this process runs in a pod of the cluster, where the names of Services can be resolved. */
    readonly isInside = false,
    /** Description for messages: the address, the context and the kubeconfig. */
    readonly place = 'of the cluster',
  ) {}

  /** A copy of this object for another namespace of the cluster. */
  inNamespace(namespace: string): Cluster {
    return new Cluster(this.api, namespace, this.options, this.isInside, this.place);
  }

  /** @throws CommandError the kubeconfig cannot be used */
  static connect(options: ClusterOptions, clock: Clock): Cluster {
    const config = new KubeConfig();
    const source = sourceOf(options, process.env);
    try {
      if (options.kubeconfig) config.loadFromFile(options.kubeconfig);
      else config.loadFromDefault();
    } catch (error) {
      // An empty file causes a TypeError, because the library reads fields of it.
      const reason = error instanceof TypeError ? 'it is empty, or no kubeconfig' : firstLine(error);
      throw new CommandError(
        `cannot use the kubeconfig ${source}: ${reason}: name another one with --kubeconfig, or set KUBECONFIG`,
      );
    }
    if (options.context) useContext(config, options.context);
    const context = config.getCurrentContext();
    const server = config.getCurrentCluster()?.server;
    if (server === NO_SERVER && context === 'loaded-context')
      throw new CommandError(
        `there is no kubeconfig: KUBECONFIG is not set, and ${source} does not exist: name one with --kubeconfig, or set KUBECONFIG`,
      );
    if (!server)
      throw new CommandError(
        context
          ? `the context ${context} of the kubeconfig ${source} names no cluster of it: choose another one with --context`
          : `the kubeconfig ${source} names no context: choose one with --context, or with kubectl config use-context`,
      );
    const { namespace } = config.getContextObject(context) ?? {};
    try {
      return new Cluster(
        new ApiClient(config, { clock, connections: CONNECTIONS }),
        options.namespace ?? (namespace || 'default'),
        options,
        runsInside(server, process.env),
        `${server} (context ${context}, kubeconfig ${source})`,
      );
    } catch (error) {
      throw new CommandError(`cannot use the kubeconfig ${source}: ${firstLine(error)}`);
    }
  }

  /** All resources of a kind in the namespace. The list is empty if the cluster does not have the kind. */
  async list<T = CustomResource>(type: ResourceType, options: ListOptions = {}): Promise<T[]> {
    const found: T[] = [];
    let next: string | undefined;
    do {
      try {
        const page: List<T> = await this.api.request({
          method: 'GET',
          path: pathOf(type, this.namespace || undefined),
          query: { limit: PAGE, continue: next },
          objectDepth: LISTED_OBJECT_DEPTH,
          ...options,
        });
        found.push(...page.items.map((item) => ({ ...item, kind: type.kind })));
        next = page.metadata?.continue || undefined;
      } catch (error) {
        if (isNotFound(error)) return [];
        throw error;
      }
    } while (next !== undefined);
    return found;
  }

  /** The resources of all the operator's kinds in the namespace, by kind. */
  async listAll(options?: ListOptions): Promise<ReadonlyMap<string, readonly CustomResource[]>> {
    const lists = kinds.map(
      async (definition) => [definition.kind, await this.list(resourceType(definition), options)] as const,
    );
    return new Map(await Promise.all(lists));
  }

  /** Like {@link listAll}, without the kinds that the user may not list. */
  async listReadable(options?: ListOptions): Promise<Readable> {
    const resources = new Map<string, readonly CustomResource[]>();
    const refused = new Map<string, string>();
    await Promise.all(
      kinds.map(async (definition) => {
        try {
          resources.set(definition.kind, await this.list(resourceType(definition), options));
        } catch (error) {
          if (!isForbidden(error)) throw error;
          refused.set(definition.kind, error.message);
        }
      }),
    );
    if (resources.size === 0)
      throw new CommandError(
        `you may list no resource of the operator ${this.inWords}: ${[...refused.values()][0]}: ask for the role hub-operator-view, or choose the namespace with -n`,
      );
    return { resources: inOrder(resources), refused: inOrder(refused) };
  }

  /** @throws CommandError no resource has that name */
  async get(definition: KindDefinition, name: string): Promise<CustomResource> {
    const type = resourceType(definition);
    const found = await this.api.find(type, this.namespace, name);
    if (found) return found as unknown as CustomResource;
    const others = await undefinedIf(isForbidden, this.list(type));
    throw this.missing(type, name, meantBy(name, others ?? [])?.metadata.name);
  }

  /**
   * Sends a merge patch. @returns the changed object
   *
   * @throws CommandError no object has that name
   */
  async patch<T = CustomResource>(type: ResourceType, name: string, change: object): Promise<T> {
    try {
      return await this.api.request({
        method: 'PATCH',
        path: pathOf(type, this.namespace, name),
        query: { fieldManager: FIELD_MANAGER },
        contentType: 'application/merge-patch+json',
        body: change,
      });
    } catch (error) {
      throw isNotFound(error) ? this.missing(type, name) : error;
    }
  }

  close(): void {
    this.api.close();
  }

  private get inWords(): string {
    return this.namespace === '' ? 'in all namespaces' : `in the namespace ${this.namespace}`;
  }

  /** @param meant name of an existing object that the user may have meant */
  private missing({ kind }: ResourceType, name: string, meant?: string): CommandError {
    const wayOut = orElse(meant, 'name another one, or choose the namespace with -n');
    return new CommandError(`there is no ${kind} ${name} in the namespace ${this.namespace}: ${wayOut}`);
  }
}

/**
 * Whether this process runs in a pod of the cluster that the kubeconfig names. In a pod, a kubeconfig may
 * name another cluster.
 */
export function runsInside(
  server: string | undefined,
  { KUBERNETES_SERVICE_HOST: host }: Readonly<Record<string, string | undefined>>,
): boolean {
  if (!host || server === undefined || !URL.canParse(server)) return false;
  return [host, `[${host}]`].includes(new URL(server).hostname);
}

function useContext(config: KubeConfig, context: string): void {
  if (!config.getContextObject(context))
    throw new CommandError(
      `the kubeconfig has no context ${context}: kubectl config get-contexts lists them`,
    );
  config.setCurrentContext(context);
}
