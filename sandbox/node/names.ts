/** Names that others see in the cluster. */
export const NODE_NAME = 'sandbox';
/** On a Service: where on this machine the pod behind it listens, `http://127.0.0.1:<port>`. */
export const URL_ANNOTATION = 'sandbox.hub-operator.dev/url';
export const STORAGE_CLASS = 'sandbox';
export const PROVISIONER = 'hub-operator.dev/sandbox';
/** Component name in events. */
export const COMPONENT = 'sandbox-node';
/**
 * Made-up addresses: nothing listens there. Pods have one because EndpointSlices need one, and it is not a loopback
 * address because their validation refuses those.
 */
export const NODE_ADDRESS = '10.244.0.1';
export const POD_NETWORK = '10.244';
