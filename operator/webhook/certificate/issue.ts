import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { WEBHOOK_CERTIFICATE_LIFETIME, WEBHOOK_CLOCK_SKEW } from '../../base/limits';
import { bits, der, integer, objectId, octets, sequence, set, tagged, time, truth, utf8 } from './der';

/** A certificate of a server and the CA that signed it, as PEM. */
export interface IssuedCertificate {
  readonly certificate: string;
  /** PKCS #8 */
  readonly key: string;
  readonly ca: string;
}

const ECDSA_WITH_SHA256 = sequence(objectId('1.2.840.10045.4.3.2'));
const COMMON_NAME = objectId('2.5.4.3');
const SERVER_AUTH = objectId('1.3.6.1.5.5.7.3.1');
const VERSION_3 = tagged(0, integer(Buffer.from([2])));

/** Extensions of RFC 5280, section 4.2.1. */
const extension = {
  subjectKeyId: (id: Buffer) => extensionOf('2.5.29.14', octets(id)),
  keyCertSign: () => extensionOf('2.5.29.15', bits(Buffer.from([0x04]), 2), true),
  digitalSignature: () => extensionOf('2.5.29.15', bits(Buffer.from([0x80]), 7), true),
  host: (host: string) => extensionOf('2.5.29.17', sequence(generalName(host))),
  /** A CA that signs server certificates only, no further CA. */
  ca: () => extensionOf('2.5.29.19', sequence(truth(), integer(Buffer.from([0]))), true),
  noCa: () => extensionOf('2.5.29.19', sequence(), true),
  authorityKeyId: (id: Buffer) => extensionOf('2.5.29.35', sequence(der(0x80, id))),
  serverAuth: () => extensionOf('2.5.29.37', sequence(SERVER_AUTH)),
};

/**
 * Makes a CA and a server certificate that it signs. The key of the CA is not kept: the next certificate has
 * another CA, and a key that is stolen from the Secret cannot sign anything. No small library does this: the
 * known ones include a parser of all of ASN.1.
 *
 * @param host name or IP address that the API server calls
 * @param now milliseconds since the epoch
 */
export function issueCertificate(host: string, now: number): IssuedCertificate {
  const [caKeys, keys] = [keyPair(), keyPair()];
  const validity = sequence(time(now - WEBHOOK_CLOCK_SKEW), time(now + WEBHOOK_CERTIFICATE_LIFETIME));
  const issuer = name(`hub-operator webhook CA ${new Date(now).toISOString()}`);
  const caKeyId = keyId(caKeys.publicKey);
  const signed = { issuer, validity, signingKey: caKeys.privateKey };
  const ca = certificateOf({
    ...signed,
    subject: issuer,
    publicKey: caKeys.publicKey,
    extensions: [extension.ca(), extension.keyCertSign(), extension.subjectKeyId(caKeyId)],
  });
  const certificate = certificateOf({
    ...signed,
    subject: name('hub-operator webhook'),
    publicKey: keys.publicKey,
    extensions: [
      extension.noCa(),
      extension.digitalSignature(),
      extension.serverAuth(),
      extension.host(host),
      extension.authorityKeyId(caKeyId),
    ],
  });
  const key = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim();
  return { certificate, key, ca };
}

interface Content {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly validity: Buffer;
  readonly publicKey: KeyObject;
  readonly signingKey: KeyObject;
  readonly extensions: readonly Buffer[];
}

function certificateOf({ issuer, subject, validity, publicKey, signingKey, extensions }: Content): string {
  // A serial number must be positive and unique.
  const serial = integer(Buffer.concat([Buffer.from([1]), randomBytes(15)]));
  const content = sequence(
    VERSION_3,
    serial,
    ECDSA_WITH_SHA256,
    issuer,
    validity,
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(...extensions)),
  );
  const signature = sign('sha256', content, signingKey);
  return pem(sequence(content, ECDSA_WITH_SHA256, bits(signature)));
}

const keyPair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

const name = (text: string): Buffer => sequence(set(sequence(COMMON_NAME, utf8(text))));

const keyId = (key: KeyObject): Buffer =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();

function extensionOf(id: string, value: Buffer, isCritical = false): Buffer {
  return sequence(objectId(id), ...(isCritical ? [truth()] : []), octets(value));
}

/** The encoding of a DNS name or an IP address. */
function generalName(host: string): Buffer {
  switch (isIP(host)) {
    case 4:
      return der(0x87, Buffer.from(host.split('.').map(Number)));
    case 6:
      return der(0x87, ipv6Bytes(host));
    default:
      return der(0x82, Buffer.from(host));
  }
}

function ipv6Bytes(address: string): Buffer {
  // The canonical form has no IPv4 part: [::ffff:102:304]
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (part = '') => part.split(':').filter((group) => group !== '');
  const zeros = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array<string>(zeros).fill('0'), ...groups(tail)];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

function pem(content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g)!;
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----'].join('\n');
}
