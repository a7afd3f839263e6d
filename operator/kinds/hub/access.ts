import type { AccessRule } from '../kind';

/**
 * `delete` is also needed where the operator deletes nothing: with the admission plugin OwnerReferencesPermissionEnforcement
 * (OpenShift has it) only those may set the owner of an object who may delete the object.
 */
const manage = ['get', 'list', 'watch', 'create', 'patch', 'delete'] as const;

/** Permissions to create and maintain a hub. */
export const access = [
  { apiGroup: '', resources: ['persistentvolumeclaims', 'services', 'configmaps', 'secrets'], verbs: manage },
  // Deleted to lift a ban. No exec.
  { apiGroup: '', resources: ['pods'], verbs: ['get', 'list', 'watch', 'delete'] },
  // Warnings of the cluster: a volume that cannot be mounted, a probe that fails.
  { apiGroup: '', resources: ['events'], verbs: ['list'] },
  { apiGroup: 'apps', resources: ['statefulsets'], verbs: manage },
  { apiGroup: 'networking.k8s.io', resources: ['ingresses', 'networkpolicies'], verbs: manage },
  { apiGroup: 'gateway.networking.k8s.io', resources: ['httproutes'], verbs: manage },
  { apiGroup: 'cert-manager.io', resources: ['certificates'], verbs: manage },
] as const satisfies readonly AccessRule[];
