import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { linesThat, repository, sourceFiles } from './sources';

const files = new Map([...sourceFiles()].filter(([name]) => !name.startsWith('__tests__/unit/repository/')));
const headings = new Set(
  [...readFileSync(join(repository, 'docs/explanation/rules.md'), 'utf8').matchAll(/^##? (.+)$/gm)].map(
    ([, title]) => title!,
  ),
);

describe('citations', () => {
  test('no text cites a document that is not in the repository', () => {
    const absent = /\b(spec|lessons|hub-api|testbed)\.md\b|(?<!reference\/)\bkinds\.md\b|\bdesign\.md\b/;
    expect(linesThat(files, (line) => absent.test(line) && !/reference\/kinds\.md/.test(line))).toEqual([]);
  });

  test('no text cites an issue, a finding of a review or a section of the specification by number', () => {
    const numbered =
      /\bissue #?\d+\b|\((D|R|E|A|N|U|W|T)\d{1,2}\)|\b(see|finding|of) (D|R|E|A|N|U|W|T)\d{1,2}\b/;
    expect(linesThat(files, (line) => numbered.test(line))).toEqual([]);
  });

  test('every cited rule is a heading of docs/explanation/rules.md', () => {
    const cited = [...files].flatMap(([file, text]) => {
      // A citation may be broken over two lines of a comment.
      const flat = text.replace(/\s*\n\s*(\*|\/\/|#)?\s*/g, ' ');
      return [...flat.matchAll(/rules\.md,((?:(?: and|,)? "[^"]+")+)/g)].flatMap(([, list]) =>
        [...list!.matchAll(/"([^"]+)"/g)].map(([, title]) => ({ file, title: title! })),
      );
    });
    expect(cited.length).toBeGreaterThan(5);
    expect(cited.filter(({ title }) => !headings.has(title))).toEqual([]);
  });

  test('every file that CONTRIBUTING and docs/contributing name exists', () => {
    const pages = [...files].filter(
      ([name]) => name === 'CONTRIBUTING.md' || name.startsWith('docs/contributing/'),
    );
    const named = pages.flatMap(([page, text]) =>
      [
        ...text.matchAll(
          /`((?:operator|sandbox|manifests|bench|docs|samples|__tests__|\.vscode)\/[\w./-]*)`/g,
        ),
      ].map(([, path]) => ({ page, path: path! })),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ path }) => !existsSync(join(repository, path)))).toEqual([]);
  });

  test('every file that a comment names exists', () => {
    const all = [...sourceFiles().keys()];
    const named = [...files].flatMap(([file, text]) =>
      /\.(ts|mjs)$/.test(file) ? commentsOf(text).flatMap((comment) => filesIn(comment)) : [],
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((name) => !all.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([]);
  });

  test('every function that the page on the architecture names exists', () => {
    const page = files.get('docs/contributing/architecture.md')!;
    const sources = [...sourceFiles('operator').values()];
    const named = [...page.matchAll(/`(?:(\w+)\.)?(\w+)\(\)`/g)].map(([name, owner, member]) => ({
      name,
      exists: sources.some((text) =>
        owner
          ? text.includes(`class ${owner}`) && new RegExp(`\\b${member}[(<]`).test(text)
          : new RegExp(`function ${member}\\b`).test(text),
      ),
    }));
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter(({ exists }) => !exists)).toEqual([]);
  });

  test('every link of a page leads to a file, and to a heading of it', () => {
    const pages = [...files].filter(([name]) => name.endsWith('.md'));
    const links = pages.flatMap(([page, text]) =>
      [...text.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g)].map(([, path, anchor]) => ({
        page,
        target: path === '' ? page : join(dirname(page), path!),
        anchor,
        isExternal: /^https?:/.test(path!),
      })),
    );
    const inside = links.filter(({ isExternal }) => !isExternal);
    const broken = inside.filter(
      ({ target, anchor }) =>
        !existsSync(join(repository, target)) ||
        (anchor !== undefined && !anchorsOf(readFileSync(join(repository, target), 'utf8')).has(anchor)),
    );
    expect(inside.length).toBeGreaterThan(100);
    expect(inside.filter(({ anchor }) => anchor !== undefined).length).toBeGreaterThan(10);
    expect(broken).toEqual([]);
  });
});

/** Returns the lines of comments, without the code before them. */
function commentsOf(text: string): string[] {
  return text.split('\n').flatMap((line) => /^\s*\*.*|(?:^|\s)(?:\/\/|\/\*).*/.exec(line) ?? []);
}

/** Returns names of files with an extension of sources or pages, with or without folders. */
function filesIn(comment: string): string[] {
  return [...comment.matchAll(/(?<![\w./@{}$-])([\w-]+(?:\/[\w.-]+)*\.(?:ts|mjs|md))\b/g)].map(
    ([, name]) => name!,
  );
}

/** Returns the anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): ReadonlySet<string> {
  const withoutCode = page.replace(/^( *)(```|~~~).*\n(?:.*\n)*?\1\2$/gm, '');
  const anchors = new Set<string>();
  for (const [, title] of withoutCode.matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = title!
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    let name = anchor;
    for (let count = 1; anchors.has(name); count++) name = `${anchor}-${count}`;
    anchors.add(name);
  }
  return anchors;
}
