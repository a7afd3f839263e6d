import { GROUP_VERSION } from '../../../operator/kinds/group';
import { kinds, kindsByName } from '../../../operator/kinds';
import type { CustomResource } from '../../../operator/kinds/resource';
import type { ApiRequest } from '../../../operator/runtime/api-client';
import { ApiError } from '../../../operator/runtime/api-errors';
import { Cluster, type ClusterOptions } from '../../../cli/cluster';
import type { HubFacts } from '../../../cli/doctor/hub-facts';
import { HubUnreachable } from '../../../operator/client/connection/errors';
import type { Environment } from '../../../cli/environment';
import type { Occupation } from '../../../cli/reconcile/occupation';
import { runProgram } from '../../../cli/program';
import { Terminal } from '../../../cli/terminal';
import { ManualClock } from '../manual-clock';
import { objectMetadata } from '../object-metadata';
import { FakeApiClient, notFound } from '../runtime/fake-api-client';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line with a list of objects in place of a cluster. All requests stay in the process. */
export class CommandLine {
  readonly clock = new ManualClock();
  readonly connections: ClusterOptions[] = [];
  readonly objects: CustomResource[];
  readonly client: FakeApiClient;
  /** Answers requests before the list of objects does; undefined leaves the answer to the list. */
  intercept: (request: ApiRequest) => unknown = () => undefined;
  /** Called after each write, as a stand-in of the operator. */
  afterWrite: (object: CustomResource) => void = () => undefined;
  /** Reads facts from a stand-in of the hub. */
  readHub: (name: string) => Promise<HubFacts> = () => Promise.reject(new HubUnreachable('no hub answers'));
  /** Reads work in the hub that a restart would interrupt. */
  readOccupation: (name: string) => Promise<Occupation | undefined> = () => Promise.resolve(undefined);
  stdout = '';
  stderr = '';
  private readonly interrupt = new AbortController();

  constructor(...objects: readonly CustomResource[]) {
    this.objects = structuredClone<CustomResource[]>([...objects]);
    this.client = new FakeApiClient(this.clock, (request) => this.intercept(request) ?? this.answer(request));
  }

  /** Runs a command while the clock advances a second at a time. */
  async run(
    line: string,
    { isTerminal = false, input = '', env = {}, columns = undefined as number | undefined } = {},
  ): Promise<Ran> {
    this.stdout = '';
    this.stderr = '';
    const environment = this.environment({ isTerminal, input, env, columns });
    let isOver = false;
    const args = line.split(' ').filter((word) => word !== '');
    const running = runProgram('kubectl hub', args, environment).finally(() => (isOver = true));
    while (!isOver) await this.clock.advance(1_000);
    return { code: await running, stdout: this.stdout, stderr: this.stderr };
  }

  environment({
    isTerminal = false,
    input = '',
    env = {},
    columns = undefined as number | undefined,
  } = {}): Environment {
    return {
      terminal: new Terminal({
        stdout: { write: (text) => (this.stdout += text), isTTY: isTerminal, columns },
        stderr: { write: (text) => (this.stderr += text), isTTY: isTerminal },
        env,
      }),
      clock: this.clock,
      signal: this.interrupt.signal,
      connect: (options: ClusterOptions) => {
        this.connections.push(options);
        return new Cluster(this.client, options.namespace ?? 'home', options);
      },
      readStandardInput: () => Promise.resolve(input),
      readHub: (_: Cluster, name: string) => this.readHub(name),
      readOccupation: (_: Cluster, name: string) => this.readOccupation(name),
    };
  }

  /** Interrupts the command like Ctrl-C. */
  stop(): void {
    this.interrupt.abort(new Error('interrupted'));
  }

  private answer({ method, path, body }: ApiRequest): unknown {
    const [, namespace, plural, name] =
      /^\/apis\/[^/]+\/v1\/(?:namespaces\/([^/]+)\/)?([a-z]+)(?:\/([^/]+))?$/.exec(path) ?? [];
    const definition = kinds.find((each) => each.plural === plural);
    if (!definition) {
      if (/^\/api\/v1\/(namespaces\/home\/)?secrets/.test(path)) return { items: null }; // an empty list of metadata
      throw notFound();
    }
    const listed = this.objects.filter(
      ({ kind, metadata }) =>
        kind === definition.kind && (namespace === undefined || metadata.namespace === namespace),
    );
    if (name === undefined) return { items: listed };
    const found = listed.find(({ metadata }) => metadata.name === name);
    if (!found) throw notFound();
    if (method === 'PATCH') {
      const before = JSON.stringify(found.spec);
      merge(found as unknown as Part, body as Part);
      if (JSON.stringify(found.spec) !== before)
        merge(found as unknown as Part, { metadata: { generation: found.metadata.generation + 1 } });
      const answer = structuredClone(found);
      this.afterWrite(found);
      return answer;
    }
    return structuredClone(found);
  }
}

type Part = Record<string, unknown>;

/** Applies a JSON merge patch. */
export function merge(target: Part, change: Part): void {
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete target[key];
    else if (typeof value === 'object' && !Array.isArray(value))
      merge((target[key] ??= {}) as Part, value as Part);
    else target[key] = value;
  }
}

interface Given {
  readonly status?: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly isStalled?: boolean;
  readonly metadata?: object;
  readonly fields?: object;
}

/** Returns a resource with the condition `Ready`, which is `True` by default. */
export function resource(
  kind: string,
  name: string,
  spec: object,
  { status = 'True', reason = 'Reason', message = 'A message.', isStalled, metadata, fields }: Given = {},
): CustomResource {
  if (!kindsByName.has(kind)) throw new Error(`there is no kind ${kind}`);
  const condition = (type: string, value: string) => ({
    type,
    status: value,
    reason,
    message,
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  return {
    apiVersion: GROUP_VERSION,
    kind,
    metadata: { ...objectMetadata, name, uid: `uid-${kind}-${name}`, ...metadata },
    spec,
    status: {
      observedGeneration: 1,
      ...fields,
      conditions: [condition('Ready', status), ...(isStalled ? [condition('Stalled', 'True')] : [])],
    },
  } as CustomResource;
}

export const ofHub = (name: string) => ({ hubRef: { name } });

export const forbidden = () => new ApiError(403, 'Forbidden', 'secrets is forbidden');
