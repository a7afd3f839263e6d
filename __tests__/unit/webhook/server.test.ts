import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { largeTexts } from '../../../operator/base/turns';
import { NotAReview } from '../../../operator/webhook/admission-review';
import { type IssuedCertificate, issueCertificate } from '../../../operator/webhook/certificate/issue';
import { silentLog } from '../../cluster/silent-log';
import { AdmissionServer } from '../../../operator/webhook/server';
import { until } from '../until';

const HOST = '127.0.0.1';

let issued: IssuedCertificate;
let server: AdmissionServer;
const statuses: number[] = [];
const errors: unknown[] = [];
const answer = jest.fn<string, [Buffer]>();

beforeAll(async () => {
  issued = issueCertificate(HOST, Date.now());
  server = await AdmissionServer.listen(0, HOST, {
    answer,
    onAnswer: (status) => void statuses.push(status),
    onError: (error) => void errors.push(error),
    log: silentLog,
  });
  server.use(issued);
});

beforeEach(() => {
  statuses.length = 0;
  errors.length = 0;
  answer.mockReset().mockImplementation((body) => `answer to ${body.toString()}`);
});

afterAll(() => server.close());

async function send(body: string | Buffer, { path = '/validate', method = 'POST', ca = issued.ca } = {}) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const outgoing = httpsRequest(
      { host: HOST, port: server.port, path, method, ca, agent: false },
      (response) => {
        text(response).then((content) => resolve({ status: response.statusCode!, body: content }), reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

describe('AdmissionServer', () => {
  test('answers a review with status 200', async () => {
    expect(await send('{"a":"ä"}')).toEqual({ status: 200, body: 'answer to {"a":"ä"}' });
    expect(statuses).toEqual([200]);
  });

  test('a large review waits for its turn', async () => {
    const add = jest.spyOn(largeTexts, 'add').mockImplementation();
    const sent = send('x'.repeat(100_000));
    await until(() => add.mock.calls.length === 1);
    expect(await send('small')).toMatchObject({ status: 200 });
    expect(answer).toHaveBeenCalledTimes(1);
    add.mock.calls[0]![0]();
    expect(await sent).toMatchObject({ status: 200 });
    add.mockRestore();
  });

  test('a large review whose sender has gone when its turn comes is dropped', async () => {
    const add = jest.spyOn(largeTexts, 'add').mockImplementation();
    const close = jest.fn();
    server['server'].once('secureConnection', (socket) => socket.once('close', close));
    const { port } = server;
    const outgoing = httpsRequest({ host: HOST, port, path: '/validate', method: 'POST', ca: issued.ca });
    outgoing.on('error', () => undefined).end('x'.repeat(100_000));
    await until(() => add.mock.calls.length === 1);
    outgoing.destroy();
    await until(() => close.mock.calls.length === 1);
    add.mock.calls[0]![0]();
    await until(() => statuses.length === 1);
    expect(statuses).toEqual([400]);
    expect(answer).not.toHaveBeenCalled();
    expect(errors).toEqual([]);
    add.mockRestore();
  });

  test('a large review is not read while the process pauses after others, a small one is', async () => {
    let endRest!: () => void;
    const rested = jest
      .spyOn(largeTexts, 'rested')
      .mockImplementation(() => new Promise((resolve) => (endRest = resolve)));
    const take = jest.spyOn(largeTexts, 'take');
    const sent = send('x'.repeat(100_000));
    await until(() => rested.mock.calls.length === 1);
    expect(await send('small')).toMatchObject({ status: 200 });
    expect(take).toHaveBeenCalledTimes(1);
    endRest();
    expect(await sent).toMatchObject({ status: 200 });
    for (const mock of [rested, take]) mock.mockRestore();
  });

  test.each([
    ['another path', 404, { path: '/other' }],
    ['a GET', 405, { method: 'GET' }],
  ])('%s is refused', async (_, status, options) => {
    expect((await send('', options)).status).toBe(status);
    expect(answer).not.toHaveBeenCalled();
  });

  test('a request that is not a review is refused in words', async () => {
    answer.mockImplementation(() => {
      throw new NotAReview('cannot read the request: it is not JSON');
    });
    expect(await send('x')).toEqual({ status: 400, body: 'cannot read the request: it is not JSON\n' });
    expect(errors).toEqual([]);
  });

  test('a bug of a rule is an error of the server, so that the API server counts it and admits the object', async () => {
    answer.mockImplementation(() => {
      throw new TypeError('a bug');
    });
    expect((await send('x')).status).toBe(500);
    expect(errors).toEqual([new TypeError('a bug')]);
  });

  test('a body that is too long is refused, and the memory of the part that was read is released', async () => {
    const long = Buffer.alloc(7 * 1_024 * 1_024, 'x');
    for (let attempt = 0; attempt < 5; attempt++)
      // The connection may break before the answer is read.
      await send(long).then(
        ({ status }) => expect(status).toBe(413),
        () => undefined,
      );
    expect(statuses).toEqual([413, 413, 413, 413, 413]);
    expect((await send('short')).status).toBe(200);
  });

  test('a new certificate is served without a restart', async () => {
    const next = issueCertificate(HOST, Date.now());
    server.use(next);
    expect((await send('x', { ca: next.ca })).status).toBe(200);
    await expect(send('x')).rejects.toThrow();
    server.use(issued);
    expect((await send('x')).status).toBe(200);
  });

  test('a key that does not fit is refused, and the certificate stays', async () => {
    const other = issueCertificate(HOST, Date.now());
    expect(() => server.use({ certificate: issued.certificate, key: other.key })).toThrow();
    expect((await send('x')).status).toBe(200);
  });

  test('without a certificate no connection succeeds', async () => {
    const bare = await AdmissionServer.listen(0, HOST, {
      answer,
      onAnswer: () => {},
      onError: () => {},
      log: silentLog,
    });
    const socket = connect({ host: HOST, port: bare.port, rejectUnauthorized: false });
    await expect(
      new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject)),
    ).rejects.toThrow();
    await bare.close();
  });

  test('a port in use is named with the remedy', async () => {
    const options = {
      answer,
      onAnswer: () => {},
      onError: () => {},
      log: silentLog,
    };
    await expect(AdmissionServer.listen(server.port, HOST, options)).rejects.toThrow(
      `cannot listen on port ${server.port}: it is in use; choose another with --webhook-port, or 0 for a free one`,
    );
  });
});
