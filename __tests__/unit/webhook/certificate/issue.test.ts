import 'reflect-metadata'; // @peculiar/x509 expects this import
import { X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { issueCertificate } from '../../../../operator/webhook/certificate/issue';

const now = Date.UTC(2026, 0, 1);

describe('issueCertificate', () => {
  test.each([
    ['hub-operator-webhook.hub-operator.svc', 'DNS:hub-operator-webhook.hub-operator.svc'],
    [`${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.svc`, undefined],
    ['127.0.0.1', 'IP Address:127.0.0.1'],
    ['fd00::1', 'IP Address:FD00:0:0:0:0:0:0:1'],
    ['::1', 'IP Address:0:0:0:0:0:0:0:1'],
    ['::ffff:10.0.0.1', 'IP Address:0:0:0:0:0:FFFF:A00:1'],
  ])('for %s, OpenSSL reads and verifies the issued certificate', (host, alternativeName) => {
    const { certificate, key, ca } = issueCertificate(host, now);
    const leaf = new X509Certificate(certificate);
    const issuer = new X509Certificate(ca);
    expect(leaf.subjectAltName).toBe(alternativeName ?? `DNS:${host}`);
    expect(leaf.checkIssued(issuer)).toBe(true);
    expect(leaf.verify(issuer.publicKey)).toBe(true);
    expect([leaf.ca, issuer.ca]).toEqual([false, true]);
    expect(Date.parse(leaf.validFrom)).toBe(now - 3_600_000);
    expect(key).toContain('BEGIN PRIVATE KEY');
  });

  test('another ASN.1 parser finds the same extensions, and each serial number once', () => {
    const made = [1, 2].map(() => issueCertificate('w.svc', Date.UTC(2051, 0, 1)));
    const [leaf, other] = made.map(({ certificate }) => new x509.X509Certificate(certificate));
    const issuer = new x509.X509Certificate(made[0]!.ca);
    expect(leaf!.serialNumber).not.toBe(other!.serialNumber);
    expect(leaf!.notAfter.getUTCFullYear()).toBe(2051);
    expect(leaf!.issuer).toBe(issuer.subject);
    expect(issuer.getExtension(x509.BasicConstraintsExtension)).toMatchObject({
      ca: true,
      pathLength: 0,
      critical: true,
    });
    expect(leaf!.getExtension(x509.BasicConstraintsExtension)).toMatchObject({ ca: false, critical: true });
    expect(issuer.getExtension(x509.KeyUsagesExtension)!.usages).toBe(x509.KeyUsageFlags.keyCertSign);
    expect(leaf!.getExtension(x509.KeyUsagesExtension)!.usages).toBe(x509.KeyUsageFlags.digitalSignature);
    expect(leaf!.getExtension(x509.ExtendedKeyUsageExtension)!.usages).toEqual([
      x509.ExtendedKeyUsage.serverAuth,
    ]);
    expect(leaf!.getExtension(x509.AuthorityKeyIdentifierExtension)!.keyId).toBe(
      issuer.getExtension(x509.SubjectKeyIdentifierExtension)!.keyId,
    );
  });
});
