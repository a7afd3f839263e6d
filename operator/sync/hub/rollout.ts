import type { Hub } from '../../kinds';
import { marks } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import { ROLLOUT_DEBOUNCE } from '../../limits';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';
import type { PodHashes } from './pod-template';
import type { StatefulSet } from './workload';

/** What the pod template shall carry now, or that there is nothing to start a pod with yet. */
export type Rollout =
  | { readonly type: 'waiting-for-configuration' }
  /** `after`: milliseconds until a newer wish has stood long enough. */
  | { readonly type: 'hashes'; readonly hashes: PodHashes; readonly after?: number };

interface Wish {
  readonly hashes: PodHashes;
  readonly since: number;
}

/**
 * Decides when a new configuration or new secrets restart the hub: their hashes travel from the generated objects to
 * annotations of the pod template, both together and only when they have stood for a moment, so that a burst of
 * changes is one rollout.
 */
export class Rollouts {
  private readonly wishes = new Map<string, Wish>();

  constructor(private readonly services: Services) {}

  async next(hub: Hub): Promise<Rollout> {
    const [present, wanted] = await Promise.all([this.present(hub), this.wanted(hub)]);
    // A HubConfiguration that was deleted while the hub runs: the workload keeps its last content.
    if (!wanted) return present ? { type: 'hashes', hashes: present } : { type: 'waiting-for-configuration' };
    const { clock } = this.services;
    const uid = hub.metadata.uid;
    const before = this.wishes.get(uid);
    const wish = before && same(before.hashes, wanted) ? before : { hashes: wanted, since: clock.now() };
    this.wishes.set(uid, wish);
    // The first hashes belong into the creation of the StatefulSet, or a second rollout would follow at once.
    if (!present || same(present, wanted)) return { type: 'hashes', hashes: wanted };
    const after = wish.since + ROLLOUT_DEBOUNCE - clock.now();
    return after > 0 ? { type: 'hashes', hashes: present, after } : { type: 'hashes', hashes: wanted };
  }

  private async wanted(hub: Hub): Promise<PodHashes | undefined> {
    const { applier } = this.services;
    const { namespace, name } = hub.metadata;
    const { configuration, secrets } = objectNames(name);
    const [configMap, secret] = await Promise.all([
      applier.find(builtin.ConfigMap, namespace, configuration),
      this.services.secrets.exists(namespace, secrets) ? applier.find(builtin.Secret, namespace, secrets) : undefined,
    ]);
    const config = configMap?.metadata.annotations?.[marks.restartHash];
    return config === undefined ? undefined : { config, secrets: secret?.metadata.annotations?.[marks.secretsHash] };
  }

  private async present(hub: Hub): Promise<PodHashes | undefined> {
    const { namespace, name } = hub.metadata;
    const set = await this.services.applier.find<StatefulSet>(builtin.StatefulSet, namespace, objectNames(name).workload);
    const annotations = set?.spec.template.metadata?.annotations;
    const config = annotations?.[marks.configHash];
    return config === undefined ? undefined : { config, secrets: annotations?.[marks.secretsHash] };
  }
}

const same = (a: PodHashes, b: PodHashes): boolean => a.config === b.config && a.secrets === b.secrets;
