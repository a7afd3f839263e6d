import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PREPARE_CONFIG, PROBE } from '../../../operator/sync/hub-pod/scripts';
import { freePort } from '../../../sandbox/ports';
import { runPython } from '../../cluster/python-script';

// Settings of the web server in a volume or a backup, and how the programs in the hub's image treat them.

const PORT = 8123;
const kept = { server_port: PORT, cors_allowed_origins: ['https://a.example'], ip_ban_enabled: true };

let config: string;
let file: string;
const servers: Server[] = [];
const sockets = new Set<Socket>();

beforeEach(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'stored-http-'));
  config = join(directory, 'config');
  file = join(config, '.storage', 'http');
  await mkdir(join(config, '.storage'), { recursive: true });
  await mkdir(join(directory, 'configuration'));
  await mkdir(join(directory, 'secrets'));
});
afterEach(async () => {
  await closeAll();
  await rm(join(config, '..'), { recursive: true });
});

const stored = (stable: object, pending: object | null = null) => ({
  version: 3,
  key: 'http',
  data: { stable, pending, yaml_migration_done: true },
});

const readStored = async () => JSON.parse(await readFile(file, 'utf8')) as unknown;
const copy = () => readFile(`${file}.before-hub-operator`, 'utf8');

/** Runs the start of a pod, which is refused since there is no configuration. */
async function prepare(text: string): Promise<string> {
  await writeFile(file, text);
  const places = ['configuration', 'secrets', 'report', 'allow'].map((name) => join(config, '..', name));
  const { output } = await runPython(
    PREPARE_CONFIG,
    config,
    ...places,
    String(PORT),
    join(config, '..', 'delivery'),
    join(config, '..', 'parts'),
  );
  return output;
}

describe('the start of a pod', () => {
  test.each([
    ['another port, as on Home Assistant OS', { server_port: 80 }],
    ['a certificate', { ssl_certificate: '/ssl/fullchain.pem', ssl_key: '/ssl/privkey.pem' }],
    ['certificates of visitors', { ssl_peer_certificate: '/ssl/ca.pem' }],
    ['one address', { server_host: ['127.0.0.1', '192.0.2.1'] }],
  ])('resets %s and keeps the file beside', async (_name, settings) => {
    const before = JSON.stringify(stored({ ...kept, ...settings }));
    const names = Object.keys(settings).join(', ');
    expect(await prepare(before)).toContain(`set back in .storage/http: ${names}\n`);
    expect(await readStored()).toEqual(stored(kept));
    expect(await copy()).toBe(before);
  });

  test('resets the settings of a hub before 2026.8, which had no trial', async () => {
    await prepare(JSON.stringify({ version: 1, key: 'http', data: { ...kept, server_port: 443 } }));
    expect(await readStored()).toEqual({ version: 1, key: 'http', data: kept });
  });

  test.each([
    ['of a hub that is reached', JSON.stringify(stored(kept))],
    ['with all addresses', JSON.stringify(stored({ ...kept, server_host: ['::', '192.0.2.1'] }))],
    // The hub reverts these itself.
    ['with other settings on trial', JSON.stringify(stored(kept, { ...kept, server_port: 80 }))],
    ['that a power loss has cut off', '{"version": 3, "da'],
    ['of another form', '{"data": {"stable": ["x"]}}'],
    ['that is a list', '[]'],
  ])('leaves a file %s unchanged', async (_name, text) => {
    expect(await prepare(text)).not.toContain('set back');
    expect(await readFile(file, 'utf8')).toBe(text);
    await expect(copy()).rejects.toThrow('ENOENT');
  });
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()); // the probe has closed the connection
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  return (server.address() as AddressInfo).port;
}

async function closeAll(): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
}

const alive = { code: 0, output: '' };
const live = (port: number, script = PROBE) => runPython(script, String(port), 'live', config);

describe('the liveness probe', () => {
  test('of a hub that listens at another port by its stored settings: it resets them, and fails until that hub has ended', async () => {
    const port = await freePort();
    const elsewhere = await listen(createServer());
    await writeFile(file, JSON.stringify(stored({ ...kept, server_port: elsewhere })));
    expect(await live(port)).toMatchObject({
      code: 1,
      output: expect.stringContaining('; set back in .storage/http: server_port') as string,
    });
    expect(await readStored()).toEqual(stored({ ...kept, server_port: port }));
    expect(await live(port)).toMatchObject({ code: 1 });
    await closeAll();
    expect(await live(port)).toEqual(alive);
  });

  test('of a hub that is down and has such settings: it succeeds, since a backup may be being restored', async () => {
    const port = await freePort();
    const before = JSON.stringify(stored({ ...kept, server_port: await freePort() }));
    await writeFile(file, before);
    expect(await live(port)).toEqual(alive);
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  test('of a hub that has settings on trial: it changes nothing', async () => {
    const port = await freePort();
    const elsewhere = await listen(createServer());
    const before = stored({ ...kept, server_port: port }, { ...kept, server_port: elsewhere });
    await writeFile(file, JSON.stringify(before));
    expect(await live(port)).toEqual(alive);
    expect(await readStored()).toEqual(before);
  });

  test('of a hub with TLS: it resets the certificate', async () => {
    const port = await listen(createServer((socket) => socket.end('\x15\x03\x01\x00\x02\x02')));
    const settings = { ssl_certificate: '/ssl/a.pem', ssl_key: '/ssl/b.pem', server_port: port };
    await writeFile(file, JSON.stringify(stored({ ...kept, ...settings })));
    expect(await live(port)).toMatchObject({
      code: 1,
      output: 'the hub does not answer in HTTP; set back in .storage/http: ssl_certificate, ssl_key\n',
    });
    expect(await readStored()).toEqual(stored({ ...kept, server_port: port }));
  });

  test('of a hub beside another program of its node at that port: it succeeds', async () => {
    const port = await freePort();
    const elsewhere = await listen(createServer());
    await writeFile(file, JSON.stringify(stored({ ...kept, server_port: elsewhere })));
    // As in a container, no visible process has the socket.
    const seen = `import glob\nglob.iglob = lambda _: ["/proc/self/fd/0", "/proc/self/fd/999"]\n`;
    expect(await live(port, seen + PROBE)).toEqual(alive);
  });
});
