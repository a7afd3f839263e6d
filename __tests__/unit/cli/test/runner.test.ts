import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { loader, MODULES, runnerModules } from '../../../../cli/test/runner';

test('the request has all modules of the program', () => {
  const files = readdirSync(join(__dirname, '../../../../cli/test/runner'));
  const programs = files.filter((name) => name.endsWith('.py') && name !== 'loader.py');
  expect(programs.map((name) => name.replace('.py', '')).toSorted()).toEqual([...MODULES]);
  const own = Object.values(runnerModules()).flatMap((text) => [
    ...text.matchAll(/^(?:from|import) (\w+)/gm),
  ]);
  const imported = new Set(own.map(([, name]) => name!));
  expect(MODULES.filter((name) => !imported.has(name))).toEqual(['steps']);
  expect(loader()).toContain('import_module("steps")');
});
