import 'reflect-metadata'; // @peculiar/x509 expects it
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';
import { WEBHOOK_CERTIFICATE_LIFETIME, WEBHOOK_CLOCK_SKEW } from '../../limits';

/** A certificate of a server and the CA that signed it, as PEM. */
export interface IssuedCertificate {
  readonly certificate: string;
  /** PKCS #8 */
  readonly key: string;
  readonly ca: string;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/**
 * Makes a CA and a certificate of it for a server. The key of the CA is not kept: the next certificate has another CA, and
 * what is stolen from the Secret signs nothing.
 *
 * @param host name or IP address by which the API server calls
 * @param now milliseconds since the epoch
 */
export async function issueCertificate(host: string, now: number): Promise<IssuedCertificate> {
  const validity = {
    notBefore: new Date(now - WEBHOOK_CLOCK_SKEW),
    notAfter: new Date(now + WEBHOOK_CERTIFICATE_LIFETIME),
  };
  const [caKeys, keys] = await Promise.all([generateKeys(), generateKeys()]);
  const name = `CN=hub-operator webhook CA ${new Date(now).toISOString()}`;
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name,
    ...validity,
    keys: caKeys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(caKeys.publicKey),
    ],
  });
  const certificate = await x509.X509CertificateGenerator.create({
    subject: 'CN=hub-operator webhook',
    issuer: name,
    ...validity,
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([{ type: isIP(host) ? 'ip' : 'dns', value: host }]),
      await x509.AuthorityKeyIdentifierExtension.create(caKeys.publicKey),
    ],
  });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    certificate: certificate.toString('pem'),
    key: x509.PemConverter.encode(key, 'PRIVATE KEY'),
    ca: ca.toString('pem'),
  };
}

const generateKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
