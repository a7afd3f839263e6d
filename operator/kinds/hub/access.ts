import type { AccessRule } from '../kind';

/**
 * `delete` is also needed for types that the operator never deletes. With the admission plugin
 * OwnerReferencesPermissionEnforcement, which OpenShift enables, only a client that may delete an object may
 * set its owner.
 */
const manage = ['get', 'list', 'watch', 'create', 'patch', 'delete'] as const;

/** Permissions to create and maintain a hub. */
export const access = [
  { apiGroup: '', resources: ['persistentvolumeclaims', 'services', 'configmaps', 'secrets'], verbs: manage },
  // A pod is deleted to lift a ban. Permission for exec is not needed.
  { apiGroup: '', resources: ['pods'], verbs: ['get', 'list', 'watch', 'delete'] },
  // Warning events of the cluster, such as a volume that cannot be mounted or a failing probe.
  { apiGroup: '', resources: ['events'], verbs: ['list'] },
  { apiGroup: 'apps', resources: ['statefulsets'], verbs: manage },
  { apiGroup: 'networking.k8s.io', resources: ['ingresses', 'networkpolicies'], verbs: manage },
  { apiGroup: 'gateway.networking.k8s.io', resources: ['httproutes'], verbs: manage },
  { apiGroup: 'cert-manager.io', resources: ['certificates'], verbs: manage },
] as const satisfies readonly AccessRule[];
