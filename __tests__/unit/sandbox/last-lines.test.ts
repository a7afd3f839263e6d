import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastLines } from '../../../sandbox/last-lines';

describe('lastLines', () => {
  const folder = mkdtempSync(join(tmpdir(), 'last-lines-'));
  const file = join(folder, 'operator.log');
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    ['more lines', 'one\ntwo\nthree\n', ['two', 'three']],
    ['fewer lines', 'one\n', ['one']],
    ['nothing', '', ['']],
  ])('of a file with %s', async (_, content, expected) => {
    writeFileSync(file, content);
    expect(await lastLines(file, 2)).toEqual(expected);
  });

  test('of a file that is longer than any text can be', async () => {
    writeFileSync(file, '');
    truncateSync(file, 3 * 2 ** 30); // a sparse file
    appendFileSync(file, '\nthe operator ends\nwith code 1\n');
    expect(await lastLines(file, 2)).toEqual(['the operator ends', 'with code 1']);
  });

  test('of one line without a line break is the end of that line', async () => {
    writeFileSync(file, 'x'.repeat(1_000_000));
    expect((await lastLines(file, 2))[0]).toHaveLength(64 * 1_024);
  });
});
