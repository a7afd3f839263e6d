import { API_GROUP } from '../../../operator/kinds/group';
import type { ApplyOptions, Manifest } from '../../../operator/runtime/apply';
import { normalize } from '../../../operator/runtime/normalize';
import type { ClusterObject } from '../../../operator/runtime/objects';
import { builtin } from '../../../operator/runtime/types';
import type { Services } from '../../../operator/sync/services';
import type { ManualClock } from '../manual-clock';
import type { Living, Operators } from './operators';

/** Limit of the API server for the bytes of data. */
const LARGEST = 1_048_576;

export interface ConfigMap extends ClusterObject {
  readonly data: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>> | undefined;
}

type Applier = Pick<Services['applier'], 'isOurs' | 'find' | 'apply' | 'remove'>;

/** The ConfigMaps in the cluster, by name. */
export class ConfigMaps extends Map<string, ConfigMap> {
  /** Names of the ConfigMaps that the garbage collector deletes with the Hub. */
  readonly owned = new Set<string>();
  /** Whether the cache has the ConfigMaps. If false, a list of them is still in flight. */
  isCached = true;
  applyError: Error | undefined;
  /** Milliseconds that a write takes. */
  applyTime = 0;
  isApplying = false;
  /** Milliseconds that a deletion takes. */
  removeTime = 0;
  private version = 0;

  constructor(
    private readonly clock: ManualClock,
    private readonly operators: Operators,
  ) {
    super();
  }

  /** Returns a ConfigMap as the operator caches it: without its content. */
  cached(name: string): ConfigMap | undefined {
    const present = this.isCached ? this.get(name) : undefined;
    const options = {
      type: builtin.ConfigMap,
      metadataOnly: true,
      annotationPrefix: `${API_GROUP}/`,
      freeze: true,
    };
    return present && normalize<ConfigMap>(present, options);
  }

  annotations(name: string): Readonly<Record<string, string>> {
    return this.get(name)?.metadata.annotations ?? {};
  }

  /** Returns the applier of a process of the operator. */
  applier(living: Living): Applier {
    return {
      isOurs: () => true,
      find: (async (_type: unknown, _namespace: string, name: string) => this.get(name)) as never,
      apply: living((_type: unknown, manifest: Manifest, options: ApplyOptions) =>
        this.apply(manifest as unknown as ConfigMap, options),
      ) as never,
      remove: living(async (_type, _owner, name: string) => {
        if (this.removeTime > 0) await this.clock.sleep(this.removeTime);
        this.operators.step(`delete ${name}`);
        this.delete(name);
      }),
    };
  }

  /** Stores a ConfigMap with a new version. */
  store(configMap: ConfigMap): ConfigMap {
    const { name } = configMap.metadata;
    const metadata = { ...configMap.metadata, resourceVersion: String(++this.version) };
    const stored = { ...configMap, metadata };
    this.set(name, stored);
    return stored;
  }

  private async apply(configMap: ConfigMap, { ownerReference }: ApplyOptions): Promise<ConfigMap> {
    const { applyError } = this;
    this.isApplying = true;
    if (this.applyTime > 0) await this.clock.sleep(this.applyTime);
    this.isApplying = false;
    if (applyError) throw applyError;
    const size = Object.values(configMap.data).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    if (size > LARGEST) throw new Error(`${size} bytes are too many for a ConfigMap`);
    const { name } = configMap.metadata;
    const present = this.get(name);
    if (ownerReference === 'never') this.owned.delete(name);
    else if (!present || ownerReference !== 'at creation') this.owned.add(name);
    if (present && contentOf(present) === contentOf(configMap)) return present;
    this.operators.step(`write ${name}`);
    return this.store(configMap);
  }
}

const contentOf = ({ metadata: { annotations = {}, labels = {} }, data, binaryData }: ConfigMap): string =>
  JSON.stringify([annotations, labels, data, binaryData]);
