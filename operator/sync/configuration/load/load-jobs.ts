import { Stopping } from '../../../base/errors';
import type { Hub, HubConfiguration } from '../../../kinds';
import { REJECTED_WRITE_RETRY_INTERVAL } from '../../../base/limits';
import { assertStillDesired } from '../../still-desired';
import { hubRedactor } from '../../hub-connection/hub-redactor';
import { PerHub } from '../../hub-connection/per-hub';
import { Operation } from '../../objects/operation';
import { readGeneratedSecrets } from '../../secrets-yaml/generated-secrets';
import type { Services } from '../../services';
import type { ConfigurationRecords, HubStart } from '../record/record';
import { HubLoader, type LoadOrder, type LoadResult } from './hub-loader';
import type { DesiredContent } from './running-content';

/** The last load of each hub. */
export class LoadJobs {
  /**
   * Loads by hub. `key` identifies the content, the reload policy, and the start of the hub. After a failed
   * load, nothing is known about the content.
   */
  private readonly loads: PerHub<{ readonly key: string; readonly operation: Operation<LoadResult> }>;
  private readonly closing = new AbortController();

  constructor(
    private readonly services: Services,
    private readonly records: ConfigurationRecords,
  ) {
    this.loads = new PerHub(services.cache);
  }

  /** Aborts all loads. The next process repeats them. */
  close(): void {
    this.closing.abort(new Stopping('the operator stops'));
  }

  isLoading(hub: Hub): boolean {
    const load = this.loads.get(hub);
    return load !== undefined && !load.operation.end;
  }

  /**
   * The result of the last load, if it was a load of this content in this start of the hub and need not be
   * repeated.
   *
   * @throws the error with which the load failed, once
   */
  result(desired: DesiredContent, hub: Hub, start: HubStart): LoadResult | undefined {
    const load = this.loads.get(hub);
    if (load?.key !== loadKey(desired, start)) return undefined;
    const { end } = load.operation;
    if (!end) return undefined;
    if (end.type === 'failed') {
      this.loads.delete(hub);
      throw end.error;
    }
    const { type } = end.result;
    const mayPass = type === 'failed' || type === 'unseen' || type === 'restart';
    const age = this.services.clock.monotonic() - end.at;
    return !mayPass || age < REJECTED_WRITE_RETRY_INTERVAL ? end.result : undefined;
  }

  start(order: LoadOrder): void {
    const { services } = this;
    const { hub, client, resource } = order;
    const run = async () => {
      const redact = await hubRedactor(services, hub);
      const job = {
        ...order,
        redact: (text: string) => redact(client.rest.redact(text)),
        hasChanged: () => this.hasChanged(order),
        assertStillDesired: () => assertStillDesired(services, resource),
      };
      return new HubLoader(services, this.records, job, this.closing.signal).load();
    };
    const operation = new Operation<LoadResult>(services.clock).start(run, () => {
      services.requeue(resource.kind, resource.metadata.namespace, resource.metadata.name);
      if (operation.error instanceof Stopping) this.loads.delete(hub); // an aborted load says nothing about the content
    });
    this.loads.set(hub, { key: loadKey(order, order.observed.start), operation });
  }

  /**
   * Reports whether the next reconcile will have other content, since the resource or a secret has changed.
   */
  private async hasChanged({ resource, content }: DesiredContent): Promise<boolean> {
    const { namespace, name, generation } = resource.metadata;
    const latest = this.services.cache.get<HubConfiguration>(resource.kind, namespace, name);
    if (latest !== undefined && latest.metadata.generation !== generation) return true;
    const secrets = await readGeneratedSecrets(this.services, namespace, resource.spec.hubRef.name);
    return secrets?.hash !== content.marker.secrets;
  }
}

const loadKey = ({ content: { marker }, policy }: DesiredContent, { id, version }: HubStart): string =>
  JSON.stringify([marker, policy, id, version]);
