import { hub } from '../../operator/kinds';
import { operatorAnnotations } from '../../operator/kinds/annotations';
import {
  CAPABILITIES,
  CONTAINER_FIELDS,
  INSTALLER_CONTAINER_FIELDS,
  INSTALLER_FIELDS,
  POD_FIELDS,
  PROFILES,
  PROJECTED_SOURCES,
  SECURITY_CONTEXT_FIELDS,
  SELINUX_TYPES,
  STATEFUL_SET_FIELDS,
  SYSCTLS,
  VOLUME_SOURCES,
} from './pod-fields';
import { listOf, type Validation } from './validation';

const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

/** CEL for lists that describe the parts of a pod for which a condition does not hold. */
const inPod = (what: string, holds: string): string => `((${holds}) ? [] : ['${what}'])`;
const inContainers = (what: string, holds: string): string =>
  `variables.containers.filter(container, !(${holds})).map(container, '${what} of the container ' + container.name)`;
const inVolumes = (what: string, holds: string): string =>
  `variables.volumes.filter(volume, !(${holds})).map(volume, '${what} of the volume ' + volume.name)`;
const ofContexts = (what: string, holds: string): string =>
  inPod(what, `variables.contexts.all(context, ${holds})`);

const beyondBaseline = [
  `variables.podSpec.filter(field, !(field in ${listOf(POD_FIELDS)}))`,
  inContainers('a field', `container.all(field, field in ${listOf(CONTAINER_FIELDS)})`),
  inContainers(
    'hostPort',
    `container.?ports.orValue([]).all(port, port.?hostPort.orValue(0) == 0
  || (variables.podSpec.?hostNetwork.orValue(false) && port.hostPort == port.containerPort))`,
  ),
  inContainers(
    'host of a probe or hook',
    `['httpGet', 'tcpSocket'].all(handler,
  ['livenessProbe', 'readinessProbe', 'startupProbe'].all(probe, container[?probe][?handler].?host.orValue('') == '')
  && ['postStart', 'preStop'].all(hook, container.?lifecycle[?hook][?handler].?host.orValue('') == ''))`,
  ),
  ofContexts(
    'windowsOptions or another field of securityContext',
    `context.all(field, field in ${listOf(SECURITY_CONTEXT_FIELDS)})`,
  ),
  ofContexts('privileged', `!context.?privileged.orValue(false)`),
  ofContexts(
    'capabilities',
    `context.?capabilities.?add.orValue([]).all(capability, capability in ${listOf(CAPABILITIES)})`,
  ),
  ofContexts('procMount', `context.?procMount.orValue('Default') == 'Default'`),
  ofContexts(
    'seccompProfile',
    `context.?seccompProfile.?type.orValue('RuntimeDefault') in ${listOf(PROFILES)}`,
  ),
  ofContexts(
    'appArmorProfile',
    `context.?appArmorProfile.?type.orValue('RuntimeDefault') in ${listOf(PROFILES)}`,
  ),
  inPod(
    'an annotation for AppArmor',
    `variables.pod.?metadata.?annotations.orValue({}).all(name, !name.startsWith('${APPARMOR_ANNOTATION}')
  || variables.pod.metadata.annotations[name] == 'runtime/default'
  || variables.pod.metadata.annotations[name].startsWith('localhost/'))`,
  ),
  ofContexts(
    'seLinuxOptions',
    `context.?seLinuxOptions.orValue({}).all(field, field == 'level'
  || (field == 'type' && context.seLinuxOptions.type in ${listOf(SELINUX_TYPES)}))`,
  ),
  ofContexts('sysctls', `context.?sysctls.orValue([]).all(sysctl, sysctl.name in ${listOf(SYSCTLS)})`),
  inVolumes('the type', `volume.all(field, field in ${listOf(['name', ...VOLUME_SOURCES])})`),
  // A CSI driver may get a token of the pod's ServiceAccount.
  inVolumes(
    'serviceAccountName beside csi',
    `!has(volume.csi) || variables.podSpec.?serviceAccountName.orValue('default') == 'default'`,
  ),
];

/** The API server evaluates each variable only where a validation reads it. */
export const podVariables = {
  isInstaller: `variables.kind == 'pods' && request.operation == 'CREATE'`,
  isHub: `variables.kind == 'statefulsets' && request.operation != 'DELETE'`,
  pod: `variables.kind == 'pods' ? variables.after : variables.after.spec.template`,
  podSpec: 'variables.pod.spec',
  initContainers: 'variables.podSpec.?initContainers.orValue([])',
  containers: 'variables.podSpec.containers + variables.initContainers',
  volumes: 'variables.podSpec.?volumes.orValue([])',
  contexts: `
[variables.podSpec.?securityContext.orValue({})]
+ variables.containers.map(container, container.?securityContext.orValue({}))`,
  // A namespace with this label explicitly allows its pods to take over their node.
  mayTakeNode: `
namespaceObject.metadata.?labels[?'pod-security.kubernetes.io/enforce'].orValue('') == 'privileged'`,
  beyondBaseline: beyondBaseline.join('\n+ '),
} as const;

/** @param isController CEL: whether `owner` is a resource of ours that controls the object */
// eslint-disable-next-line max-lines-per-function -- one table: the validations of pods and their templates
export const podValidations = (isController: string): readonly Validation[] => [
  {
    expression: `
!variables.isInstaller
|| (variables.after.metadata.?annotations[?'${operatorAnnotations.installation}'].hasValue()
  && variables.podSpec.restartPolicy == 'Never'
  && variables.podSpec.?automountServiceAccountToken.orValue(true) == false
  && variables.podSpec.all(field, field in ${listOf(INSTALLER_FIELDS)})
  && variables.containers.size() == 1
  && variables.containers.all(container, container.name == 'install' && container.command[0] == 'python3'
    && !container.?securityContext.?privileged.orValue(false)
    && container.all(field, field in ${listOf(INSTALLER_CONTAINER_FIELDS)}))
  && variables.volumes.filter(volume, has(volume.persistentVolumeClaim)).size() == 1
  && variables.volumes.all(volume, has(volume.persistentVolumeClaim)
    || (has(volume.projected) && volume.projected.sources.all(source, has(source.secret)))))`,
    message:
      'creates only pods that install a community repository: one container, a claim and Secrets, no token of a ServiceAccount, nothing of the node',
  },
  {
    expression: `
variables.kind != 'pods' || request.operation != 'UPDATE'
|| (variables.after.spec == variables.before.spec
  && variables.after.metadata.?labels == variables.before.metadata.?labels
  && variables.after.metadata.?ownerReferences == variables.before.metadata.?ownerReferences)`,
    message: 'changes only annotations of pods',
  },
  {
    expression: `
!variables.isHub
|| (variables.after.metadata.ownerReferences.exists(owner, ${isController}
    && owner.kind == '${hub.kind}' && owner.name == variables.after.metadata.name)
  && variables.after.spec.all(field, field in ${listOf(STATEFUL_SET_FIELDS)}
    || (request.operation == 'UPDATE' && field in variables.before.spec
      && variables.after.spec[field] == variables.before.spec[field]))
  && variables.after.spec.replicas == 1
  && variables.podSpec.containers.exists(container, container.name == 'hub')
  && ['prepare-config', 'unban-operator-ip'].all(name, variables.initContainers.exists(container,
    container.name == name && container.?command[?0].orValue('') == 'python3'))
  && variables.volumes.exists(volume, volume.name == 'config' && has(volume.persistentVolumeClaim)))`,
    message:
      'creates only StatefulSets of one replica with the containers and the volume of a hub, each with the name of its Hub',
  },
  {
    expression: `
!(variables.isHub || variables.isInstaller)
|| (!variables.podSpec.?automountServiceAccountToken.orValue(true)
  && variables.volumes.all(volume, volume.?projected.?sources.orValue([]).all(source,
    source.all(field, field in ${listOf(PROJECTED_SOURCES)}))))`,
    message:
      'gives the pod of a hub no token and no certificate of a ServiceAccount: spec.podTemplate of the Hub must not ask for one',
  },
  {
    expression: `
!(variables.isHub || variables.isInstaller) || variables.mayTakeNode || variables.beyondBaseline.size() == 0`,
    message:
      'gives a pod more than the level baseline of Pod Security only in a namespace with the label pod-security.kubernetes.io/enforce: privileged',
    found: 'variables.beyondBaseline',
  },
];
