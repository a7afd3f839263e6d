/**
 * The API group of all our kinds, and its only occurrence: change it, run `make synth`, and the CRDs, the role, the
 * samples and every annotation have the new name. In a cluster with the former name, delete the
 * ValidatingWebhookConfiguration before the new one is applied: the operator's `caBundle` would keep the former webhook in it.
 */
export const API_GROUP = 'hub-operator.dev';

export const API_VERSION = 'v1';

/** The `apiVersion` of all our resources. */
export const GROUP_VERSION = `${API_GROUP}/${API_VERSION}`;

/** `kubectl get home` lists the resources of all kinds. */
export const CATEGORY = 'home';
