import { objectRules, specRules } from '../../../operator/kinds/hub/rules';
import type { RuleCase } from './rule-case';

/** Changes that remove from the full Hub the fields that an external Hub cannot have. */
const workload = {
  'spec.version': undefined,
  'spec.image': undefined,
  'spec.hostNetwork': undefined,
  'spec.imagePullPolicy': undefined,
  'spec.imagePullSecrets': undefined,
  'spec.resources': undefined,
  'spec.podTemplate': undefined,
  'spec.storage': undefined,
  'spec.service': undefined,
  'spec.ingress': undefined,
  'spec.gateway': undefined,
  'spec.networkPolicy': undefined,
};

const external = { url: 'http://box:8123', tokenSecretRef: { name: 'box' } };

export const hubRules: readonly RuleCase[] = [
  {
    kind: 'Hub',
    says: objectRules.nameFitsPod.message,
    field: 'metadata.name',
    good: [{ 'metadata.name': 'a' }, { 'metadata.name': 'home-2' }, { 'metadata.name': 'a'.repeat(52) }],
    bad: [{ 'metadata.name': 'a'.repeat(53) }, { 'metadata.name': '1home' }, { 'metadata.name': 'my.home' }],
  },
  {
    kind: 'Hub',
    says: objectRules.tokenSecretIsFree.message,
    field: 'spec.bootstrap.apiTokenSecretName',
    good: [
      { 'metadata.name': 'home', 'spec.bootstrap.apiTokenSecretName': 'home-api-token' },
      { 'metadata.name': 'home', 'spec.bootstrap.apiTokenSecretName': 'villa-admin' },
      { 'metadata.name': 'home', 'spec.bootstrap': {} },
    ],
    bad: ['home-admin', 'home-secrets', 'home-operator', 'home-tls'].map((name) => ({
      'metadata.name': 'home',
      'spec.bootstrap.apiTokenSecretName': name,
    })),
  },
  {
    kind: 'Hub',
    says: objectRules.tokenSecretIsNotCredentials.message,
    field: 'spec.bootstrap.apiTokenSecretName',
    good: [
      {
        'spec.bootstrap.apiTokenSecretName': 'token',
        'spec.bootstrap.credentials': { secretRef: { name: 'owner' } },
      },
      { 'spec.bootstrap.credentials': { secretRef: { name: 'owner' } } },
    ],
    bad: [
      {
        'spec.bootstrap.apiTokenSecretName': 'owner',
        'spec.bootstrap.credentials': { secretRef: { name: 'owner' } },
      },
    ],
  },
  {
    kind: 'Hub',
    says: specRules.externalIsImmutable.message,
    field: 'spec.external',
    update: true,
    good: [{ 'spec.timezone': 'UTC' }],
    bad: [{ ...workload, 'spec.external': external }],
  },
  {
    kind: 'Hub',
    says: specRules.externalIsImmutable.message,
    field: 'spec.external',
    update: true,
    external: true,
    good: [{ 'spec.external.url': 'http://other:8123' }],
    bad: [{ 'spec.external': undefined }],
  },
  {
    kind: 'Hub',
    says: specRules.externalHasNoWorkload.message,
    field: 'spec.external',
    external: true,
    good: [
      { 'spec.version': 'stable' },
      {
        'spec.timezone': 'Europe/Berlin',
        'spec.backup': {},
        'spec.bootstrap': { location: { name: 'Home' } },
      },
    ],
    bad: [
      { 'spec.version': '2026.11.0' },
      { 'spec.image': 'ha' },
      { 'spec.hostNetwork': true },
      { 'spec.imagePullPolicy': 'Never' },
      ...['imagePullSecrets'].map((field) => ({ [`spec.${field}`]: [] })),
      ...['resources', 'podTemplate', 'storage', 'service', 'networkPolicy'].map((field) => ({
        [`spec.${field}`]: {},
      })),
      ...['ingress', 'gateway'].map((field) => ({ [`spec.${field}`]: { enabled: false } })),
    ],
  },
  {
    kind: 'Hub',
    says: specRules.storageClassIsImmutable.message,
    field: 'spec.storage.storageClassName',
    update: true,
    good: [
      { 'spec.storage.size': '20Gi' },
      { 'spec.storage.retain': false },
      { 'spec.storage.existingClaim': 'new' },
    ],
    bad: [
      { 'spec.storage.storageClassName': 'slow' },
      { 'spec.storage.storageClassName': undefined },
      { 'spec.storage': undefined },
    ],
  },
  {
    kind: 'Hub',
    says: specRules.accessModesAreImmutable.message,
    field: 'spec.storage.accessModes',
    update: true,
    // Without accessModes the value is [ReadWriteOnce], as in the sample.
    good: [{ 'spec.storage.accessModes': undefined }],
    bad: [
      { 'spec.storage.accessModes': ['ReadWriteMany'] },
      { 'spec.storage.accessModes': ['ReadWriteOnce', 'ReadWriteMany'] },
    ],
  },
  ...['nodePort', 'externalTrafficPolicy'].map((field) => ({
    kind: 'Hub',
    says: `service.${field} works only with`,
    field: `spec.service.${field}`,
    good: [
      { 'spec.service': { type: 'NodePort', nodePort: 30123, externalTrafficPolicy: 'Local' } },
      { 'spec.service': {} },
    ],
    bad: [{ 'spec.service.type': 'ClusterIP' }, { 'spec.service.type': undefined }],
  })),
  ...['loadBalancerClass', 'loadBalancerSourceRanges'].map((field) => ({
    kind: 'Hub',
    says: `service.${field} works only with`,
    field: `spec.service.${field}`,
    good: [{ 'spec.service.port': 8123 }],
    bad: [{ 'spec.service.type': 'NodePort' }, { 'spec.service.type': undefined }],
  })),
  {
    kind: 'Hub',
    says: 'ingress.host is needed',
    field: 'spec.ingress.host',
    good: [{ 'spec.ingress': { host: 'home' } }, { 'spec.ingress': { enabled: false } }],
    bad: [{ 'spec.ingress.host': undefined }, { 'spec.ingress': {} }],
  },
  {
    kind: 'Hub',
    says: 'ingress.tls needs a certificate',
    field: 'spec.ingress.tls.secretName',
    good: [
      { 'spec.ingress.tls': { secretName: 'own' } },
      { 'spec.ingress.tls': { issuerRef: { name: 'letsencrypt' } } },
      { 'spec.ingress.tls': { enabled: false } },
    ],
    bad: [{ 'spec.ingress.tls': {} }, { 'spec.ingress.tls': { enabled: true } }],
  },
  {
    kind: 'Hub',
    says: 'gateway.parentRefs needs at least one',
    field: 'spec.gateway.parentRefs',
    good: [{ 'spec.gateway': { parentRefs: [{ name: 'public' }] } }, { 'spec.gateway': { enabled: false } }],
    bad: [{ 'spec.gateway': {} }, { 'spec.gateway.parentRefs': [] }],
  },
  {
    kind: 'Hub',
    says: 'networkPolicy.from: an entry has either',
    field: 'spec.networkPolicy.from[0]',
    good: [
      { 'spec.networkPolicy.from': [{ namespaceSelector: {} }] },
      { 'spec.networkPolicy.from': [{ ipBlock: { cidr: '10.0.0.0/8' } }] },
    ],
    bad: [
      { 'spec.networkPolicy.from': [{}] },
      { 'spec.networkPolicy.from': [{ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }] },
    ],
  },
  {
    kind: 'Hub',
    says: 'location.latitude and location.longitude belong together',
    field: 'spec.bootstrap.location.latitude',
    good: [{ 'spec.bootstrap.location': { name: 'Home' } }],
    bad: [
      { 'spec.bootstrap.location.longitude': undefined },
      { 'spec.bootstrap.location.latitude': undefined },
    ],
  },
];
