import { systemClock } from '../../../../operator/base/clock';
import { ARCHIVE_SIZE } from '../../../../operator/base/limits';
import { DownloadFailed } from '../../../../operator/sync/community/download';
import { fetchPackage, type Source } from '../../../../operator/sync/community/preparation';
import { RepositoryRefused } from '../../../../operator/sync/community/errors';
import { CodeHost } from '../../../../sandbox/code-host';
import { repositoryZip, zip } from '../../../../sandbox/zip';
import { unbounded } from '../../../../operator/base/bounded-task';

let host: CodeHost;

beforeEach(async () => (host = await CodeHost.start()));
afterEach(() => host.stop());

const REPOSITORY = 'someone/shelf';
const { signal } = new AbortController();

/** Returns target, provides and the contents of the files. */
async function fetched(category: Source['category'], ref = 'v1', token?: string) {
  const source = { codeHost: host.url, repository: REPOSITORY, ref, category, token };
  const { files, ...others } = await fetchPackage({ clock: systemClock, texts: unbounded }, source, signal);
  return { ...others, files: Object.fromEntries([...files].map(([path, text]) => [path, text.toString()])) };
}

const attach = (name: string, content: Buffer, ref = 'v1') =>
  host.serveAt(`/${REPOSITORY}/releases/download/${ref}/${name}`, content);
const archiveOf = (files: Readonly<Record<string, string>>) =>
  zip(Object.entries(files).map(([name, content]) => ({ name, content })));
const paths = () => host.requests.map(({ path }) => path.slice(`/${REPOSITORY}/`.length));

const manifest = (version: string) => JSON.stringify({ domain: 'shelf', version });
const zipRelease = { 'hacs.json': JSON.stringify({ zip_release: true, filename: 'shelf.zip' }) };
const withSource = {
  ...zipRelease,
  'custom_components/shelf/manifest.json': manifest('0.0.0'),
};

describe('fetchPackage', () => {
  test('installs the archive that is attached to a release where the repository says so', async () => {
    host.serve(REPOSITORY, 'v1', repositoryZip(withSource));
    attach('shelf.zip', archiveOf({ 'manifest.json': manifest('1.0.0'), 'www/panel.js': 'built' }));
    expect(await fetched('integration', 'v1', 'hunter2')).toEqual({
      target: 'custom_components/shelf',
      isFile: false,
      provides: ['shelf'],
      files: { 'manifest.json': manifest('1.0.0'), 'www/panel.js': 'built' },
    });
    expect(paths()).toEqual(['archive/v1.zip', 'releases/download/v1/shelf.zip']);
    expect(host.requests.map(({ authorization }) => authorization)).toEqual([
      'Bearer hunter2',
      'Bearer hunter2',
    ]);
  });

  test('installs the files of the repository for a version without that attachment', async () => {
    host.serve(REPOSITORY, 'feature/x', repositoryZip(withSource));
    expect(await fetched('integration', 'feature/x')).toMatchObject({
      files: { 'manifest.json': manifest('0.0.0') },
    });
    expect(paths()).toEqual([
      'archive/feature/x.zip',
      'releases/download/feature%2Fx/shelf.zip',
      'archive/feature/x.zip',
    ]);
  });

  test('installs the script that is attached to a release of a plugin that has to be built', async () => {
    host.serve(REPOSITORY, 'v1', repositoryZip({ 'src/shelf.ts': '' }));
    attach('shelf-bundle.js', Buffer.from('built'));
    expect(await fetched('plugin')).toEqual({
      target: 'www/community/shelf',
      isFile: false,
      provides: ['/local/community/shelf/shelf-bundle.js'],
      files: { 'shelf-bundle.js': 'built' },
    });
  });

  test('downloads no attachment for files that the repository has', async () => {
    host.serve(REPOSITORY, 'v1', repositoryZip({ 'dist/shelf.js': 'own' }));
    attach('shelf.js', Buffer.from('attached'));
    expect(await fetched('plugin')).toMatchObject({ files: { 'shelf.js': 'own' } });
    expect(paths()).toEqual(['archive/v1.zip']);
  });

  test('reports which attachment is missing, and is not retried immediately', async () => {
    host.serve(REPOSITORY, 'v1', repositoryZip(zipRelease));
    const error: unknown = await fetched('integration').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DownloadFailed);
    expect(error).toMatchObject({
      isTransient: false,
      message:
        'The repository offers its files as shelf.zip attached to its releases (zip_release in hacs.json), ' +
        'and the release v1 has no such attachment: set spec.ref to the tag of a release that has it.',
    });
  });

  test('an attachment that the code host cannot deliver at the moment is not replaced by other files', async () => {
    host.serve(REPOSITORY, 'v1', repositoryZip(withSource));
    host.serveAt(`/${REPOSITORY}/releases/download/v1/shelf.zip`, (_, response) =>
      response.writeHead(503).end(),
    );
    await expect(fetched('integration')).rejects.toMatchObject({ isTransient: true });
    expect(paths()).toHaveLength(2);
  });

  test.each([
    ['no archive', Buffer.from('<html>'), RepositoryRefused, 'cannot be read'],
    [
      'a path out of its folder',
      archiveOf({ 'manifest.json': manifest('1'), '../x.py': '' }),
      RepositoryRefused,
      'invalid relative path',
    ],
    [
      'the folder of the repository',
      archiveOf({ 'custom_components/shelf/manifest.json': manifest('1') }),
      RepositoryRefused,
      'The attachment shelf.zip has no manifest.json',
    ],
    [
      'more bytes than are accepted',
      Buffer.alloc(ARCHIVE_SIZE + 1),
      DownloadFailed,
      'The attachment shelf.zip has more than 32 MiB',
    ],
  ])('an attachment with %s is refused', async (_, content, type, words) => {
    host.serve(REPOSITORY, 'v1', repositoryZip(zipRelease));
    attach('shelf.zip', content);
    const error: unknown = await fetched('integration').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(type);
    expect((error as Error).message).toContain(words);
  });
});
