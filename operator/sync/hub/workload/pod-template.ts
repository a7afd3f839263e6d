import type { Hub, HubSpec } from '../../../kinds/index';
import { operatorAnnotations } from '../../../kinds/annotations';
import { objectNames } from '../../../kinds/object-names';
import { deliveryVolume } from '../../hub-pod/delivery';
import { claimName, CONFIG_VOLUME, HUB_CONTAINER, HUB_PORT } from '../../hub-pod/owned-objects';
import type { PodHashes } from '../../hub-pod/rollout-hashes';
import {
  PREPARE_CONFIG,
  PROBE,
  pythonCommand,
  scriptSecurityContext,
  UNBAN_OPERATOR_IP,
} from '../../hub-pod/scripts';
import { PREPARE_CONTAINER, UNBAN_CONTAINER } from '../../hub-pod/termination-messages';

/** Paths in the pod, which are passed to the scripts as arguments. */
const CONFIG = '/config';
const CONFIGURATION = '/hub-operator/configuration';
const SECRETS = '/hub-operator/secrets';
const DELIVERY = '/hub-operator/delivery';
const PARTS = '/hub-operator/configuration-parts';
const INIT_VALUES = '/hub-operator/operator-ip';
const TERMINATION_LOG = '/dev/termination-log';

/** Keys of the ConfigMap `<hub>-operator-ip`, which become names of files in INIT_VALUES. */
export const OPERATOR_IP_KEY = 'ip';
export const ALLOW_DOWNGRADE_KEY = 'allow-downgrade';

const configMount = { name: CONFIG_VOLUME, mountPath: CONFIG };
const initValuesMount = { name: 'operator-ip', mountPath: INIT_VALUES, readOnly: true };
const contentMounts = [
  { name: 'configuration', mountPath: CONFIGURATION, readOnly: true },
  { name: 'secrets', mountPath: SECRETS, readOnly: true },
  { name: 'delivery', mountPath: DELIVERY, readOnly: true },
  { name: 'configuration-parts', mountPath: PARTS, readOnly: true },
];

/**
 * Termination grace period of the pod. The hub's own timeouts for a stop add up to 210 s, and a hub that is
 * killed sooner can lose its database.
 */
export const GRACE_SECONDS = 240;

/**
 * A probe that runs a command in the container. An `httpGet` probe would come from the address of the node,
 * which the hub may have banned because of clients that connect through the node (rules.md, "Ban recovery").
 */
const probe = (...mode: readonly string[]) => ({
  exec: { command: ['python3', '-I', '-S', '-c', PROBE, String(HUB_PORT), ...mode] },
});

/** The pod template of the hub before `spec.podTemplate` is merged into it (rules.md, "Pod template"). */
export function podTemplate(
  hub: Hub,
  spec: HubSpec,
  labels: Readonly<Record<string, string>>,
  hashes: PodHashes,
) {
  const common = commonFields(spec);
  return {
    metadata: {
      labels,
      annotations: {
        [operatorAnnotations.configHash]: hashes.config,
        ...(hashes.secrets && { [operatorAnnotations.secretsHash]: hashes.secrets }),
        ...(hashes.community && { [operatorAnnotations.communityHash]: hashes.community }),
      },
    },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: GRACE_SECONDS,
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      ...(spec.imagePullSecrets && { imagePullSecrets: spec.imagePullSecrets }),
      ...(spec.hostNetwork && { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }),
      initContainers: [prepareContainer(common), unbanContainer(common)],
      containers: [hubContainer(spec, common)],
      volumes: volumes(hub),
    },
  };
}

/** Fields of every container. */
type CommonFields = ReturnType<typeof commonFields>;

function commonFields(spec: HubSpec) {
  return {
    image: imageOf(spec),
    // The init containers get the resources too: a quota on limits rejects a pod in which a container has
    // none.
    ...(spec.resources && { resources: spec.resources }),
    ...(spec.imagePullPolicy && { imagePullPolicy: spec.imagePullPolicy }),
    // With this policy the last lines of a crashed container's log appear in the status of the pod, and from
    // there in the status of the Hub.
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

/** The init container that puts the generated files onto the volume and refuses a downgrade. */
function prepareContainer(common: CommonFields) {
  return {
    name: PREPARE_CONTAINER,
    ...common,
    command: pythonCommand(
      PREPARE_CONFIG,
      CONFIG,
      CONFIGURATION,
      SECRETS,
      TERMINATION_LOG,
      `${INIT_VALUES}/${ALLOW_DOWNGRADE_KEY}`,
      String(HUB_PORT),
      DELIVERY,
      PARTS,
    ),
    securityContext: scriptSecurityContext,
    volumeMounts: [configMount, ...contentMounts, initValuesMount],
  };
}

/** The init container that removes the ban on the operator's address before the hub reads its bans. */
function unbanContainer(common: CommonFields) {
  return {
    name: UNBAN_CONTAINER,
    ...common,
    command: pythonCommand(
      UNBAN_OPERATOR_IP,
      `${CONFIG}/ip_bans.yaml`,
      `${INIT_VALUES}/${OPERATOR_IP_KEY}`,
      TERMINATION_LOG,
    ),
    securityContext: scriptSecurityContext,
    volumeMounts: [configMount, initValuesMount],
  };
}

function hubContainer({ timezone }: HubSpec, common: CommonFields) {
  return {
    name: HUB_CONTAINER,
    ...common,
    env: [{ name: 'TZ', value: timezone }],
    ports: [{ name: 'http', containerPort: HUB_PORT, protocol: 'TCP' }],
    // A hub responds while it migrates its database, since it starts its frontend first. The installation of
    // packages before that may take long.
    startupProbe: { ...probe(), periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 1800 },
    readinessProbe: { ...probe(), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
    // The startup probe covers only the first start in the container. A hub that restores a backup restarts
    // inside the container.
    livenessProbe: { ...probe('live', CONFIG), periodSeconds: 30, timeoutSeconds: 10, failureThreshold: 6 },
    volumeMounts: [configMount, ...contentMounts],
  };
}

function volumes(hub: Hub) {
  const names = objectNames(hub.metadata.name);
  return [
    { name: CONFIG_VOLUME, persistentVolumeClaim: { claimName: claimName(hub) } },
    // Both ConfigMaps are optional. If the HubConfiguration is deleted, its generated ConfigMap is gone, and
    // the pod starts with the content that the hub accepted last.
    {
      name: 'configuration',
      projected: {
        sources: [
          { configMap: { name: names.acceptedConfiguration, optional: true } },
          { configMap: { name: names.configuration, optional: true } },
        ],
      },
    },
    deliveryVolume(hub.metadata.name),
    // The parts have a folder of their own, so that they hide no file of the configuration: they may belong
    // to another content, or a ConfigMap of this name may belong to a user.
    {
      name: 'configuration-parts',
      projected: {
        sources: names.configurationParts().map((name) => ({ configMap: { name, optional: true } })),
      },
    },
    { name: 'secrets', secret: { secretName: names.secrets, optional: true } },
    { name: 'operator-ip', configMap: { name: names.operatorIp, optional: true } },
  ];
}

/** The image of `spec.image` and `spec.version`, as `repository:tag` or `repository@sha256:…`. */
export function imageOf({ image, version }: Pick<HubSpec, 'image' | 'version'>): string {
  return version.startsWith('sha256:') ? `${image}@${version}` : `${image}:${version}`;
}
