import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { stepFailure } from './failure';
import { exitOf, spawnTethered } from './process';

export interface Command {
  /** What it is for, as the beginning of a sentence: "Installing Home Assistant". */
  readonly step: string;
  readonly command: readonly [program: string, ...args: string[]];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Its whole output goes here, after what is there already. */
  readonly logFile: string;
  /** Each line that it prints, as it comes; for showing progress. */
  readonly onLine?: (line: string) => void;
}

/** Runs a command to its end and returns what it wrote to standard output; throws a `SandboxFailure` when it fails. */
export async function runCommand({ step, command, cwd, env, logFile, onLine }: Command): Promise<string> {
  await mkdir(dirname(logFile), { recursive: true });
  const log = createWriteStream(logFile, { flags: 'a' });
  log.write(`$ ${command.join(' ')}\n`);
  const keeper = await spawnTethered(
    { command, ...(cwd !== undefined && { cwd }), ...(env !== undefined && { env }) },
    ['pipe', 'pipe', 'pipe'],
  );
  let standardOutput = '';
  const lines: string[] = [];
  for (const stream of [keeper.stdout!, keeper.stderr!]) {
    createInterface({ input: stream }).on('line', (line) => {
      if (stream === keeper.stdout) standardOutput += `${line}\n`;
      lines.push(line);
      log.write(`${line}\n`);
      onLine?.(line);
    });
  }
  const code = await exitOf(keeper);
  await new Promise((resolve) => log.end(resolve));
  if (code !== 0) throw stepFailure(step, lines.join('\n'), logFile);
  return standardOutput;
}
