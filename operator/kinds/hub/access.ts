import type { AccessRule } from '../kind';

const manage = ['get', 'list', 'watch', 'create', 'patch', 'delete'] as const;

/** Permissions to create and maintain a hub. */
export const access = [
  { apiGroup: '', resources: ['persistentvolumeclaims', 'services', 'configmaps', 'secrets'], verbs: manage },
  // Patched to refresh mounted volumes, deleted to lift a ban. No exec.
  { apiGroup: '', resources: ['pods'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  // Warnings of the cluster: a volume that cannot be mounted, a probe that fails.
  { apiGroup: '', resources: ['events'], verbs: ['list'] },
  { apiGroup: 'apps', resources: ['statefulsets'], verbs: manage },
  { apiGroup: 'networking.k8s.io', resources: ['ingresses', 'networkpolicies'], verbs: manage },
  { apiGroup: 'gateway.networking.k8s.io', resources: ['httproutes'], verbs: manage },
  { apiGroup: 'cert-manager.io', resources: ['certificates'], verbs: manage },
] as const satisfies readonly AccessRule[];
