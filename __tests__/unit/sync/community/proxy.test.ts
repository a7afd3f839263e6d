import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { issueCertificate } from '../../../../operator/webhook/certificate/issue';
import { repository } from '../../../../sandbox/image/bundle';

// A code host that can only be reached through the proxy, with a certificate of a private CA. Node.js reads
// both variables when it starts, so each download runs in a separate process.

const HOST = 'code.invalid';

const download = `
  const { downloadArchive } = require('${repository}/operator/sync/community/download.ts');
  const { systemClock } = require('${repository}/operator/base/clock.ts');
  const request = { codeHost: 'https://${HOST}', repository: 'owner/name', ref: 'v1', token: undefined };
  downloadArchive(systemClock, request).then(
    (archive) => console.log(String(archive)),
    (error) => console.log(error.message),
  );`;

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
};

let folder: string;
let codeHost: ReturnType<typeof createServer>;
let proxy: ReturnType<typeof createProxy>;
let proxyUrl: string;
const tunnels: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proxy-'));
  const { ca, certificate, key } = issueCertificate(HOST, Date.now());
  await writeFile(join(folder, 'ca.crt'), ca);
  codeHost = createServer({ cert: certificate, key }, (_, response) => response.end('an archive'));
  const port = await listening(codeHost);
  proxy = createProxy().on('connect', ({ url }, client) => {
    tunnels.push(url!);
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    for (const end of [upstream, client]) end.on('error', () => undefined);
  });
  proxyUrl = `http://127.0.0.1:${await listening(proxy)}`;
});

afterAll(async () => {
  codeHost.close();
  proxy.close();
  await rm(folder, { recursive: true });
});

async function outcome(environment: Readonly<Record<string, string>>): Promise<string> {
  const args = ['--require', 'tsx/cjs', '--eval', download];
  const { PATH } = process.env;
  const options = { cwd: repository, env: { PATH, ...environment } };
  return (await promisify(execFile)(process.execPath, args, options)).stdout.trim();
}

test('a code host is reached through the proxy of the environment, and trusted by a private CA', async () => {
  const trusted = { NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt') };
  expect(await outcome({ ...trusted, HTTPS_PROXY: proxyUrl })).toBe('an archive');
  expect(tunnels).toEqual([`${HOST}:443`]);

  expect(await outcome({ ...trusted, HTTPS_PROXY: proxyUrl, NO_PROXY: '.invalid' })).toContain(
    'does not answer',
  );
  expect(tunnels).toHaveLength(1);

  expect(await outcome({ HTTPS_PROXY: proxyUrl })).toContain('certificate');
});
