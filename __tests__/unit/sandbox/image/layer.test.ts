import { extract } from 'tar-stream';
import { packLayer } from '../../../../sandbox/image/layer';

const files = [
  { path: '/b/c/d', content: 'two' },
  { path: '/a', content: Buffer.from('one'), mode: 0o755 },
];

describe('packLayer', () => {
  test('packs the directories above the files first, and only root may write', async () => {
    const { tar } = await packLayer(files);
    const entries: string[] = [];
    const reader = extract();
    reader.on('entry', ({ name, type, mode, uid, gid }, stream, next) => {
      entries.push(`${type} ${name} ${mode?.toString(8)} ${uid}:${gid}`);
      stream.on('end', next).resume();
    });
    reader.end(tar);
    await new Promise<void>((resolve) => reader.on('finish', () => resolve()));
    expect(entries).toEqual([
      'directory b/ 755 0:0',
      'directory b/c/ 755 0:0',
      'file a 755 0:0',
      'file b/c/d 644 0:0',
    ]);
  });

  test('has the same digest for the same files in any order', async () => {
    const { digest } = await packLayer(files);
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect((await packLayer([...files].reverse())).digest).toBe(digest);
    expect((await packLayer([{ path: '/a', content: 'other' }])).digest).not.toBe(digest);
  });
});
