import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const repository = join(__dirname, '..', '..', '..');

/**
 * Returns the text files of the repository that people write, by path. Generated and vendored files are left
 * out.
 */
export function sourceFiles(...folders: readonly string[]): ReadonlyMap<string, string> {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...folders], {
    cwd: repository,
    encoding: 'utf8',
  });
  const names = listed
    .split('\n')
    .filter((name) => /\.(ts|mjs|md|yaml|py|json|go|lua)$|^Makefile$/.test(name));
  const written = names.filter((name) => !/^(dist|imports)\/|^package-lock/.test(name));
  return new Map(
    written.flatMap((name): [string, string][] => {
      const text = textOf(name);
      return text === undefined ? [] : [[name, text]];
    }),
  );
}

/** Returns undefined for a file that git's index has but that was removed. */
function textOf(name: string): string | undefined {
  try {
    return readFileSync(join(repository, name), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}

/** Returns `file:line: text` of every line that `matches`. */
export function linesThat(
  files: ReadonlyMap<string, string>,
  matches: (line: string, file: string) => boolean,
): string[] {
  return [...files].flatMap(([file, text]) =>
    text
      .split('\n')
      .flatMap((line, index) => (matches(line, file) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  );
}
