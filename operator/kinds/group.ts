/**
 * The API group of all kinds, defined only here. To rename it, change it and run `make synth`: the CRDs, the
 * role, the samples and every annotation follow. In a cluster that had the former name, delete the
 * ValidatingWebhookConfiguration before the new one is applied: the operator owns its field `caBundle`, which
 * would keep the former webhook in it.
 */
export const API_GROUP = 'hub-operator.dev';

export const API_VERSION = 'v1';

/** The `apiVersion` of all kinds. */
export const GROUP_VERSION = `${API_GROUP}/${API_VERSION}`;

/** Category of all kinds: `kubectl get home` lists their resources. */
export const CATEGORY = 'home';
