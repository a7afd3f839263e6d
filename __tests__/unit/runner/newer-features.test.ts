import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lacking, newerFeatures, optionsWithout } from '../../runner/newer-features';

const folder = join(__dirname, '../..');

describe('newer features', () => {
  test.each(newerFeatures)('$file has the tests “$title”', ({ file, title }) => {
    expect(existsSync(join(folder, file))).toBe(true);
    if (title !== undefined) expect(readFileSync(join(folder, file), 'utf8')).toContain(title);
  });

  test('the pinned hub lacks none', () => {
    expect(optionsWithout(lacking('2026.11.0'))).toEqual([]);
  });

  test('tests are left out by a part of their names, and files by their paths', () => {
    const since = { since: '2026.8.0', because: 'it is new' };
    const options = optionsWithout([
      { file: 'integration/a.test.ts', title: 'a (new) test', ...since },
      { file: 'integration/b.test.ts', ...since },
    ]);
    expect(options).toEqual([
      '--testNamePattern=^(?!.*(a \\(new\\) test))',
      '--testPathIgnorePatterns=__tests__/integration/b\\.test\\.ts',
    ]);
    expect('group a (new) test that is long').not.toMatch(/^(?!.*(a \(new\) test))/);
    expect('an old one').toMatch(/^(?!.*(a \(new\) test))/);
  });
});
