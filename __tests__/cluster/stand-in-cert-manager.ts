import 'reflect-metadata'; // @peculiar/x509 expects this import
import { webcrypto, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { WEBHOOK } from '../../operator/kinds/object-names';
import { NAMESPACE } from '../../manifests/names';

/**
 * Runs kubectl with an input, as administrator.
 * @throws Error the command failed
 */
type Kubectl = (args: readonly string[], input?: string) => Promise<string>;

interface Registration {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY = 24 * 3_600_000;
const inNamespace = `--namespace=${NAMESPACE}`;

/**
 * Makes the writes of cert-manager and its CA injector for the Certificate of the webhook, with their field
 * managers.
 */
export class StandInCertManager {
  constructor(
    private readonly kubectl: Kubectl,
    /** The address at which the API server calls the webhook, instead of the name of its Service. */
    private readonly address: string,
  ) {}

  /** Writes a certificate of a self-signed issuer into the Secret. Returns its fingerprint. */
  async issue(): Promise<string> {
    const { certificate, key } = await this.selfSigned();
    const data = { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': certificate };
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata: {
        name: WEBHOOK.secret,
        namespace: NAMESPACE,
        labels: { 'controller.cert-manager.io/fao': 'true' },
        annotations: {
          'cert-manager.io/certificate-name': WEBHOOK.service,
          'cert-manager.io/issuer-name': WEBHOOK.service,
          'cert-manager.io/issuer-kind': 'Issuer',
        },
      },
      data: Object.fromEntries(
        Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
      ),
    };
    const asIssuer = ['--field-manager=cert-manager-certificates-issuing', '--force-conflicts'];
    await this.kubectl(['apply', '--server-side', ...asIssuer, '--filename=-'], JSON.stringify(secret));
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'Ready',
      message: 'Certificate is up to date and has not expired',
      lastTransitionTime: new Date().toISOString(),
    };
    const patch = `--patch=${JSON.stringify({ status: { conditions: [condition] } })}`;
    const what = ['certificates.cert-manager.io', WEBHOOK.service, inNamespace];
    await this.kubectl(['patch', ...what, '--subresource=status', '--type=merge', patch]);
    return new X509Certificate(certificate).fingerprint256;
  }

  /**
   * Writes the CA of the Secret into the webhook registration, before the former CAs, if an annotation asks
   * for it.
   */
  async inject(): Promise<void> {
    const name = ['validatingwebhookconfiguration', WEBHOOK.configuration];
    const found = JSON.parse(await this.kubectl(['get', ...name, '--output=json'])) as Registration;
    const source = found.metadata.annotations?.['cert-manager.io/inject-ca-from'];
    if (source !== `${NAMESPACE}/${WEBHOOK.service}`)
      throw new Error(`cannot inject a CA: the annotation is ${source}`);
    const ca = '--output=jsonpath={.data.ca\\.crt}';
    const present = decoded(await this.kubectl(['get', 'secret', WEBHOOK.secret, inNamespace, ca]));
    const webhooks = found.webhooks.map((webhook) => {
      const { caBundle = '' } = webhook.clientConfig;
      const former = decoded(caBundle).replace(present, '');
      const merged = Buffer.from(`${present.trim()}\n${former}`).toString('base64');
      return { ...webhook, clientConfig: { ...webhook.clientConfig, caBundle: merged } };
    });
    await this.kubectl(
      ['replace', '--field-manager=cert-manager-cainjector', '--filename=-'],
      JSON.stringify({ ...found, webhooks }),
    );
  }

  /**
   * Makes a self-signed certificate that is not a CA by its basic constraints, as a self-signed issuer does
   * for a Certificate.
   */
  private async selfSigned(): Promise<{ certificate: string; key: string }> {
    const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: 'CN=hub-operator webhook',
      notBefore: new Date(Date.now() - 60_000),
      notAfter: new Date(Date.now() + 90 * DAY),
      keys,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: this.address }]),
      ],
    });
    const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
    return {
      certificate: `${certificate.toString('pem')}\n`,
      key: x509.PemConverter.encode(key, 'PRIVATE KEY'),
    };
  }
}

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8');
