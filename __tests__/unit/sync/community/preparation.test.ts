import { systemClock } from '../../../../operator/base/clock';
import { DOWNLOAD_REJECTED_RETRY, DOWNLOAD_RETRY } from '../../../../operator/base/limits';
import { type Preparation, Preparations } from '../../../../operator/sync/community/preparation';
import { digestOf } from '../../../../operator/sync/community/repository-package';
import { RepositoryRefused } from '../../../../operator/sync/community/errors';
import { CodeHost } from '../../../../sandbox/code-host';
import { repositoryZip } from '../../../../sandbox/zip';
import { ManualClock } from '../../manual-clock';
import { unbounded } from '../../../../operator/base/bounded-task';

let host: CodeHost;

beforeEach(async () => (host = await CodeHost.start()));
afterEach(() => host.stop());

const source = (ref: string) => ({
  codeHost: host.url,
  repository: 'o/n',
  ref,
  category: 'template' as const,
  token: undefined,
});
const template = repositoryZip({ 'a.jinja': 'hello' });

const metadata = { namespace: 'home', uid: 'uid' };

/** Repeats the request until the preparation has ended. */
async function ended(preparations: Preparations, key: string, ref: string): Promise<Preparation> {
  let end!: () => void;
  const over = new Promise<void>((resolve) => (end = resolve));
  const state = preparations.prepare(metadata, key, source(ref), end);
  if (state.type !== 'running') return state;
  await over;
  return preparations.prepare(metadata, key, source(ref), () => undefined);
}

describe('Preparations', () => {
  test('downloads and unpacks a repository once for each request', async () => {
    host.serve('o/n', 'v1', template);
    const preparations = new Preparations({ clock: systemClock, texts: unbounded });
    const first = await ended(preparations, '1', 'v1');
    expect(first).toMatchObject({ type: 'ready', package: { target: 'custom_templates/a.jinja' } });
    expect(await ended(preparations, '1', 'v1')).toBe(first);
    expect(host.requests).toHaveLength(1);
    await ended(preparations, '2', 'v1');
    expect(host.requests).toHaveLength(2);
    preparations.forget('uid');
    await ended(preparations, '2', 'v1');
    expect(host.requests).toHaveLength(3);
  });

  test('caches refusals: forever for the contents of an archive, for a while for an answer of the host', async () => {
    const clock = new ManualClock();
    const preparations = new Preparations({ clock, texts: unbounded });
    expect(await ended(preparations, '1', 'v1')).toMatchObject({
      type: 'failed',
      retryAfter: DOWNLOAD_REJECTED_RETRY,
    });
    await clock.advance(DOWNLOAD_REJECTED_RETRY - 1);
    await ended(preparations, '1', 'v1');
    expect(host.requests).toHaveLength(1);
    await clock.advance(1);
    host.serve('o/n', 'v1', (_, response) => response.writeHead(503).end());
    expect(await ended(preparations, '1', 'v1')).toMatchObject({ retryAfter: DOWNLOAD_RETRY });
    await clock.advance(DOWNLOAD_RETRY);
    host.serve('o/n', 'v1', Buffer.from('no archive'));
    expect(await ended(preparations, '1', 'v1')).toMatchObject({
      error: expect.any(RepositoryRefused) as unknown,
    });
    await clock.advance(1_000 * DOWNLOAD_RETRY);
    await ended(preparations, '1', 'v1');
    expect(host.requests).toHaveLength(3);
  });

  test('aborts a download that is no longer asked for, and starts none after its end', async () => {
    const preparations = new Preparations({ clock: systemClock, texts: unbounded });
    const closed = new Promise<void>((resolve) =>
      host.serve('o/n', 'v1', (request) => void request.on('close', resolve)),
    );
    preparations.prepare(metadata, '1', source('v1'), () => undefined);
    while (host.requests.length === 0) await new Promise(setImmediate);
    preparations.close();
    await closed;
    expect(preparations.prepare(metadata, '2', source('v1'), () => undefined)).toEqual({ type: 'running' });
    expect(host.requests).toHaveLength(1);
  });

  test('gives each namespace its turn, regardless of the number of repositories of others', async () => {
    const begun: string[] = [];
    for (const ref of ['home-1', 'home-2', 'home-3', 'home-4', 'garden-1', 'garden-2'])
      host.serve('o/n', ref, (_, response) => {
        begun.push(ref);
        response.end(template);
      });
    const preparations = new Preparations({ clock: systemClock, texts: unbounded });
    const ends = ['home-1', 'home-2', 'home-3', 'home-4', 'garden-1', 'garden-2'].map(
      (ref) =>
        new Promise<void>((resolve) => {
          const [namespace = ''] = ref.split('-');
          preparations.prepare({ namespace, uid: ref }, '1', source(ref), resolve);
        }),
    );
    await Promise.all(ends);
    expect(begun).toEqual(['home-1', 'home-2', 'garden-1', 'home-3', 'garden-2', 'home-4']);
  });

  test('forgets files on request, but no failure', async () => {
    host.serve('o/n', 'v1', template);
    const preparations = new Preparations({ clock: systemClock, texts: unbounded });
    await ended(preparations, '1', 'v1');
    preparations.forgetFiles('uid');
    await ended(preparations, '1', 'v1');
    expect(host.requests).toHaveLength(2);
    const error = new RepositoryRefused('It is refused.');
    preparations.refuse('uid', error);
    preparations.forgetFiles('uid');
    expect(await ended(preparations, '1', 'v1')).toEqual({ type: 'failed', error });
    expect(host.requests).toHaveLength(2);
  });

  test('the digest is that of the list that sha256sum prints', () => {
    const files = new Map([
      ['b.txt', Buffer.from('b')],
      ['a/é.txt', Buffer.from('a')],
    ]);
    // (cd dir && find * -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)
    expect(digestOf(files)).toBe('sha256:1878a21425e60cb744df1d23724ff79b709018fb1f622fc15e586c9670aee892');
    expect(digestOf(new Map([...files].reverse()))).toBe(digestOf(files));
  });
});
