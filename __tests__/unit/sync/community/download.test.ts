import { systemClock } from '../../../../operator/base/clock';
import { ARCHIVE_SIZE, DOWNLOAD_REDIRECTS, DOWNLOAD_TIMEOUT } from '../../../../operator/base/limits';
import { archiveUrl, downloadArchive, DownloadFailed } from '../../../../operator/sync/community/download';
import { CodeHost, redirectTo } from '../../../../sandbox/code-host';
import { ManualClock } from '../../manual-clock';

let host: CodeHost;
let other: CodeHost;

beforeEach(async () => {
  host = await CodeHost.start();
  other = await CodeHost.start();
});
afterEach(async () => {
  await host.stop();
  await other.stop();
});

const request = (token?: string) => ({ codeHost: host.url, repository: 'owner/name', ref: 'v1', token });
const download = (token?: string) => downloadArchive(systemClock, request(token));
const failure = async (token?: string) => {
  const error: unknown = await download(token).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DownloadFailed);
  return error as DownloadFailed;
};
const archive = Buffer.from('an archive');

describe('downloadArchive', () => {
  test('downloads from the path that GitHub, Gitea and Forgejo use', async () => {
    host.serve('owner/name', 'v1', archive);
    expect(await download()).toEqual(archive);
    expect(host.requests).toEqual([{ path: '/owner/name/archive/v1.zip', authorization: undefined }]);
  });

  test('sends the token to the code host and never to where it redirects', async () => {
    host.serve('owner/name', 'v1', redirectTo('/moved/name/archive/v1.zip'));
    host.serve('moved/name', 'v1', redirectTo(`${other.url}/stored`));
    other.serveAt('/stored', redirectTo(`${host.url}/last`));
    host.serveAt('/last', archive);
    expect(await download('hunter2')).toEqual(archive);
    expect(host.requests.map(({ authorization }) => authorization)).toEqual([
      'Bearer hunter2',
      'Bearer hunter2',
      'Bearer hunter2',
    ]);
    expect(other.requests).toEqual([{ path: '/stored', authorization: undefined }]);
  });

  test('follows a few redirects and no more', async () => {
    host.serve('owner/name', 'v1', redirectTo('/1'));
    for (let step = 1; step < DOWNLOAD_REDIRECTS; step++)
      host.serveAt(`/${step}`, redirectTo(`/${step + 1}`));
    host.serveAt(`/${DOWNLOAD_REDIRECTS}`, archive);
    expect(await download()).toEqual(archive);
    host.serveAt(`/${DOWNLOAD_REDIRECTS}`, redirectTo('/1'));
    expect((await failure()).message).toContain(`more than ${DOWNLOAD_REDIRECTS} times`);
  });

  test.each(['file:///etc/passwd', 'ftp://127.0.0.1/x', 'http://user:word@127.0.0.1/x', 'http://'])(
    'refuses a redirect to %s',
    async (location) => {
      host.serve('owner/name', 'v1', redirectTo(location));
      expect((await failure()).message).toContain('an address that is not accepted');
    },
  );

  test.each([
    [404, undefined, 'set spec.tokenSecretRef for a private repository', false],
    [404, 'hunter2', 'the token of spec.tokenSecretRef may read', false],
    [401, undefined, 'HTTP 401', false],
    [429, undefined, 'tried again', true],
    [503, undefined, 'tried again', true],
    [418, undefined, 'HTTP 418', false],
  ])('reports the answer %i', async (status, token, words, isTransient) => {
    host.serve('owner/name', 'v1', (_, response) => response.writeHead(status).end('hunter2'));
    const error = await failure(token);
    expect(error.message).toContain(words);
    expect(error.message).not.toContain('hunter2');
    expect(error.isTransient).toBe(isTransient);
  });

  test('aborts a download that is too large, even if its size is not announced', async () => {
    let sent = 0;
    const piece = Buffer.alloc(1024 * 1024);
    host.serve('owner/name', 'v1', (_, response) => {
      const send = () => {
        sent += piece.length;
        if (!response.destroyed && sent < 3 * ARCHIVE_SIZE) response.write(piece, send);
      };
      send();
    });
    const error = await failure();
    expect(error.message).toContain(`more than ${ARCHIVE_SIZE / 1024 / 1024} MiB`);
    expect(error.isTransient).toBe(false);
    expect(sent).toBeLessThan(3 * ARCHIVE_SIZE);
  });

  test('reports a connection that breaks, and a host that does not answer, as transient', async () => {
    host.serve('owner/name', 'v1', (_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    });
    expect(await failure()).toMatchObject({ isTransient: true });
    const gone = request();
    await host.stop();
    await expect(downloadArchive(systemClock, gone)).rejects.toMatchObject({ isTransient: true });
    host = await CodeHost.start();
  });

  test('gives up a host that hangs', async () => {
    const clock = new ManualClock();
    const asked = new Promise<void>((resolve) => host.serve('owner/name', 'v1', () => resolve()));
    const error = downloadArchive(clock, request()).catch((thrown: unknown) => thrown);
    await asked;
    await clock.advance(DOWNLOAD_TIMEOUT);
    expect(await error).toMatchObject({
      isTransient: true,
      message: expect.stringContaining('within 120 s'),
    });
  });

  test('a redirect to this machine is refused, unless the code host itself is there', async () => {
    host.serve('owner/name', 'v1', redirectTo(`${other.url}/metadata`));
    other.serveAt('/metadata', archive);
    expect(await download()).toEqual(archive);
    const byName = { ...request(), codeHost: host.url.replace('127.0.0.1', 'localhost') };
    await expect(downloadArchive(systemClock, byName)).rejects.toThrow('loopback or link-local');
  });

  test('the URL keeps the slashes of a ref and the path of a mirror, and encodes the rest', () => {
    const mirror = { codeHost: 'https://mirror.example/git', repository: 'o/n', ref: 'refs/tags/v1+2' };
    expect(archiveUrl(mirror).href).toBe('https://mirror.example/git/o/n/archive/refs/tags/v1%2B2.zip');
  });
});
