/** Labels of the operator's own pods, by which a NetworkPolicy selects them. */
export const OPERATOR_LABELS = { 'app.kubernetes.io/name': 'hub-operator' } as const;

/** Labels that tell the Secret with the API token, whose name the user chooses, from the operator's other Secrets. */
export const API_TOKEN_LABELS = { 'app.kubernetes.io/component': 'api-token' } as const;

/** The names of what belongs to the webhook of the operator, as `dist/` installs it. */
export const WEBHOOK = {
  /** In the namespace of the operator. */
  service: 'hub-operator-webhook',
  /** Secret with the certificate, in the namespace of the operator. */
  secret: 'hub-operator-webhook-tls',
  /** ValidatingWebhookConfiguration. */
  configuration: 'hub-operator',
  port: 9443,
  path: '/validate',
} as const;

/**
 * ConfigMaps that a hub's pod mounts with `delivery: File`. All of them are in every pod template, so that neither a first nor a
 * further one restarts the hub. A kubelet watches each of them for each pod: so no more than a house can need.
 */
export const MOST_DELIVERIES = 8;

/**
 * ConfigMaps with the files of a configuration that is too large for one. All of them are in every pod template, as with the
 * deliveries.
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

/** The names of the objects in the cluster that belong to one hub, all in the namespace of the Hub. */
export function objectNames(hub: string) {
  return {
    /** StatefulSet, Service, Ingress, Certificate, HTTPRoute, NetworkPolicy. */
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
    /** ConfigMap with the record of the hub's configuration: the last one that it has loaded; it belongs to the Hub. */
    acceptedConfiguration: `${hub}-configuration-accepted`,
    /** ConfigMap with the configuration before one of which sections wait for a restart; it belongs to the Hub. */
    lastGoodConfiguration: `${hub}-configuration-last-good`,
    /** Secret that HubSecrets generates; key `secrets.yaml`. */
    secrets: `${hub}-secrets`,
    /** ConfigMap with automations, scenes and scripts that are delivered as files; a hub has several. It belongs to the Hub. */
    delivery: (index: number) => `${hub}-delivery-${index}`,
    /** ConfigMap with what such a one had for another volume of the hub. No pod mounts it. */
    keptDelivery: (index: number, hash: string) => `${hub}-delivery-${index}-${hash}`,
    /** Secret with the operator's own random keys for this hub. */
    operator: `${hub}-operator`,
    /**
     * Pod that puts the files of a community repository onto the volume; the Secrets that it gets them from have a number
     * at their end.
     */
    installer: (id: string) => `${hub}-community-${id}`,
  } as const;
}

/** Whether the operator writes a ConfigMap of this name for the hub. */
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
