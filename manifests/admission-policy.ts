import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { hub } from '../operator/kinds';
import { API_GROUP } from '../operator/kinds/group';
import { OPERATOR_LABELS } from '../operator/kinds/object-names';
import { operatorRules } from './access';
import { contentValidations } from './admission/contents';
import { metadataValidations, metadataVariables, RAN_VERSION } from './admission/metadata';
import { podValidations, podVariables } from './admission/pods';
import type { Validation } from './admission/validation';
import { OPERATOR } from './names';

/**
 * Limits the writes of the operator's account further than its role can: a role that allows to create pods
 * allows any pod. The API server decides, so the limits also hold for a stolen token
 * (docs/explanation/security.md).
 *
 * No expression names a namespace, because kustomize does not change CEL when it moves an installation into
 * another namespace.
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
    validations: validations.map(({ expression, message, found }) => ({
      expression: lines(expression),
      message: `${ACCOUNT} ${message}`,
      ...(found && { messageExpression: `'${ACCOUNT} ${message}: ' + ${found}.join(', ')` }),
      reason: 'Forbidden',
    })),
  };
}

const ACCOUNT = 'the account of the operator';
const WRITING: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);
/**
 * Events and statuses are not bound: events only inform people, and a status is a resource of its own,
 * `<plural>/status`.
 */
const isBound = (resource: string): boolean => resource !== 'events' && !resource.includes('/');

/**
 * Returns everything that the operator's roles allow it to write, except events, its lease and the status of
 * its kinds.
 */
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
 * Matches a service account with this name, also with a prefix or suffix from kustomize, that has the
 * operator's rights here. The name alone is not enough, since another program's account may have it too.
 */
const isTheOperator = `
request.userInfo.username.matches('^system:serviceaccount:[^:]+:(.+-)?${OPERATOR}(-.+)?$')
&& authorizer.group('${API_GROUP}').resource('${hub.plural}').subresource('status')
  .namespace(has(request.namespace) ? request.namespace : '').check('patch').allowed()`;

/** CEL for an owner reference: the owner is one of our resources and controls the object. */
const isController = `has(owner.controller) && owner.controller && owner.apiVersion.startsWith('${API_GROUP}/')`;
const isControlled = (object: string) =>
  `${object}.metadata.?ownerReferences.orValue([]).exists(owner, ${isController})`;
const isMarked = (object: string) =>
  `${object}.metadata.?labels[?'app.kubernetes.io/managed-by'].orValue('') == '${OPERATOR}'`;
const OWNER_LABEL = `${API_GROUP}/owner`;
/**
 * Variables of the policy. The API server evaluates each of them only where a validation reads it. `dyn` is
 * needed because the objects have many types.
 */
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
  // The version that ran on a volume is recorded on its claim, which may belong to the user.
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
  // Objects that outlive their Hub with storage.retain: the claim, the login, and the delivered definitions.
  mayOutliveOwner: `
variables.kind == 'persistentvolumeclaims'
|| (variables.kind == 'configmaps' && ('Hub.' + variables.after.metadata.name).startsWith(
  variables.after.metadata.?labels[?'${OWNER_LABEL}'].orValue('') + '-delivery-'))
|| (variables.kind == 'secrets' && 'Hub.' + variables.after.metadata.name
  == variables.after.metadata.?labels[?'${OWNER_LABEL}'].orValue('') + '-admin')`,
  ...metadataVariables,
  ...podVariables,
} as const;

/**
 * `message` continues "the account of the operator". When an object violates several rules, the API server
 * shows the first.
 */
const validations: readonly Validation[] = [
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
  ...contentValidations,
  ...podValidations(isController),
  ...metadataValidations,
];

const lines = (expression: string): string => expression.trim();
