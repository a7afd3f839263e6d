import { KubeConfig } from '@kubernetes/client-node';
import axios, { type AxiosResponse } from 'axios';
import https from 'node:https';
import { kinds } from '../../operator/kinds';
import { GROUP_VERSION } from '../../operator/kinds/group';
import type { KindDefinition } from '../../operator/kinds/kind';
import { checkSchema } from '../../operator/offline/schema';
import { freshNamespace, kubeconfig } from '../cluster';
import type { Sample } from './full';
import { plainPath } from './places';

/** The API server's answer to an object: the object as it would be stored, or the reasons of the refusal. */
export interface Verdict {
  readonly object?: Record<string, unknown>;
  /** Fields such as `spec.mode` with a message each. Empty when the object was accepted. */
  readonly refusals: readonly { readonly field: string; readonly message: string }[];
}

/**
 * Sends objects to a real API server from this process over one connection, since hundreds of kubectl calls
 * would take minutes. Everything except `store` is a dry run.
 */
export class ApiServer {
  private constructor(
    private readonly client: ReturnType<typeof axios.create>,
    readonly namespace: string,
  ) {}

  /** Creates a namespace for the test file. The sandbox has installed the CRDs of `dist/`. */
  static async withKinds(): Promise<ApiServer> {
    const namespace = await freshNamespace('schema');

    const config = new KubeConfig();
    config.loadFromFile(kubeconfig());
    const tls: https.RequestOptions = {};
    await config.applyToHTTPSOptions(tls);
    const { ca, cert, key, rejectUnauthorized, headers } = tls;
    const agent = new https.Agent({ keepAlive: true, maxSockets: 8, ca, cert, key, rejectUnauthorized });
    const client = axios.create({
      baseURL: `${config.getCurrentCluster()!.server}/apis/${GROUP_VERSION}/namespaces/${namespace}`,
      headers: { ...(headers as Record<string, string>) },
      httpsAgent: agent,
      proxy: false,
      maxBodyLength: Infinity,
      validateStatus: () => true,
    });
    return new ApiServer(client, namespace);
  }

  /** The verdict of the API server must be equal to that of `validate`, which works without one. */
  async create(object: Sample): Promise<Verdict> {
    const verdict = await this.send('POST', pluralOf(object), object, true);
    const fields = checkSchema(definitionOf(object), object).problems.map(({ path }) => path.join('.'));
    const missed = verdict.refusals.filter(({ field }) => field !== '<nil>' && !fields.includes(field));
    if (missed.length > 0 || (verdict.object && fields.length > 0))
      throw new Error(
        `validate says ${fields.join(', ') || 'nothing'}, the API server ${JSON.stringify(verdict.refusals)}`,
      );
    return verdict;
  }

  /** Stores the object, so that later requests can update it. */
  async store(object: Sample): Promise<Verdict> {
    return this.send('POST', pluralOf(object), object, false);
  }

  update(object: Sample): Promise<Verdict> {
    return this.put(object, '');
  }

  updateStatus(object: Sample): Promise<Verdict> {
    return this.put(object, '/status');
  }

  private async put(object: Sample, subresource: string): Promise<Verdict> {
    const path = `${pluralOf(object)}/${object.metadata.name}`;
    const { data: stored } = await this.client.get<Sample>(path);
    return this.send('PUT', `${path}${subresource}`, { ...object, metadata: stored.metadata }, true);
  }

  private async send(method: string, path: string, data: object, dryRun: boolean): Promise<Verdict> {
    const params = { fieldValidation: 'Strict', ...(dryRun ? { dryRun: 'All' } : {}) };
    return verdict(await this.client.request<Answer>({ method, url: `/${path}`, data, params }));
  }
}

/** Whether the refusal names the field and the reason. */
export function names({ refusals }: Verdict, field: string, because: RegExp | string): boolean {
  const plain = plainPath(field);
  return refusals.some(
    (refusal) =>
      refusal.field === plain &&
      (typeof because === 'string' ? refusal.message.includes(because) : because.test(refusal.message)),
  );
}

type Answer = Record<string, unknown> & {
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly field: string; readonly message: string }[] };
};

function verdict({ status, data }: AxiosResponse<Answer>): Verdict {
  if (status < 300) return { object: data, refusals: [] };
  const causes = data.details?.causes ?? [];
  if (status !== 422 || causes.length === 0)
    throw new Error(`the API server answered ${status}: ${data.message}`);
  return { refusals: causes.map(({ field, message }) => ({ field: plainPath(field), message })) };
}

const definitionOf = ({ kind }: Sample): KindDefinition =>
  kinds.find((definition) => definition.kind === kind)!;

const pluralOf = (sample: Sample): string => definitionOf(sample).plural;
