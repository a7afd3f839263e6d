import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { documentedCommands } from '../../integration/docs/documented-commands';
import { repository } from '../repository/sources';

// The page about charts in TypeScript, followed in a separate folder with the packages of this repository.

const PAGE = 'docs/how-to/typescript.md';

test('the commands of the page import the kinds, and make resources that are valid', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'typescript-'));
  try {
    for (const name of ['node_modules', 'dist']) await symlink(join(repository, name), join(folder, name));
    const [, program] = /```typescript\n([^]*?)```/.exec(await readFile(join(repository, PAGE), 'utf8'))!;
    await writeFile(join(folder, 'main.ts'), program!);
    const packages = join(repository, 'node_modules', '.bin');
    const bin = join(folder, 'bin');
    await mkdir(bin);
    // A `kubectl hub` that runs the sources of the plugin.
    const plugin = `#!/bin/sh\nshift\nexec tsx ${join(repository, 'cli', 'index.ts')} "$@"\n`;
    await writeFile(join(bin, 'kubectl'), plugin, { mode: 0o755 });
    const env = {
      ...process.env,
      PATH: [bin, packages, process.env['PATH']].join(delimiter),
      CDK8S_OUTDIR: join(folder, 'made'), // the folder `dist` already contains the release
      CDK8S_CHECK_UPGRADE: 'false',
    };
    const run = (command: string) =>
      promisify(execFile)('bash', ['-c', command.replaceAll(/\bnpx /g, '')], { cwd: folder, env });
    const typed = documentedCommands().flatMap(({ page, command }) =>
      page === PAGE && /^npx (cdk8s|tsc|tsx) /.test(command) ? [command] : [],
    );
    expect(typed).toHaveLength(4);
    for (const command of typed) await run(command);
    const validate = join(repository, 'cli', 'index.ts');
    const { stdout } = await run(`tsx ${validate} validate --strict made`);
    expect(stdout).toContain('3 resources checked, 0 of other kinds ignored: 0 errors, 0 warnings');
  } finally {
    await rm(folder, { recursive: true });
  }
});
