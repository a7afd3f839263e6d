import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository, sourceFiles } from './sources';

const read = (page: string) => readFileSync(join(repository, page), 'utf8');
const headings = [...read('docs/explanation/rules.md').matchAll(/^## (.+)$/gm)].map(([, title]) => title!);

/** Rows of the table in CONTRIBUTING: the rules of each row, and the files and folders that it names. */
const rows = read('CONTRIBUTING.md')
  .replace(/[^]*## Where a rule is implemented\n/, '')
  .replace(/\n## [^]*/, '')
  .split('\n')
  .filter((line) => /^\| .*`(operator|cli)\//.test(line))
  .map((line) => ({
    rules: headings.filter((title) => `, ${line.split('|')[1]!.trim()},`.includes(`, ${title},`)),
    paths: [...line.matchAll(/`((?:operator|cli)\/[\w./-]+)`/g)].map(([, path]) => path!),
  }));

/** Sources joined into one line each, since a citation may be broken over two lines of a comment. */
const sources = [...sourceFiles('operator'), ...sourceFiles('cli')].map(
  ([name, text]) => [name, text.replace(/\s*\n\s*(\*|\/\/|#)?\s*/g, ' ')] as const,
);

/** Returns the files that a row names, and those in the folders that it names. */
const filesOf = (paths: readonly string[]) =>
  sources.filter(([name]) =>
    paths.some((path) => name === path || (path.endsWith('/') && name.startsWith(path))),
  );

describe('the table of rules in CONTRIBUTING', () => {
  test('has a row for each heading of rules.md', () => {
    const listed = new Set(rows.flatMap(({ rules }) => rules));
    expect(headings.filter((title) => !listed.has(title))).toEqual([]);
  });

  test('leads in two hops to a file that implements the rule, and whose comment cites it', () => {
    const cited = (title: string, paths: readonly string[]) =>
      filesOf(paths).some(([, text]) => new RegExp(`rules\\.md,(?: and|,| "[^"]+")* "${title}"`).test(text));
    const missing = rows.flatMap(({ rules, paths }) => rules.filter((title) => !cited(title, paths)));
    expect(missing).toEqual([]);
  });
});
