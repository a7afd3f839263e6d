import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commandsOf, documentedCommands, shownAs } from '../../integration/docs/documented-commands';
import { type Exception, exceptions } from '../../integration/docs/exceptions';
import { repository } from './sources';

const commands = documentedCommands();

describe('documentedCommands', () => {
  test('commands and their output are found in blocks of shell', () => {
    const page =
      '```console\n$ one \\\n  two   # why\nit says\n```\n```yaml\n$ no: yes\n```\n```sh\n# a comment\nthree\n```\n';
    expect(commandsOf('a.md', page)).toEqual([
      { page: 'a.md', command: 'one    two', output: 'it says\n' },
      { page: 'a.md', command: 'three', output: '' },
    ]);
  });

  test('a block in an item of a list has commands as well', () => {
    const page = '1. Do this:\n\n   ```console\n   $ one\n   it says\n     more\n   ```\n';
    expect(commandsOf('a.md', page)).toEqual([{ page: 'a.md', command: 'one', output: 'it says\n  more\n' }]);
  });

  test('output is compared but for ages, ports and what is left out', () => {
    const shown = shownAs('NAME   AGE   URL\nhome   8s    http://127.0.0.1:1\n…\nend\n');
    expect('NAME AGE  URL\nhome 1m2s http://127.0.0.1:2345\nmore\nend').toMatch(shown);
    expect('NAME AGE  URL\nother 1m2s http://127.0.0.1:2345\nend').not.toMatch(shown);
    expect('NAME AGE  URL\nhome 1m2s http://127.0.0.1:2345\nmore').not.toMatch(shown);
  });

  test('README and docs have commands', () => {
    expect(commands.length).toBeGreaterThan(50);
  });

  test('each exception is for a command that is documented', () => {
    const listed = Object.entries(exceptions).flatMap(([page, list]) =>
      Object.keys(list).map((command) => ({ page, command })),
    );
    const known = new Set(commands.map(({ page, command }) => `${page}: ${command}`));
    expect(listed.filter(({ page, command }) => !known.has(`${page}: ${command}`))).toEqual([]);
  });

  test('each test file that runs a command instead exists', () => {
    const files = Object.values(exceptions).flatMap((list) =>
      Object.values<Exception>(list).flatMap((each) => ('by' in each && each.by ? [each.by] : [])),
    );
    expect(files.filter((file) => !existsSync(join(repository, file)))).toEqual([]);
  });
});
