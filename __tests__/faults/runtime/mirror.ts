import { type Clock, systemClock } from '../../../operator/base/clock';
import { Informer } from '../../../operator/runtime/informer';
import type { InformerOptions } from '../../../operator/runtime/informer-options';
import { objectKeyOf } from '../../../operator/runtime/object-key';
import { type ClusterObject, pathOf, type ResourceType } from '../../../operator/runtime/objects';
import type { Change } from '../../../operator/runtime/store';
import { ApiClient } from '../../../operator/runtime/api-client';
import { silentLog } from '../../cluster/silent-log';

/** An informer over one namespace, and a second store that is built only from the informer's events. */
export class Mirror {
  readonly informer: Informer<ClusterObject>;
  readonly told: string[] = [];
  readonly failures: unknown[] = [];
  /** Changes that contradict earlier ones. A test asserts that there are none. */
  readonly complaints: string[] = [];
  private readonly replayed = new Map<string, string>();
  private readonly cluster: ApiClient;

  constructor(
    kubeConfig: ConstructorParameters<typeof ApiClient>[0],
    private readonly type: ResourceType,
    private readonly namespace: string,
    { clock = systemClock, ...options }: Partial<InformerOptions<ClusterObject>> & { clock?: Clock } = {},
  ) {
    this.cluster = new ApiClient(kubeConfig, { clock });
    this.informer = new Informer<ClusterObject>({
      cluster: this.cluster,
      clock,
      log: silentLog,
      type,
      namespace,
      onChange: (change) => this.hear(change),
      onFailure: (_, error) => this.failures.push(error),
      freeze: true,
      ...options,
    });
    this.informer.start();
  }

  /**
   * Throws unless the informer's store and the store built from its events both equal the objects in the
   * server, as `truth` sees them.
   */
  async agree(truth: ApiClient): Promise<true> {
    const { items } = await truth.request<{ items: ClusterObject[] }>({
      method: 'GET',
      path: pathOf(this.type, this.namespace),
    });
    const server = items.map(identityOf).sort();
    expect([...this.informer.store.values()].map(identityOf).sort()).toEqual(server);
    expect([...this.replayed.values()].sort()).toEqual(server);
    return true;
  }

  async stop(): Promise<void> {
    await this.informer.stop();
    this.cluster.close();
  }

  private hear(change: Change<ClusterObject>): void {
    const key = objectKeyOf(change.object);
    this.told.push(`${change.type} ${change.object.metadata.name}`);
    // Each difference is reported once: nothing that exists is added, and nothing that does not exist is
    // changed or deleted.
    if (this.replayed.has(key) === (change.type === 'added'))
      this.complaints.push(`${change.type} ${key} makes no sense`);
    if (change.type === 'deleted') this.replayed.delete(key);
    else this.replayed.set(key, identityOf(change.object));
  }
}

const identityOf = ({ metadata }: ClusterObject): string =>
  `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`;
