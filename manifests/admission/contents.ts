import { listOf, type Validation } from './validation';

/** The fields of a claim that the operator sets, and the one that the API server adds. */
const CLAIM_FIELDS = ['accessModes', 'resources', 'storageClassName', 'volumeMode'];

/** The fields of a Service that the operator sets, and those that the API server adds. */
const SERVICE_FIELDS = [
  ...['allocateLoadBalancerNodePorts', 'clusterIP', 'clusterIPs', 'externalTrafficPolicy'],
  ...['healthCheckNodePort', 'internalTrafficPolicy', 'ipFamilies', 'ipFamilyPolicy', 'loadBalancerClass'],
  ...['loadBalancerSourceRanges', 'ports', 'selector', 'sessionAffinity', 'type'],
];

/** CEL for a field of `spec` that an update does not change. */
const isKept = (field: string): string =>
  `(variables.isUpdate && variables.before.spec[?${field}] == variables.after.spec[?${field}])`;

export const contentValidations: readonly Validation[] = [
  {
    expression: `
request.operation != 'DELETE'
|| !(variables.kind == 'persistentvolumeclaims' || (variables.kind == 'secrets' && variables.outlives))`,
    message: 'deletes no claims and no logins',
  },
  {
    expression: `
variables.kind != 'persistentvolumeclaims' || request.operation == 'DELETE'
|| (variables.after.spec.all(field, ${isKept('field')}
    || (variables.isUpdate ? field == 'resources' : field in ${listOf(CLAIM_FIELDS)}))
  && (!variables.isUpdate || variables.before.spec.all(field, field in variables.after.spec)))`,
    message: 'creates only empty claims, and changes only their size',
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
variables.kind != 'secrets' || !variables.isUpdate || !variables.outlives
|| variables.after.?data == variables.before.?data`,
    message: 'changes no login that it has generated (Secret <hub>-admin)',
  },
  {
    expression: `
variables.kind != 'services' || request.operation == 'DELETE'
|| variables.after.spec.all(field, field in ${listOf(SERVICE_FIELDS)} || ${isKept('field')})`,
    message: 'creates only Services of a hub: no externalIPs, no externalName',
  },
  {
    expression: `
variables.kind != 'certificates' || request.operation == 'DELETE'
|| variables.after.spec.secretName == variables.after.metadata.name + '-tls'`,
    message: 'asks cert-manager only for the Secret <hub>-tls',
  },
  {
    expression: `
variables.kind != 'ours' || !variables.isUpdate
|| (variables.after.spec == variables.before.spec
  && variables.after.metadata.?annotations == variables.before.metadata.?annotations)`,
    message: 'changes no spec and no annotation of its resources: these are for people',
  },
  {
    expression: `
variables.kind != 'validatingwebhookconfigurations'
|| (variables.isUpdate
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
