import type { Readable } from 'node:stream';
import type { Clock } from '../../../operator/clock';
import { ApiError, Cluster, type ClusterRequest } from '../../../operator/runtime/transport';

export type Handler = (request: ClusterRequest) => unknown;

/** Answers requests by a function and remembers them; nothing is sent. */
export class FakeCluster extends Cluster {
  readonly requests: ClusterRequest[] = [];

  constructor(
    clock: Clock,
    public handler: Handler = ({ body }) => body,
  ) {
    super(kubeConfigFor('http://127.0.0.1:1'), { clock });
  }

  override async request<T>(request: ClusterRequest): Promise<T> {
    this.requests.push(request);
    return (await this.handler(request)) as T;
  }

  override async stream(request: ClusterRequest): Promise<Readable> {
    this.requests.push(request);
    const stream = (await this.handler(request)) as Readable;
    request.signal?.addEventListener('abort', () => stream.destroy());
    return stream;
  }

  get writes(): ClusterRequest[] {
    return this.requests.filter(({ method }) => method !== 'GET');
  }
}

export const conflict = () => new ApiError(409, 'Conflict', 'the object has been modified');
export const notFound = () => new ApiError(404, 'NotFound', 'not found');

/** A kubeconfig that names a server and asks for no authentication. */
export const kubeConfigFor = (server: string) => ({
  getCurrentCluster: () => ({ name: 'test', server, skipTLSVerify: false }),
  applyToHTTPSOptions: () => Promise.resolve(),
});
