import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { hub } from '../operator/kinds';
import { operatorAnnotations } from '../operator/kinds/annotations';
import { API_GROUP } from '../operator/kinds/group';
import { OPERATOR_LABELS } from '../operator/kinds/object-names';
import { operatorRules } from './access';
import { OPERATOR } from './names';

/**
 * Bounds the writes of the operator's account below its role, which cannot say what an object has to be: a role that
 * creates pods creates any pod. The API server decides, so that a stolen token is bound as well
 * (docs/explanation/security.md).
 *
 * No expression names a namespace: kustomize, which moves an installation into another one, changes no CEL.
 */
export class OperatorAdmissionPolicy extends Construct {
  constructor(parent: Construct) {
    super(parent, 'admission-policy');
    const apiVersion = 'admissionregistration.k8s.io/v1';
    new ApiObject(this, 'policy', {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: OPERATOR },
      spec: admissionPolicySpec(),
    });
    new ApiObject(this, 'binding', {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: OPERATOR },
      spec: { policyName: OPERATOR, validationActions: ['Deny'] },
    });
  }
}

export function admissionPolicySpec() {
  return {
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: boundResources() },
    matchConditions: [{ name: 'is-the-operator', expression: lines(isTheOperator) }],
    variables: Object.entries(variables).map(([name, expression]) => ({
      name,
      expression: lines(expression),
    })),
    validations: validations.map(({ expression, message }) => ({
      expression: lines(expression),
      message: `the account of the operator ${message}`,
      reason: 'Forbidden',
    })),
  };
}

const WRITING: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);
/** Events are told, not obeyed. A status is a resource of its own, `<plural>/status`. */
const isBound = (resource: string): boolean => resource !== 'events' && !resource.includes('/');

/** Everything that the operator's roles let it write, but for events, its lease and the status of its kinds. */
export function boundResources() {
  const bound = new Map<string, string[]>();
  for (const { apiGroup, resources, verbs } of operatorRules())
    if (verbs.some((verb) => WRITING.has(verb)))
      bound.set(apiGroup, [...(bound.get(apiGroup) ?? []), ...resources.filter(isBound)]);
  bound.set('admissionregistration.k8s.io', ['validatingwebhookconfigurations']);
  return [...bound].map(([apiGroup, resources]) => ({
    apiGroups: [apiGroup],
    apiVersions: ['*'],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    resources: resources.sort(),
  }));
}

/**
 * The service account of this name, also with a prefix or suffix by kustomize, which does the operator's work here: an
 * account of another program may have the same name.
 */
const isTheOperator = `
request.userInfo.username.matches('^system:serviceaccount:[^:]+:(.+-)?${OPERATOR}(-.+)?$')
&& authorizer.group('${API_GROUP}').resource('${hub.plural}').subresource('status')
  .namespace(has(request.namespace) ? request.namespace : '').check('patch').allowed()`;

/** Who may be the owner: a resource of ours that controls the object. */
const isController = `has(owner.controller) && owner.controller && owner.apiVersion.startsWith('${API_GROUP}/')`;
const isControlled = (object: string) =>
  `${object}.metadata.?ownerReferences.orValue([]).exists(owner, ${isController})`;
const isMarked = (object: string) =>
  `${object}.metadata.?labels[?'app.kubernetes.io/managed-by'].orValue('') == '${OPERATOR}'`;
const OWNER_LABEL = `${API_GROUP}/owner`;
const RAN_VERSION = operatorAnnotations.ranVersion;

/** The capabilities of the level baseline of Pod Security, and NET_RAW, which containers have by default. */
const HARMLESS_CAPABILITIES = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
];

/** Each is evaluated only where a validation reads it. `dyn`: the objects are of many types. */
const variables = {
  before: 'dyn(oldObject)',
  after: 'dyn(object)',
  wasOurs: `${isMarked('variables.before')} || ${isControlled('variables.before')}`,
  kind: `request.resource.group == '${API_GROUP}' ? 'ours' : request.resource.resource`,
  // The Secret with the certificate of the webhook, in the namespace of the operator.
  isCertificate: `
variables.kind == 'secrets' && request.operation != 'DELETE'
&& request.namespace == request.userInfo.username.split(':')[2]
&& [variables.after, request.operation == 'CREATE' ? variables.after : variables.before].all(secret,
  secret.type == 'kubernetes.io/tls'
  && secret.metadata.?labels[?'app.kubernetes.io/name'].orValue('') == '${OPERATOR_LABELS['app.kubernetes.io/name']}')`,
  // The version that ran on a volume is recorded on its claim, which may be the user's.
  recordsVersion: `
variables.kind == 'persistentvolumeclaims' && request.operation == 'UPDATE'
&& variables.after.spec == variables.before.spec
&& variables.after.metadata.?labels == variables.before.metadata.?labels
&& variables.after.metadata.?ownerReferences == variables.before.metadata.?ownerReferences
&& variables.after.metadata.?finalizers == variables.before.metadata.?finalizers
&& variables.after.metadata.?annotations.orValue({}).all(name, name == '${RAN_VERSION}'
  || variables.after.metadata.annotations[name] == variables.before.metadata.?annotations[?name].orValue(''))
&& variables.before.metadata.?annotations.orValue({}).all(name, name in variables.after.metadata.annotations)`,
  isExempt: `
variables.kind in ['ours', 'validatingwebhookconfigurations']
|| variables.isCertificate || variables.recordsVersion`,
  // Only read of StatefulSets.
  template: 'variables.after.spec.template.spec',
  initContainers: 'variables.template.?initContainers.orValue([])',
  volumes: 'variables.template.?volumes.orValue([])',
  // Who may write the namespace has said in so many words that its pods may take their node.
  mayTakeNode: `
namespaceObject.metadata.?labels[?'pod-security.kubernetes.io/enforce'].orValue('') == 'privileged'`,
  // Such outlive their Hub with storage.retain: the claim, the login, and the delivered definitions.
  mayOutliveOwner: `
variables.kind == 'persistentvolumeclaims'
|| (variables.kind == 'configmaps' && ('Hub.' + variables.after.metadata.name).startsWith(
  variables.after.metadata.?labels[?'${OWNER_LABEL}'].orValue('') + '-delivery-'))
|| (variables.kind == 'secrets' && 'Hub.' + variables.after.metadata.name
  == variables.after.metadata.?labels[?'${OWNER_LABEL}'].orValue('') + '-admin')`,
} as const;

/** `message` continues "the account of the operator". */
const validations: readonly { readonly expression: string; readonly message: string }[] = [
  {
    expression: `!has(request.namespace) || !request.namespace.startsWith('kube-')`,
    message: 'writes nothing in namespaces of Kubernetes (kube-*)',
  },
  {
    expression: `
request.operation == 'CREATE' || variables.isExempt || variables.wasOurs`,
    message: `changes and deletes only objects that it has created (label app.kubernetes.io/managed-by: ${OPERATOR})`,
  },
  {
    expression: `
request.operation == 'DELETE' || variables.isExempt || (variables.kind == 'pods' && request.operation == 'UPDATE')
|| (${isMarked('variables.after')} && (variables.mayOutliveOwner || ${isControlled('variables.after')}))`,
    message: `creates only objects that have the label app.kubernetes.io/managed-by: ${OPERATOR} and belong to one of its resources (owner reference with controller: true)`,
  },
  {
    expression: `variables.kind != 'persistentvolumeclaims' || request.operation != 'DELETE'`,
    message: 'deletes no claims',
  },
  {
    expression: `
variables.kind != 'secrets' || request.operation == 'DELETE'
|| variables.after.type == 'Opaque' || variables.isCertificate`,
    message:
      'writes only Secrets of the type Opaque, and the one with the certificate of its webhook, which is in its own namespace',
  },
  {
    expression: `
variables.kind != 'pods' || request.operation != 'CREATE'
|| (variables.after.metadata.?annotations[?'${operatorAnnotations.installation}'].hasValue()
  && variables.after.spec.restartPolicy == 'Never'
  && variables.after.spec.?automountServiceAccountToken.orValue(true) == false
  && !has(variables.after.spec.initContainers)
  && ['hostNetwork', 'hostPID', 'hostIPC'].all(field, !variables.after.spec[?field].orValue(false))
  && variables.after.spec.containers.size() == 1
  && variables.after.spec.containers.all(container, container.name == 'install'
    && container.command[0] == 'python3'
    && !(container.?securityContext.?privileged.orValue(false)))
  && variables.after.spec.volumes.all(volume, has(volume.persistentVolumeClaim)
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
variables.kind != 'statefulsets' || request.operation == 'DELETE'
|| (variables.after.metadata.ownerReferences.exists(owner, ${isController}
    && owner.kind == '${hub.kind}' && owner.name == variables.after.metadata.name)
  && variables.after.spec.replicas == 1
  && !has(variables.after.spec.volumeClaimTemplates)
  && variables.template.containers.exists(container, container.name == 'hub')
  && ['prepare-config', 'unban-operator-ip'].all(name, variables.initContainers.exists(container,
    container.name == name && container.?command[?0].orValue('') == 'python3'))
  && variables.volumes.exists(volume, volume.name == 'config' && has(volume.persistentVolumeClaim)))`,
    message:
      'creates only StatefulSets of one replica with the containers and the volume of a hub, each with the name of its Hub',
  },
  {
    expression: `
variables.kind != 'statefulsets' || request.operation == 'DELETE'
|| (!variables.template.?automountServiceAccountToken.orValue(true)
  && variables.volumes.all(volume, !has(volume.projected)
    || volume.projected.?sources.orValue([]).all(source, !has(source.serviceAccountToken))))`,
    message:
      'gives the pod of a hub no token of a ServiceAccount: spec.podTemplate of the Hub must not ask for one',
  },
  {
    expression: `
variables.kind != 'statefulsets' || request.operation == 'DELETE' || variables.mayTakeNode
|| (['hostPID', 'hostIPC'].all(field, !variables.template[?field].orValue(false))
  && variables.volumes.all(volume, !has(volume.hostPath))
  && (variables.template.containers + variables.initContainers).all(container,
    !container.?securityContext.?privileged.orValue(false)
    && container.?securityContext.?capabilities.?add.orValue([]).all(capability,
      capability in ${JSON.stringify(HARMLESS_CAPABILITIES)})))`,
    message:
      'gives the pod of a hub folders, processes or devices of the node only in a namespace with the label pod-security.kubernetes.io/enforce: privileged',
  },
  {
    expression: `
variables.kind != 'ours' || request.operation != 'UPDATE'
|| (variables.after.spec == variables.before.spec
  && variables.after.metadata.?annotations == variables.before.metadata.?annotations)`,
    message: 'changes no spec and no annotation of its resources: these are for people',
  },
  {
    expression: `
variables.kind != 'validatingwebhookconfigurations'
|| (request.operation == 'UPDATE'
  && variables.after.?webhooks.orValue([]).size() == variables.before.webhooks.size()
  && variables.after.webhooks.all(webhook, variables.before.webhooks.exists(former,
    webhook.name == former.name && webhook.rules == former.rules
    && webhook.clientConfig.?service == former.clientConfig.?service
    && webhook.clientConfig.?url == former.clientConfig.?url
    && ['admissionReviewVersions', 'failurePolicy', 'matchConditions', 'matchPolicy', 'namespaceSelector',
      'objectSelector', 'sideEffects', 'timeoutSeconds'].all(field,
      webhook[?field] == former[?field]))))`,
    message: 'changes only the CA of the registration of its webhook',
  },
];

const lines = (expression: string): string => expression.trim();
