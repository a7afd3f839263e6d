import { type IssuedCertificate, issueCertificate } from '../../../../operator/webhook/certificate/issue';
import type { TlsSecret } from '../../../../operator/webhook/certificate/check';

export const HOST = 'hub-operator-webhook.hub-operator.svc';

/** Returns a Secret as the API server stores it. */
export function tlsSecret(
  { certificate, key, ca }: Pick<IssuedCertificate, 'certificate' | 'key'> & { readonly ca?: string },
  resourceVersion = '1',
): TlsSecret {
  const data = { 'tls.crt': certificate, 'tls.key': key, ...(ca !== undefined && { 'ca.crt': ca }) };
  return {
    kind: 'Secret',
    metadata: { name: 'hub-operator-webhook-tls', namespace: 'hub-operator', resourceVersion },
    data: Object.fromEntries(
      Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
    ),
  };
}

export const textOf = ({ data }: TlsSecret, name: string): string =>
  Buffer.from(data![name]!, 'base64').toString('utf8');

export { issueCertificate };
