import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { createProgram } from '../../../cli/program';
import { CommandContext } from '../../../cli/command-context';
import { CommandLine } from '../cli/command-line';
import { repository } from '../repository/sources';

const page = readFileSync(join(repository, 'docs/how-to/test-in-ci.md'), 'utf8');
const blocks = [...page.matchAll(/^```yaml\n([^]*?)^```/gm)].map(([, text]) => text!);

describe('the pipelines of the page about tests', () => {
  test('are YAML, and that of GitHub has 15 lines at most', () => {
    expect(blocks).toHaveLength(3);
    for (const text of blocks) expect(parse(text)).toBeInstanceOf(Object);
    expect(blocks[0]!.trimEnd().split('\n').length).toBeLessThanOrEqual(15);
  });

  test('call the command with arguments that it has', async () => {
    const commands = blocks.map((text) => /(?:tgz|kubectl-hub) (test [^\n']+)/.exec(text)![1]!.trim());
    const context = new CommandContext(new CommandLine().environment());
    for (const command of commands) {
      const program = await createProgram('kubectl hub', context, 'test');
      const [, ...words] = command.split(' ');
      const { unknown, operands } = program.commands[0]!.parseOptions(words);
      expect([command, unknown, operands.length]).toEqual([command, [], 1]);
    }
  });
});
