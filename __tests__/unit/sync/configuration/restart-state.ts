import type { HubConfiguration } from '../../../../operator/kinds';

const GROUP = 'hub-operator.dev';

/** Annotation of the ConfigMap with the decided restart. */
export const RESTART_HASH = `${GROUP}/restart-hash`;

export const villaConfiguration = {
  kind: 'HubConfiguration',
  metadata: { namespace: 'home', name: 'villa' },
  spec: { hubRef: { name: 'villa' } },
} as unknown as HubConfiguration;

/** A StatefulSet whose pod template has this hash. */
export const workload = (hash: string) => ({
  spec: { template: { metadata: { annotations: { [`${GROUP}/config-hash`]: hash } } } },
});

/** A cache with the decided restart and the pod template. */
export const restartCache = (decided: string, template: string) => ({
  get: (kind: string) =>
    (kind === 'ConfigMap'
      ? { metadata: { annotations: { [RESTART_HASH]: decided } } }
      : workload(template)) as never,
});
