import { deflateRawSync } from 'node:zlib';
import { ARCHIVE_ENTRIES, ARCHIVE_RATIO, ARCHIVE_UNPACKED_SIZE } from '../../../../operator/base/limits';
import { readArchive } from '../../../../operator/sync/community/archive';
import { RepositoryRefused } from '../../../../operator/sync/community/errors';
import { DEVICE, LINK, NAMED_PIPE, repositoryZip, zip, type ZipEntry } from '../../../../sandbox/zip';

const root = (...entries: readonly ZipEntry[]) => zip([{ name: 'name-v1/' }, ...entries]);
const refusal = async (content: Buffer) => {
  const error: unknown = await readArchive(content).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(RepositoryRefused);
  return (error as Error).message;
};

describe('readArchive', () => {
  test('lists the entries below the one folder at the root, and reads them', async () => {
    const archive = await readArchive(repositoryZip({ 'README.md': 'hello', 'a/b.txt': 'deep' }));
    expect(archive.entries).toEqual([
      { path: 'README.md', type: 'file', size: 5 },
      { path: 'a/b.txt', type: 'file', size: 4 },
    ]);
    expect((await archive.read(archive.entries[1]!)).toString()).toBe('deep');
  });

  test.each([
    ['that leads out of its folder', '../evil.py', 'invalid relative path'],
    ['that leads out from within', 'name-v1/../../evil.py', 'invalid relative path'],
    ['that is absolute', '/etc/passwd', 'absolute path'],
    ['with a drive letter', 'C:/evil.py', 'absolute path'],
    ['with a backslash', 'name-v1\\evil.py', 'invalid characters'],
    ['with an empty part', 'name-v1//evil.py', 'is not accepted'],
    ['with a dot for a part', 'name-v1/./evil.py', 'is not accepted'],
    ['with a NUL', 'name-v1/a\0.py', 'is not accepted'],
    ['with a line break', 'name-v1/a\n.py', 'is not accepted'],
    ['that is written from right to left', 'name-v1/a\u202eyp.exe', 'is not accepted'],
    ['with a name of 300 bytes', `name-v1/${'x'.repeat(300)}`, 'is not accepted'],
    ['of 2,000 bytes', `name-v1/${'x/'.repeat(1_000)}y`, 'is not accepted'],
  ])('refuses a path %s', async (_, name, words) => {
    expect(await refusal(root({ name, content: 'x' }))).toContain(words);
  });

  test.each([
    ['device', DEVICE],
    ['named pipe', NAMED_PIPE],
    ['folder that calls itself a file', 0o040755],
  ])('refuses a %s', async (_, mode) => {
    expect(await refusal(root({ name: 'name-v1/odd', mode }))).toContain('neither a file nor a folder');
  });

  test('lists a link as such, with no way to follow it', async () => {
    const { entries } = await readArchive(root({ name: 'name-v1/link', content: '/etc/passwd', mode: LINK }));
    expect(entries).toEqual([{ path: 'link', type: 'link', size: 11 }]);
  });

  test('refuses more entries than are accepted, including the folder at the root', async () => {
    const entries = Array.from({ length: ARCHIVE_ENTRIES }, (_, index) => ({ name: `name-v1/${index}` }));
    expect(await refusal(root(...entries))).toBe(
      `The archive has ${ARCHIVE_ENTRIES + 1} entries, and at most ${ARCHIVE_ENTRIES} are accepted.`,
    );
    const { entries: accepted } = await readArchive(root(...entries.slice(1)));
    expect(accepted).toHaveLength(ARCHIVE_ENTRIES - 1);
  });

  test('refuses a file that unpacks to far more than its size', async () => {
    const zeros = Buffer.alloc(2 * 1024 * 1024);
    expect(deflateRawSync(zeros).length * ARCHIVE_RATIO).toBeLessThan(zeros.length);
    expect(await refusal(root({ name: 'name-v1/bomb', content: zeros }))).toContain('times its size');
  });

  test('refuses files that are too large in total, by their claimed sizes', async () => {
    const claimedSize = ARCHIVE_UNPACKED_SIZE / 2 + 1;
    const entries = ['a', 'b'].map((name) => ({ name: `name-v1/${name}`, content: 'x', claimedSize }));
    expect(await refusal(root(...entries))).toMatch(/times its size|MiB together/);
    const honest = ['a', 'b', 'c'].map((name) => ({
      name: `name-v1/${name}`,
      content: Buffer.alloc(100),
      claimedSize: 1024 * 1024,
    }));
    await expect(readArchive(root(...honest))).resolves.toBeDefined();
  });

  test('does not unpack more than the claimed size of an entry', async () => {
    const archive = await readArchive(
      root({ name: 'name-v1/liar', content: 'x'.repeat(100_000), claimedSize: 10 }),
    );
    await expect(archive.read(archive.entries[0]!)).rejects.toThrow(
      /"liar" in the archive is damaged: too many bytes/,
    );
  });

  test('refuses an encrypted file', async () => {
    expect(await refusal(root({ name: 'name-v1/secret', content: 'x', flags: 0x801 }))).toContain(
      'encrypted',
    );
  });

  test.each([
    ['a page of HTML', Buffer.from('<html>not found</html>')],
    ['nothing', Buffer.alloc(0)],
    ['half an archive', repositoryZip({ a: 'x'.repeat(1_000) }).subarray(0, 60)],
  ])('refuses %s', async (_, content) => {
    expect(await refusal(content)).toMatch(/^The archive cannot be read: /);
  });

  test('refuses an archive whose files are not in one folder', async () => {
    expect(await refusal(zip([{ name: 'a/x' }, { name: 'b/x' }]))).toContain('one folder at its root');
    expect(await refusal(zip([{ name: 'x' }]))).toContain('one folder at its root');
    expect(await refusal(zip([]))).toContain('one folder at its root');
  });

  test('refuses a damaged file when it is read', async () => {
    const content = repositoryZip({ 'a.py': 'print("hello, dear hub")' });
    content.fill(0xff, content.indexOf('a.py') + 4, content.indexOf('a.py') + 14);
    const archive = await readArchive(content);
    await expect(archive.read(archive.entries[0]!)).rejects.toThrow('is damaged');
  });
});
