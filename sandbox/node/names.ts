/** Names that are visible in the cluster. */
export const NODE_NAME = 'sandbox';
/** Annotation of a Service: the URL of its pod on this machine, `http://127.0.0.1:<port>`. */
export const URL_ANNOTATION = 'sandbox.hub-operator.dev/url';
export const STORAGE_CLASS = 'sandbox';
export const PROVISIONER = 'hub-operator.dev/sandbox';
/** Component name in events. */
export const COMPONENT = 'sandbox-node';
/**
 * Invented addresses: nothing listens there. EndpointSlices need an address of each pod, and their validation rejects
 * loopback addresses.
 */
export const NODE_ADDRESS = '10.244.0.1';
export const POD_NETWORK = '10.244';
