import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { sourceFiles } from './sources';

/** Every import of a file, types included: a rule of ESLint does not follow `import type`. */
type Imports = ReadonlyMap<string, readonly string[]>;

function importsOf(files: ReadonlyMap<string, string>): Imports {
  const resolve = (from: string, specifier: string): string[] => {
    const path = normalize(join(dirname(from), specifier));
    return [`${path}.ts`, join(path, 'index.ts')].filter((name) => files.has(name));
  };
  return new Map(
    [...files].map(([file, text]) => {
      const specifiers = ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
      return [file, specifiers.filter((name) => name.startsWith('.')).flatMap((name) => resolve(file, name))];
    }),
  );
}

/** The cycles that a search finds, each as the files on its way; a file is in at most one of them. */
function cyclesIn(imports: Imports): string[][] {
  const cycles: string[][] = [];
  const finished = new Set<string>();
  const visit = (file: string, way: readonly string[]): void => {
    const start = way.indexOf(file);
    if (start >= 0) return void cycles.push([...way.slice(start), file]);
    if (finished.has(file)) return;
    for (const next of imports.get(file) ?? []) visit(next, [...way, file]);
    finished.add(file);
  };
  for (const file of imports.keys()) visit(file, []);
  return cycles;
}

const files = new Map([...sourceFiles()].filter(([name]) => name.endsWith('.ts')));

describe('imports', () => {
  test('no file imports itself by way of others, types included', () => {
    const cycles = cyclesIn(importsOf(files)).map((cycle) => cycle.join(' → '));
    expect(cycles).toEqual([]);
  });

  test('a cycle of types is found', () => {
    const cyclic = new Map([
      ['a/one.ts', "import type { Two } from './two';"],
      ['a/two.ts', "import { type Three } from '../three';"],
      ['three.ts', "export type { One } from './a/one';"],
      ['four.ts', "import { three } from './three';"],
    ]);
    expect(cyclesIn(importsOf(cyclic))).toEqual([['a/one.ts', 'a/two.ts', 'three.ts', 'a/one.ts']]);
  });

  test('the kinds import nothing but each other', () => {
    const outside = [...importsOf(files)].flatMap(([file, imported]) =>
      file.startsWith('operator/kinds/')
        ? imported.filter((name) => !name.startsWith('operator/kinds/')).map((name) => `${file} → ${name}`)
        : [],
    );
    expect(outside).toEqual([]);
  });
});
