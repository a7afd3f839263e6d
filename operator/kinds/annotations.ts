import { API_GROUP } from './group';

/** Every annotation, label and finalizer of ours; the group makes them ours. */

/** People set these on a resource. */
export const userAnnotations = {
  /** Any new value forces a full pass; it is echoed in `status.lastHandledReconcileAt`. */
  reconcileAt: `${API_GROUP}/reconcile-requested-at`,
  /** `"true"`: say in the condition what would be sent, and send nothing. */
  dryRun: `${API_GROUP}/dry-run`,
  /** `"true"` on a Hub: let `spec.version` be lower than what already ran on the volume. */
  allowDowngrade: `${API_GROUP}/allow-downgrade`,
} as const;

/** The operator sets these on objects that it makes. */
export const operatorAnnotations = {
  /** On the pod template: `sha256:<hex>` of the configuration; a new value is a rolling restart. */
  configHash: `${API_GROUP}/config-hash`,
  /** On the pod template: `sha256:<hex>` of the secrets; a new value is a rolling restart. */
  secretsHash: `${API_GROUP}/secrets-hash`,
  /** On the generated ConfigMap: the content that needs a restart. The Hub copies it to `config-hash`. */
  restartHash: `${API_GROUP}/restart-hash`,
  /** On the hub's pod: a new value makes the kubelet refresh mounted volumes within about a second. */
  refresh: `${API_GROUP}/refresh`,
  /** On the volume claim: the highest hub version that ran on it. */
  ranVersion: `${API_GROUP}/ran-version`,
} as const;

/** Label of the Secrets of an external hub: the name of the Hub that may read them. */
export const HUB_LABEL = `${API_GROUP}/hub`;

/** `hub-operator.dev/hubautomation` */
export function finalizerOf(kind: string): string {
  return `${API_GROUP}/${kind.toLowerCase()}`;
}
