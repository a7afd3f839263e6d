/** Labels of the operator's own pods, for selectors of a NetworkPolicy. */
export const OPERATOR_LABELS = { 'app.kubernetes.io/name': 'hub-operator' } as const;

/**
 * Labels of the Secret with the API token, whose name the user chooses. Other Secrets of the operator do not
 * have them.
 */
export const API_TOKEN_LABELS = { 'app.kubernetes.io/component': 'api-token' } as const;

/** Names of the objects of the operator's webhook, as `dist/` installs them. */
export const WEBHOOK = {
  /** Name of the Service, in the namespace of the operator. */
  service: 'hub-operator-webhook',
  /** Name of the Secret with the certificate, in the namespace of the operator. */
  secret: 'hub-operator-webhook-tls',
  /** Name of the ValidatingWebhookConfiguration. */
  configuration: 'hub-operator',
  port: 9443,
  path: '/validate',
} as const;

/**
 * Number of ConfigMaps for `delivery: File` that a hub's pod mounts. All of them are in every pod template,
 * so that the first use of one does not restart the hub. A kubelet watches each ConfigMap of each pod, so the
 * number is no larger than a house can need.
 */
export const MOST_DELIVERIES = 8;

/**
 * Number of ConfigMaps for the files of a configuration that is too large for one. All of them are in every
 * pod template, so that the first use of one does not restart the hub.
 */
export const MOST_PARTS = 8;

/** Labels that only the pod of this hub has. */
export function selectorOf({
  metadata: { name },
}: {
  readonly metadata: { readonly name: string };
}): Record<string, string> {
  return { 'app.kubernetes.io/name': 'home-assistant', 'app.kubernetes.io/instance': name };
}

/** The names of the Kubernetes objects that belong to one hub, all in the namespace of the Hub. */
export function objectNames(hub: string) {
  return {
    /** Name of the StatefulSet, Service, Ingress, Certificate, HTTPRoute and NetworkPolicy. */
    workload: hub,
    /** The hub's pod: the only replica of the StatefulSet. */
    pod: `${hub}-0`,
    /** Secret into which cert-manager puts the certificate. */
    certificate: `${hub}-tls`,
    /** PersistentVolumeClaim with the hub's `/config`. */
    volumeClaim: `${hub}-config`,
    /** ConfigMap with the address of the operator, for `unban-operator-ip`; key `ip`. */
    operatorIp: `${hub}-operator-ip`,
    /** Secret with the API token, unless `bootstrap.apiTokenSecretName` names another; key `token`. */
    apiToken: `${hub}-api-token`,
    /** Secret with the generated credentials of the hub's owner; keys `username`, `password`. */
    admin: `${hub}-admin`,
    /** ConfigMap that HubConfiguration generates. */
    configuration: `${hub}-configuration`,
    /** ConfigMaps with the parts of the files of a large configuration. They belong to the Hub. */
    configurationParts: () =>
      Array.from({ length: MOST_PARTS }, (_, index) => `${hub}-configuration-${index}`),
    /** ConfigMap with the last configuration that the hub has loaded. It belongs to the Hub. */
    acceptedConfiguration: `${hub}-configuration-accepted`,
    /**
     * ConfigMap with the previous configuration, while sections of the new one wait for a restart. It belongs
     * to the Hub.
     */
    lastGoodConfiguration: `${hub}-configuration-last-good`,
    /** Secret that HubSecrets generates; key `secrets.yaml`. */
    secrets: `${hub}-secrets`,
    /** ConfigMap with automations, scenes and scripts that are delivered as files; a hub has several. It belongs to the Hub. */
    delivery: (index: number) => `${hub}-delivery-${index}`,
    /** ConfigMap with a copy of such definitions for another volume of the hub. No pod mounts it. */
    keptDelivery: (index: number, hash: string) => `${hub}-delivery-${index}-${hash}`,
    /** Secret with the operator's own random keys for this hub. */
    operator: `${hub}-operator`,
    /**
     * Pod that writes the files of a community repository to the volume. The names of the Secrets with the
     * files are this name and a number.
     */
    installer: (id: string) => `${hub}-community-${id}`,
  } as const;
}

/** Whether the operator generates a ConfigMap of this name for the hub. */
export function isConfigMapOfHub(hub: string, name: string): boolean {
  const names = objectNames(hub);
  const deliveries = Array.from({ length: MOST_DELIVERIES }, (_, index) => names.delivery(index));
  const written: readonly string[] = [
    names.operatorIp,
    names.configuration,
    names.acceptedConfiguration,
    names.lastGoodConfiguration,
    ...names.configurationParts(),
    ...deliveries,
  ];
  return written.includes(name) || deliveries.some((each) => name.startsWith(`${each}-`));
}
