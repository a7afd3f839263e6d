import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { sourceFiles } from './sources';

/** All imports of each file, including types, since the rule of ESLint does not follow `import type`. */
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

/** Returns the cycles that a search finds, each as the files on its way. A file is in at most one of them. */
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

/**
 * Returns the pairs of folders directly below `parent` whose files import each other. Files beside the
 * folders are left out.
 */
function mutualFolders(imports: Imports, parent: string): string[] {
  const folderOf = (file: string): string | undefined =>
    file.startsWith(`${parent}/`) ? /^([^/]+)\//.exec(file.slice(parent.length + 1))?.[1] : undefined;
  const pairs = new Map<string, string>();
  for (const [file, imported] of imports) {
    for (const other of imported) {
      const [from, to] = [folderOf(file), folderOf(other)];
      if (from !== undefined && to !== undefined && from !== to)
        pairs.set(`${from} → ${to}`, `${file} → ${other}`);
    }
  }
  return [...pairs].flatMap(([pair, example]) => {
    const [from, to] = pair.split(' → ');
    return pairs.has(`${to} → ${from}`) ? [example] : [];
  });
}

/**
 * Returns the longest chain of imports through the rooms of a folder. A room is a folder or a file directly
 * in it, and may import only rooms below it.
 * @throws a room imports one above it
 */
function floorsOf(imports: Imports, parent: string): readonly string[] {
  const roomOf = (file: string) => file.slice(parent.length + 1).split('/')[0]!;
  const below = new Map<string, Set<string>>();
  for (const [file, imported] of imports) {
    if (!file.startsWith(`${parent}/`)) continue;
    const room = roomOf(file);
    const inside = imported.filter((name) => name.startsWith(`${parent}/`)).map(roomOf);
    below.set(room, new Set([...(below.get(room) ?? []), ...inside.filter((name) => name !== room)]));
  }
  const ways = new Map<string, readonly string[]>();
  const wayDown = (room: string, above: readonly string[]): readonly string[] => {
    if (above.includes(room)) throw new Error(`cannot count floors: ${[...above, room].join(' → ')}`);
    const known = ways.get(room);
    if (known) return known;
    const further = [...(below.get(room) ?? [])].map((next) => wayDown(next, [...above, room]));
    const way = [
      room,
      ...further.reduce((longest, each) => (each.length > longest.length ? each : longest), []),
    ];
    ways.set(room, way);
    return way;
  };
  return [...below.keys()]
    .map((room) => wayDown(room, []))
    .reduce((longest, each) => (each.length > longest.length ? each : longest), []);
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

  test.each(['operator/sync', 'operator/sync/hub'])(
    'the folders in %s import each other in one direction only',
    (folder) => {
      expect(mutualFolders(importsOf(files), folder)).toEqual([]);
    },
  );

  test('two folders that import each other are found', () => {
    const mutual = new Map([
      ['sync/a/one.ts', "import { two } from '../b/two';"],
      ['sync/b/two.ts', ''],
      ['sync/b/three.ts', "import type { One } from '../a/one';"],
      ['sync/c/four.ts', "import { one } from '../a/one'; import { shared } from '../shared';"],
      ['sync/shared.ts', "import { four } from './c/four';"],
    ]);
    expect(mutualFolders(importsOf(mutual), 'sync')).toEqual([
      'sync/a/one.ts → sync/b/two.ts',
      'sync/b/three.ts → sync/a/one.ts',
    ]);
  });

  test('operator/sync has at most eight floors, and no arrow goes back up', () => {
    const floors = floorsOf(importsOf(files), 'operator/sync');
    expect(floors[0]).toBe('index.ts');
    expect(floors.length > 8 ? floors : []).toEqual([]);
  });

  test('floors are counted, and an arrow that goes back up is found', () => {
    const house = new Map([
      ['sync/index.ts', "import { one } from './a/one';"],
      ['sync/a/one.ts', "import { two } from './two'; import { three } from '../b/three';"],
      ['sync/a/two.ts', ''],
      ['sync/b/three.ts', "import type { Four } from '../four';"],
      ['sync/four.ts', ''],
    ]);
    expect(floorsOf(importsOf(house), 'sync')).toEqual(['index.ts', 'a', 'b', 'four.ts']);
    const back = new Map([...house, ['sync/four.ts', "import { two } from './a/two';"]]);
    expect(() => floorsOf(importsOf(back), 'sync')).toThrow('a → b → four.ts → a');
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
