import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { messageOf } from '../../base/errors';
import { WEBHOOK_CERTIFICATE_RENEWAL } from '../../base/limits';
import type { ClusterObject } from '../../runtime/objects';

/** A Secret of the type `kubernetes.io/tls`. */
export interface TlsSecret extends ClusterObject {
  /** Values in base64, by key. */
  readonly data?: Readonly<Record<string, string>>;
}

/** A certificate that can be served. */
export interface ServingCertificate {
  /** PEM, the server's certificate first. */
  readonly certificate: string;
  /** PEM */
  readonly key: string;
  /**
   * The CA that the API server has to trust, as PEM; empty if another program writes it into the webhook
   * configuration.
   */
  readonly ca: string;
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
  /** Time from which the certificate is to be replaced, in milliseconds since the epoch. */
  readonly renewAt: number;
}

type Checked =
  | { readonly type: 'valid'; readonly serving: ServingCertificate }
  /** `problem` is a sentence without a full stop. */
  | { readonly type: 'invalid'; readonly problem: string };

interface Expectation {
  /**
   * The name or address that the certificate must be for; undefined if another program manages the
   * certificate.
   */
  readonly host: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** A host name without port, scheme or brackets. */
const DNS_NAME = /^[\w-]+(\.[\w-]+)*\.?$/;

/**
 * Checks a Secret as the API server checks the certificate: key, names, validity and the signature of the CA.
 */
export function checkCertificate(secret: TlsSecret | undefined, expected: Expectation): Checked {
  if (!secret) return invalid('there is no such Secret');
  try {
    return check(secret, expected);
  } catch (error) {
    return invalid(messageOf(error)); // an error of OpenSSL
  }
}

function check(secret: TlsSecret, { host, now }: Expectation): Checked {
  const [certificate, key, ca] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) => decoded(secret, name));
  const [first] = certificate!.match(PEM) ?? [];
  if (first === undefined) return invalid('tls.crt has no certificate');
  const leaf = new X509Certificate(first);
  if (!leaf.checkPrivateKey(createPrivateKey(key!))) return invalid('tls.key is not the key of tls.crt');
  createSecureContext({ cert: certificate, key }); // throws if OpenSSL would refuse to serve it, as with a damaged chain
  const [notBefore, notAfter] = validityOf(leaf);
  if (now < notBefore) return invalid(`it is not valid before ${leaf.validFrom}`);
  if (now >= notAfter) return invalid(`it was valid until ${leaf.validTo}`);
  if (host !== undefined) {
    // `checkHost` of OpenSSL accepts any text that the certificate contains as a name; the API server accepts
    // DNS names only.
    if (!isIP(host) && !DNS_NAME.test(host))
      return invalid('WEBHOOK_HOST is neither a DNS name nor an IP address');
    const isForHost = isIP(host) ? leaf.checkIP(host) : leaf.checkHost(host, { subject: 'never' });
    if (isForHost === undefined) return invalid(`it is not for ${host}`);
    const [first] = ca!.match(PEM) ?? [];
    if (first === undefined) return invalid('ca.crt has no certificate');
    const issuer = new X509Certificate(first);
    const [, caNotAfter] = validityOf(issuer);
    if (now >= caNotAfter) return invalid(`ca.crt was valid until ${issuer.validTo}`);
    if (!leaf.verify(issuer.publicKey)) return invalid('ca.crt does not begin with its CA');
  }
  const renewAt = notBefore + (notAfter - notBefore) * WEBHOOK_CERTIFICATE_RENEWAL;
  return {
    type: 'valid',
    serving: { certificate: certificate!, key: key!, ca: ca!, notAfter, renewAt },
  };
}

const invalid = (problem: string): Checked => ({ type: 'invalid', problem });

function validityOf({ validFrom, validTo }: X509Certificate): readonly [notBefore: number, notAfter: number] {
  return [Date.parse(validFrom), Date.parse(validTo)];
}

function decoded({ data }: TlsSecret, name: string): string {
  return Buffer.from(data?.[name] ?? '', 'base64').toString('utf8');
}
