import { arch, platform } from 'node:os';
import { cached, contentKey } from './cache';
import { runCommand } from './command';
import { goEnvironment } from './go-module';
import type { Report } from './progress';

interface GoProgram {
  /** Name of the entry in the cache, and of its log. */
  readonly name: string;
  /** Name of the program in messages. */
  readonly title: string;
  /** Import paths of the commands. */
  readonly commands: readonly string[];
  /** Version of the module, with its `v`. */
  readonly version: string;
  readonly tags?: readonly string[];
}

/**
 * Builds the commands of another Go module, with the dependencies that its go.mod names, unless the cache has
 * them. The flags are those of our own commands, so that shared packages are compiled once.
 * @returns the folder of the commands
 */
export async function goInstalled(program: GoProgram, report: Report): Promise<string> {
  const { name, title, commands, version, tags = [] } = program;
  const flags = ['-trimpath', '-buildvcs=false', '-gcflags=all=-dwarf=false', '-ldflags=-s -w'];
  const packages = commands.map((command) => `${command}@${version}`);
  const arguments_ = ['install', '-v', ...flags, `-tags=${tags.join(',')}`, ...packages];
  return cached(
    name,
    contentKey([platform(), arch(), ...arguments_]),
    async (partial, logFile) => {
      let compiled = 0;
      await runCommand({
        step: `Building ${title}`,
        command: ['go', ...arguments_],
        cwd: partial,
        env: { ...goEnvironment, GOBIN: partial },
        logFile,
        onLine: (line) => {
          if (!line.includes(' ')) report(`compiling (first start only): ${++compiled} packages`);
        },
      });
    },
    () => report('waiting for another process that is building it'),
  );
}
