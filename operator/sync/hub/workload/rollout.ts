import { createHash } from 'node:crypto';
import type { Hub } from '../../../kinds/index';
import { operatorAnnotations } from '../../../kinds/annotations';
import { objectNames } from '../../../kinds/object-names';
import { ROLLOUT_DEBOUNCE } from '../../../limits';
import type { Manifest } from '../../../runtime/apply';
import { builtin } from '../../../runtime/types';
import type { Services } from '../../services';
import { PerHub } from '../per-hub';
import type { PodHashes } from './pod-template';
import type { StatefulSet } from './statefulset';

interface PendingTemplate {
  readonly digest: string;
  readonly since: number;
}

/**
 * Decides when a change restarts the hub. The hashes of configuration and secrets travel from the generated objects to
 * annotations of the pod template, and a template that differs must have stood for a moment, so that a burst of
 * changes to the Hub, its configuration and its secrets is one rollout.
 */
export class Rollouts {
  private readonly pending: PerHub<PendingTemplate>;

  constructor(private readonly services: Services) {
    this.pending = new PerHub(services.cache);
  }

  /** The hashes that the pod template shall carry; undefined while there is no configuration to start a pod with. */
  async hashes(hub: Hub, present: StatefulSet | undefined): Promise<PodHashes | undefined> {
    const { applier, secrets } = this.services;
    const { namespace, name } = hub.metadata;
    const names = objectNames(name);
    const [configMap, secret] = await Promise.all([
      applier.find(builtin.ConfigMap, namespace, names.configuration),
      secrets.exists(namespace, names.secrets)
        ? applier.find(builtin.Secret, namespace, names.secrets)
        : undefined,
    ]);
    const config = configMap?.metadata.annotations?.[operatorAnnotations.restartHash];
    if (config !== undefined)
      return { config, secrets: secret?.metadata.annotations?.[operatorAnnotations.secretsHash] };
    // A HubConfiguration that was deleted while the hub runs: the workload keeps its last content.
    return present && hashesOf(present);
  }

  /** Milliseconds until `wanted` may take the place of `present`; 0 when it may now, or is what is there. */
  debounceRemaining(hub: Hub, present: StatefulSet | undefined, wanted: Manifest): number {
    const { applier, clock } = this.services;
    // The first hashes belong into the creation of the StatefulSet, or a second rollout would follow at once.
    if (!present || applier.matchesLastApplied(present, wanted, { owner: hub })) {
      this.pending.delete(hub);
      return 0;
    }
    const digest = createHash('sha256').update(JSON.stringify(wanted)).digest('hex');
    const before = this.pending.get(hub);
    const since = before?.digest === digest ? before.since : clock.now();
    this.pending.set(hub, { digest, since });
    return Math.max(0, since + ROLLOUT_DEBOUNCE - clock.now());
  }
}

/** What the pod template carries now. */
export function hashesOf({ spec }: StatefulSet): PodHashes | undefined {
  const annotations = spec.template.metadata?.annotations;
  const config = annotations?.[operatorAnnotations.configHash];
  return config === undefined
    ? undefined
    : { config, secrets: annotations?.[operatorAnnotations.secretsHash] };
}
