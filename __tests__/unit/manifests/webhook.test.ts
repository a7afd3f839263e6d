import { App, Chart, Testing } from 'cdk8s';
import { NAMESPACE } from '../../../manifests/names';
import { Operator } from '../../../manifests/operator';
import { defaultSettings, type Scope, type WebhookCertificate } from '../../../manifests/settings';
import { AdmissionWebhook } from '../../../manifests/webhook';
import { kinds, validatedKinds } from '../../../operator/kinds';
import type { Schema } from '../../../operator/kinds/schema';
import { readManifests } from '../../../manifests/read-manifests';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly rules?: readonly {
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

const webhook = (certificate: WebhookCertificate) =>
  synthesized((chart) => new AdmissionWebhook(chart, certificate, NAMESPACE));
const operator = (certificate?: WebhookCertificate, scope: Scope = 'cluster') =>
  synthesized((chart) => new Operator(chart, { ...defaultSettings, scope, webhook: certificate }));

function synthesized(add: (chart: Chart) => unknown): Manifest[] {
  const chart = new Chart(new App(), 'test');
  add(chart);
  return Testing.synth(chart) as Manifest[];
}

const named = (manifests: readonly Manifest[], kind: string, name: string) =>
  manifests.find((each) => each.kind === kind && each.metadata.name === name);

/** Whether a field of the schema accepts any value, so that an integer in it has no bounds. */
function takesAnything({ items, properties = {}, additionalProperties, ...schema }: Schema): boolean {
  if (schema['x-kubernetes-preserve-unknown-fields']) return true;
  const inner = [items, additionalProperties, ...Object.values(properties)];
  return inner.some((each) => each !== undefined && takesAnything(each));
}

describe('AdmissionWebhook', () => {
  test('is called only for a changed spec, by any user and in any namespace of the operator', () => {
    const configuration = named(webhook('self-signed'), 'ValidatingWebhookConfiguration', 'hub-operator');
    expect(configuration).toMatchObject({
      webhooks: [
        {
          matchConditions: [{ expression: 'request.operation == "CREATE" || object.spec != oldObject.spec' }],
        },
      ],
    });
  });

  test('fails open, after a short timeout, and has no side effects', () => {
    const configuration = named(webhook('self-signed'), 'ValidatingWebhookConfiguration', 'hub-operator');
    expect(configuration).toMatchObject({
      webhooks: [
        { failurePolicy: 'Ignore', sideEffects: 'None', timeoutSeconds: 1, matchPolicy: 'Equivalent' },
      ],
    });
    expect(JSON.stringify(configuration)).not.toMatch(/caBundle|namespaceSelector/);
  });

  test('is called for every kind with free-form fields', () => {
    const freeForm = kinds.filter(({ spec }) => takesAnything(spec)).map(({ kind }) => kind);
    expect(freeForm).toContain('HubAutomation');
    expect(validatedKinds.map(({ kind }) => kind)).toEqual(expect.arrayContaining(freeForm));
  });

  test('the operator may write its own Secret and its own registration, and no others', () => {
    const manifests = operator('self-signed');
    expect(named(manifests, 'Role', 'hub-operator-webhook')!.rules).toEqual([
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
      {
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: ['hub-operator-webhook-tls'],
        verbs: ['get', 'list', 'watch', 'patch'],
      },
    ]);
    expect(named(manifests, 'ClusterRole', 'hub-operator-webhook')!.rules).toEqual([
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['validatingwebhookconfigurations'],
        resourceNames: ['hub-operator'],
        verbs: ['get', 'list', 'watch', 'patch'],
      },
    ]);
  });

  test('without it the operator has neither its rights nor its port', () => {
    // The admission policy covers the webhook where there is one.
    const isOwn = ({ kind }: Manifest) => kind !== 'ValidatingAdmissionPolicy';
    const dist = readManifests('dist/namespaced/install.yaml') as Manifest[];
    for (const manifests of [operator(undefined, 'namespaced'), dist])
      expect(JSON.stringify(manifests.filter(isOwn))).not.toMatch(/webhook/i);
  });

  test('cert-manager makes the certificate and writes the CA, and the operator only reads the Secret', () => {
    const manifests = webhook('cert-manager');
    const certificate = named(manifests, 'Certificate', 'hub-operator-webhook');
    expect(certificate).toMatchObject({
      spec: {
        secretName: 'hub-operator-webhook-tls',
        // Without a subject the certificate would have an empty issuer.
        commonName: 'hub-operator webhook',
        dnsNames: ['hub-operator-webhook.hub-operator.svc'],
        issuerRef: { kind: 'Issuer', name: 'hub-operator-webhook' },
      },
    });
    expect(named(manifests, 'Issuer', 'hub-operator-webhook')).toBeDefined();
    const configuration = named(manifests, 'ValidatingWebhookConfiguration', 'hub-operator');
    expect(configuration!.metadata.annotations).toEqual({
      'cert-manager.io/inject-ca-from': 'hub-operator/hub-operator-webhook',
    });
    for (const scope of ['cluster', 'namespaced'] as const) {
      const objects = operator('cert-manager', scope);
      expect(JSON.stringify(objects)).toContain('{"name":"WEBHOOK","value":"provided"}');
      expect(named(objects, 'ClusterRole', 'hub-operator-webhook')).toBeUndefined();
      expect(named(objects, 'Role', 'hub-operator-webhook')!.rules!.flatMap(({ verbs }) => verbs)).toEqual([
        'get',
        'list',
        'watch',
      ]);
    }
  });
});
