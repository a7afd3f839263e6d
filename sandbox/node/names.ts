/** Name of the Node object. */
export const NODE_NAME = 'sandbox';
/** Annotation of a Service with the URL of its pod on this machine: `http://127.0.0.1:<port>`. */
export const URL_ANNOTATION = 'sandbox.hub-operator.dev/url';
export const STORAGE_CLASS = 'sandbox';
export const PROVISIONER = 'hub-operator.dev/sandbox';
/** The component that events name as their source. */
export const COMPONENT = 'sandbox-node';
/**
 * Made-up addresses on which nothing listens. EndpointSlices need an address of each pod, and their
 * validation rejects loopback addresses.
 */
export const NODE_ADDRESS = '10.244.0.1';
export const POD_NETWORK = '10.244';
