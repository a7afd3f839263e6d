import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { stepError } from './sandbox-error';
import { exitOf, spawnTethered } from './process';

interface Command {
  /** The purpose of the command, as the beginning of a sentence: "Installing Home Assistant". */
  readonly step: string;
  readonly command: readonly [program: string, ...args: string[]];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The file to which the output of the command is appended. */
  readonly logFile: string;
  /** Called with each line that the command prints, to show progress. */
  readonly onLine?: (line: string) => void;
}

/**
 * Runs a command to its end and returns its standard output.
 *
 * @throws SandboxError the exit code is not 0
 */
export async function runCommand({ step, command, cwd, env, logFile, onLine }: Command): Promise<string> {
  await mkdir(dirname(logFile), { recursive: true });
  const log = createWriteStream(logFile, { flags: 'a' });
  log.write(`$ ${command.join(' ')}\n`);
  const tethered = await spawnTethered(
    { command, ...(cwd !== undefined && { cwd }), ...(env !== undefined && { env }) },
    ['pipe', 'pipe', 'pipe'],
  );
  const printed = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    createInterface({ input: tethered[stream]! }).on('line', (line) => {
      printed[stream] += `${line}\n`;
      log.write(`${line}\n`);
      onLine?.(line);
    });
  }
  const code = await exitOf(tethered);
  await new Promise((resolve) => log.end(resolve));
  if (code !== 0) throw stepError(step, printed.stderr || printed.stdout, logFile);
  return printed.stdout;
}
