import { API_GROUP } from './group';
import type { Kinds } from './reasons';

/** All annotations, labels and finalizers of the operator. Their names begin with the API group. */

/** Annotations that users set on a resource. */
export const userAnnotations = {
  reconcileAt: `${API_GROUP}/reconcile-requested-at`,
  dryRun: `${API_GROUP}/dry-run`,
  allowDowngrade: `${API_GROUP}/allow-downgrade`,
  removeLeftBehind: `${API_GROUP}/remove-left-behind`,
} as const;

/** Values and meanings of the annotations, for the reference page. */
export const userAnnotationMeanings = {
  reconcileAt: {
    value: '<anything new>',
    kinds: 'all',
    meaning:
      'Forces a full reconciliation, without remembered answers. The value is echoed in `status.lastHandledReconcileAt`.',
  },
  dryRun: {
    value: '"true"',
    kinds: 'all',
    meaning: 'Nothing is written. The message of `Ready` says what would be written.',
  },
  allowDowngrade: {
    value: '<spec.version>',
    kinds: ['Hub'],
    meaning:
      'Allows this `spec.version`, which is lower than the one that ran on the volume. Restore a backup of that version first. `"true"` allows ' +
      'any version. The message of `Ready` says when the annotation is not needed any more.',
  },
  removeLeftBehind: {
    value: '"automation.porch,script.night"',
    kinds: ['Hub'],
    meaning:
      'Removes these objects from the hub: the operator created them, and no resource describes them any more. The message of `Ready` ' +
      'lists such objects; all others are left alone.',
  },
} as const satisfies Record<keyof typeof userAnnotations, { value: string; kinds: Kinds; meaning: string }>;

/** Annotations that the operator sets on objects that it creates. */
export const operatorAnnotations = {
  /** On the pod template: `sha256:<hex>` of the configuration. A new value causes a rolling restart. */
  configHash: `${API_GROUP}/config-hash`,
  /**
   * On the generated Secret: `sha256:<hex>` of its content. On the pod template: the hash of the secrets for
   * which the last restart was decided; a new value causes a rolling restart.
   */
  secretsHash: `${API_GROUP}/secrets-hash`,
  /**
   * On the generated ConfigMap: hash of the content that takes effect only after a restart. The Hub copies it
   * to `config-hash`.
   */
  restartHash: `${API_GROUP}/restart-hash`,
  /**
   * On the generated ConfigMap: hash of the secrets that take effect only after a restart. The Hub copies it
   * to `secrets-hash`.
   */
  restartSecretsHash: `${API_GROUP}/restart-secrets-hash`,
  /** On the generated ConfigMaps: `sha256:<hex>` of the configuration in them. */
  contentHash: `${API_GROUP}/content-hash`,
  /**
   * On the ConfigMap of the accepted configuration: the ids of the automations, scenes and scripts that the
   * configuration itself defines, as JSON, by kind.
   */
  definitions: `${API_GROUP}/definitions`,
  /**
   * On the ConfigMap of the accepted configuration: start time of the hub in which the hub was seen to read
   * this configuration.
   */
  seenInStart: `${API_GROUP}/seen-in-start`,
  /**
   * On the ConfigMap of the accepted configuration: the items that the hub ignores, according to its check
   * and its log.
   */
  checkWarnings: `${API_GROUP}/check-warnings`,
  /** On the hub's pod: a new value makes the kubelet refresh mounted volumes within about a second. */
  refresh: `${API_GROUP}/refresh`,
  /**
   * On the pod template: `sha256:<hex>` of the installed community integrations. A new value causes a rolling
   * restart.
   */
  communityHash: `${API_GROUP}/community-hash`,
  /** On the pod that installs a community repository: the files to install, as JSON. */
  installation: `${API_GROUP}/installation`,
  /**
   * On the ConfigMaps with delivered definitions: uid of the hub's volume claim for which they were written.
   */
  volume: `${API_GROUP}/volume`,
  /** On the volume claim: the highest hub version that ran on it. */
  ranVersion: `${API_GROUP}/ran-version`,
} as const;

/**
 * Label of Secrets with the name of the Hub that may read them. The setting `REQUIRE_SECRET_LABEL` makes it
 * mandatory.
 */
export const HUB_LABEL = `${API_GROUP}/hub`;

/** The finalizer of a kind, such as `hub-operator.dev/hubautomation`. */
export function finalizerOf(kind: string): string {
  return `${API_GROUP}/${kind.toLowerCase()}`;
}
