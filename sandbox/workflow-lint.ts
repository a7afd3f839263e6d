import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { goInstalled } from './go-install';
import { errorLine, SandboxError } from './sandbox-error';

/** Lints the workflows of `.github/`. Where actionlint cannot be built, the command says so and succeeds. */
async function main(): Promise<number> {
  const folder = await goInstalled(
    {
      name: 'actionlint',
      title: 'actionlint',
      commands: ['github.com/rhysd/actionlint/cmd/actionlint'],
      version: 'v1.7.12',
    },
    () => undefined,
  ).catch((error: unknown) => {
    if (!(error instanceof SandboxError) || !error.isOfMachine) throw error;
    console.log(`skipped: lint of workflows: ${errorLine(error)}`);
    return undefined;
  });
  if (folder === undefined) return 0;
  try {
    // Checks of shell scripts are off: they need shellcheck, which few machines have.
    await promisify(execFile)(join(folder, 'actionlint'), ['-color', '-shellcheck='], {
      cwd: join(__dirname, '..'),
    });
    return 0;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string };
    console.log(`${stdout ?? ''}${stderr ?? ''}`);
    return 1;
  }
}

void main().then((code) => {
  process.exitCode = code;
});
