import type { HubConfiguration } from '../operator/kinds';
import { GROUP_VERSION } from '../operator/kinds/group';
import { objectNames } from '../operator/kinds/object-names';
import type { ApiClient } from '../operator/runtime/api-client';
import { type ClusterObject, pathOf, type ResourceType } from '../operator/runtime/objects';
import { builtin } from '../operator/runtime/types';
import { NAMESPACE } from './automation-load';
import { typeOf } from './resource-type';

const configurations = typeOf('HubConfiguration');

interface ConfigMap extends ClusterObject {
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * Hubs with a HubConfiguration each. Their pods never run, since the cluster has no node, so the operator
 * writes only the objects of the hub.
 */
export class ConfigurationLoad {
  private constructor(
    private readonly cluster: ApiClient,
    private readonly names: readonly string[],
  ) {}

  static async start(cluster: ApiClient, count: number): Promise<ConfigurationLoad> {
    const names = Array.from({ length: count }, (_, index) => `configured-${index}`);
    const create = (type: ResourceType, name: string, spec: object) =>
      cluster.request({
        method: 'POST',
        path: pathOf(type, NAMESPACE),
        body: {
          apiVersion: GROUP_VERSION,
          kind: type.kind,
          metadata: { name, namespace: NAMESPACE },
          spec,
        },
      });
    for (const name of names) {
      await create(typeOf('Hub'), name, {});
      await create(configurations, name, { hubRef: { name }, configuration: edited(0) });
    }
    return new ConfigurationLoad(cluster, names);
  }

  async change(edit: number): Promise<void> {
    await this.cluster.request({
      method: 'PATCH',
      path: pathOf(configurations, NAMESPACE, this.names[edit % this.names.length]),
      contentType: 'application/merge-patch+json',
      body: { spec: { configuration: edited(edit) } },
    });
  }

  /** Counts the ConfigMaps that do not have the configuration of the current spec. */
  async missed(): Promise<number> {
    const haveMissed = await Promise.all(
      this.names.map(async (name) => {
        const [{ spec }, map] = await Promise.all([
          this.read<HubConfiguration>(configurations, name),
          this.read<ConfigMap>(builtin.ConfigMap, objectNames(name).configuration),
        ]);
        return !Object.values(map.data ?? {}).some((file) => file.includes(spec.configuration!.trim()));
      }),
    );
    return haveMissed.filter(Boolean).length;
  }

  private read<T extends ClusterObject>(type: ResourceType, name: string): Promise<T> {
    return this.cluster.request<T>({ method: 'GET', path: pathOf(type, NAMESPACE, name) });
  }
}

const edited = (edit: number): string => `input_boolean:\n  edit_${edit}:\n    name: Edit ${edit}\n`;
