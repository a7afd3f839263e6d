import 'reflect-metadata'; // @peculiar/x509 expects this import
import { generateKeyPairSync, type KeyObject, randomBytes, webcrypto } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const YEAR = 365 * 24 * 3_600_000;
/**
 * Certificates are valid from some time ago, because the clock of another machine may be behind. In
 * milliseconds.
 */
const SKEW = 5 * 60_000;

/**
 * Makes the identities of a control plane in a folder: `ca`, `apiserver` and `admin` as NAME.crt and
 * NAME.key, and `sa.key`, which signs tokens of service accounts.
 * @param addresses of the API server beside 127.0.0.1
 */
export async function writeCertificates(folder: string, addresses: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const write = async (name: string, { certificate, key }: Identity) => {
    await writeFile(join(folder, `${name}.crt`), `${certificate.toString('pem')}\n`);
    await writeKey(folder, name, key);
  };
  const authority = await issue('CN=sandbox', undefined, [
    new x509.BasicConstraintsExtension(true, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
  ]);
  await write('ca', authority);
  const names = [
    ...['127.0.0.1', ...addresses].map((value) => ({ type: 'ip' as const, value })),
    ...['localhost', 'kubernetes.default.svc'].map((value) => ({ type: 'dns' as const, value })),
  ];
  await write(
    'apiserver',
    await issue('CN=kube-apiserver', authority, [
      new x509.SubjectAlternativeNameExtension(names),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    ]),
  );
  // Members of system:masters are administrators without any RBAC object.
  await write(
    'admin',
    await issue('O=system:masters, CN=sandbox-admin', authority, [
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
    ]),
  );
  await writeKey(folder, 'sa', newKey());
}

interface Identity {
  readonly certificate: x509.X509Certificate;
  readonly key: KeyObject;
}

/** @param issuer undefined for a certificate that signs itself */
async function issue(
  subject: string,
  issuer: Identity | undefined,
  extensions: x509.Extension[],
): Promise<Identity> {
  const key = newKey();
  const certificate = await x509.X509CertificateGenerator.create(
    {
      // The first bit is 0: a serial number is positive.
      serialNumber: `0${randomBytes(8).toString('hex').slice(1)}`,
      subject,
      issuer: issuer?.certificate.subject ?? subject,
      notBefore: new Date(Date.now() - SKEW),
      notAfter: new Date(Date.now() + YEAR),
      signingAlgorithm: ALGORITHM,
      publicKey: (await asPair(key)).publicKey,
      signingKey: (await asPair(issuer?.key ?? key)).privateKey,
      extensions,
    },
    webcrypto,
  );
  return { certificate, key };
}

// Elliptic curves: generating an RSA key takes up to a second.
const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: ALGORITHM.namedCurve }).privateKey;

async function asPair(key: KeyObject): Promise<webcrypto.CryptoKeyPair> {
  const { subtle } = webcrypto;
  const bytes = key.export({ type: 'pkcs8', format: 'der' });
  const privateKey = await subtle.importKey('pkcs8', bytes, ALGORITHM, true, ['sign']);
  const { kty, crv, x, y } = await subtle.exportKey('jwk', privateKey);
  const publicKey = await subtle.importKey(
    'jwk',
    { kty, crv, x, y } as webcrypto.JsonWebKey,
    ALGORITHM,
    true,
    ['verify'],
  );
  return { privateKey, publicKey };
}

/** The API server reads the key of service accounts only in this form (SEC 1). */
const writeKey = (folder: string, name: string, key: KeyObject) =>
  writeFile(join(folder, `${name}.key`), key.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 });
