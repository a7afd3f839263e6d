import type { Readable } from 'node:stream';
import type { Clock } from '../../../operator/base/clock';
import { ApiClient, type ApiRequest } from '../../../operator/runtime/api-client';
import { ApiError } from '../../../operator/runtime/api-errors';

export type Handler = (request: ApiRequest) => unknown;

/** Answers requests with a function and records them. Nothing is sent. */
export class FakeApiClient extends ApiClient {
  readonly requests: ApiRequest[] = [];

  constructor(
    clock: Clock,
    public handler: Handler = ({ body }) => body,
  ) {
    super(kubeConfigFor('http://127.0.0.1:1'), { clock });
  }

  override async request<T>(request: ApiRequest): Promise<T> {
    this.requests.push(request);
    return (await this.handler(request)) as T;
  }

  override async stream(request: ApiRequest): Promise<Readable> {
    this.requests.push(request);
    const stream = (await this.handler(request)) as Readable;
    request.signal?.addEventListener('abort', () => stream.destroy());
    return stream;
  }

  get writes(): ApiRequest[] {
    return this.requests.filter(({ method }) => method !== 'GET');
  }
}

export const conflict = () => new ApiError(409, 'Conflict', 'the object has been modified');
export const notFound = () => new ApiError(404, 'NotFound', 'not found');

/** Returns a kubeconfig with a server and without authentication. */
export const kubeConfigFor = (server: string) => ({
  getCurrentCluster: () => ({ name: 'test', server, skipTLSVerify: false }),
  applyToHTTPSOptions: () => Promise.resolve(),
});
