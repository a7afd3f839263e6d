import { checkCertificate } from '../../../../operator/webhook/certificate/check';
import { certificate as selfSigned, privateKey } from '../../client/certificate';
import { HOST, issueCertificate, tlsSecret } from './authority';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const now = Date.UTC(2026, 0, 1);
const check = (secret: Parameters<typeof checkCertificate>[0], at = now, host: string | undefined = HOST) =>
  checkCertificate(secret, { host, now: at });
const problemOf = (...args: Parameters<typeof check>): string => {
  const checked = check(...args);
  return checked.type === 'invalid' ? checked.problem : 'valid';
};

describe('checkCertificate', () => {
  test('what the operator issues is valid for 90 days and due after two thirds of them', () => {
    const issued = issueCertificate(HOST, now);
    const checked = check(tlsSecret(issued));
    if (checked.type === 'invalid') throw new Error(checked.problem);
    expect(checked.serving.notAfter).toBe(now + 90 * DAY);
    expect(Math.abs(checked.serving.renewAt - (now + 60 * DAY))).toBeLessThan(HOUR);
    expect(checked.serving.ca).toBe(issued.ca);
  });

  test.each([HOST, '127.0.0.1', 'fd00::1'])('it is valid only for %s', (host) => {
    const secret = tlsSecret(issueCertificate(host, now));
    expect(problemOf(secret, now, host)).toBe('valid');
    expect(problemOf(secret, now, 'other.svc')).toBe('it is not for other.svc');
  });

  test('it is valid for an API server whose clock is an hour slow, and no longer at its end', () => {
    const secret = tlsSecret(issueCertificate(HOST, now));
    expect(problemOf(secret, now - HOUR)).toBe('valid');
    expect(problemOf(secret, now - HOUR - 1_000)).toContain('is not valid before');
    expect(problemOf(secret, now + 90 * DAY - 1_000)).toBe('valid');
    expect(problemOf(secret, now + 90 * DAY)).toContain('it was valid until');
  });

  test('each certificate has its own CA, and one of another CA is refused', () => {
    const [one, other] = [issueCertificate(HOST, now), issueCertificate(HOST, now)];
    expect(problemOf(tlsSecret({ ...one, ca: other.ca }))).toBe('ca.crt does not begin with its CA');
    expect(problemOf(tlsSecret({ ...one, ca: `${one.ca}\n${other.ca}` }))).toBe('valid');
    expect(problemOf(tlsSecret({ ...one, key: other.key }))).toBe('tls.key is not the key of tls.crt');
  });

  test('an expired CA is not registered in the API server', () => {
    const former = issueCertificate(HOST, now - 91 * DAY);
    expect(problemOf(tlsSecret({ ...issueCertificate(HOST, now), ca: former.ca }))).toContain(
      'ca.crt was valid until',
    );
  });

  test('a damaged Secret is reported in words', () => {
    const issued = issueCertificate(HOST, now);
    const secret = tlsSecret(issued);
    expect(problemOf(undefined)).toBe('there is no such Secret');
    expect(problemOf({ metadata: secret.metadata })).toBe('tls.crt has no certificate');
    expect(problemOf(tlsSecret({ ...issued, certificate: 'garbage' }))).toBe('tls.crt has no certificate');
    const garbage = '-----BEGIN CERTIFICATE-----\ngarbage\n-----END CERTIFICATE-----';
    expect(problemOf(tlsSecret({ ...issued, certificate: garbage }))).not.toBe('valid');
    // The check does not read the chain, which OpenSSL refuses to serve.
    const chain = `${issued.certificate}\n${garbage}`;
    expect(problemOf(tlsSecret({ ...issued, certificate: chain }))).not.toBe('valid');
    expect(problemOf(tlsSecret({ ...issued, key: 'garbage' }))).not.toBe('valid');
    expect(problemOf(tlsSecret({ certificate: issued.certificate, key: issued.key }))).toBe(
      'ca.crt has no certificate',
    );
  });

  test('of a certificate that another program provides, only key and validity count', () => {
    const provided = tlsSecret({ certificate: selfSigned, key: privateKey });
    const at = Date.UTC(2027, 0, 1);
    expect(problemOf(provided, at)).toBe(`it is not for ${HOST}`);
    expect(checkCertificate(provided, { host: undefined, now: at })).toMatchObject({
      serving: { ca: '' },
    });
  });
});
