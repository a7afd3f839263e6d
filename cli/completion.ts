import { Argument, Command } from 'commander';
import { hub, kinds } from '../operator/kinds';
import type { ClusterOptions } from './cluster';
import { type CommandContext } from './command-context';
import { type ExitCode, exitCodes } from './exit-codes';
import { kindNamed } from './kind-names';
import { resourceType } from './cluster';
import { commandFirst } from './words';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** The word with which the shell scripts, and kubectl, request candidates. */
export const COMPLETE = '__complete';
/** Milliseconds. Later candidates are of no use to a user who is typing. */
const TIME_LIMIT = 2_000;
/**
 * kubectl's protocol for plugins: the last line tells the shell not to offer files (4) or to offer them (0).
 */
const NO_FILES = ':4';
const FILES = ':0';

const scripts: Readonly<Record<Shell, string>> = {
  bash: `_kubectl_hub() {
  local IFS=$'\\n'
  local lines=($(kubectl-hub ${COMPLETE} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  local directive=\${lines[-1]}
  unset 'lines[-1]'
  COMPREPLY=($(compgen -W "\${lines[*]}" -- "\${COMP_WORDS[COMP_CWORD]}"))
  if [[ $directive == ${FILES} ]]; then COMPREPLY+=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")); fi
}
complete -o filenames -F _kubectl_hub kubectl-hub
`,
  zsh: `#compdef kubectl-hub
_kubectl_hub() {
  local -a lines
  lines=("\${(@f)$(kubectl-hub ${COMPLETE} "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  local directive=\${lines[-1]}
  lines=("\${(@)lines[1,-2]}")
  compadd -a lines
  if [[ $directive == ${FILES} ]]; then _files; fi
}
compdef _kubectl_hub kubectl-hub
`,
  fish: `function __kubectl_hub
  set -l words (commandline -opc) (commandline -ct)
  set -l lines (kubectl-hub ${COMPLETE} $words[2..] 2>/dev/null)
  string match -v -r '^:' -- $lines
  if test "$lines[-1]" = ${FILES}
    __fish_complete_path (commandline -ct)
  end
end
complete -c kubectl-hub -f -a '(__kubectl_hub)'
`,
};

export function completionCommand(context: CommandContext): Command {
  return new Command('completion')
    .summary('print the completion of a shell')
    .description(
      'Prints a script that completes commands, options and names of resources, for example: ' +
        '`source <(kubectl-hub completion bash)`. For `kubectl hub` put an executable file `kubectl_complete-hub` into the ' +
        `PATH, with the lines \`#!/bin/sh\` and \`exec kubectl-hub ${COMPLETE} "$@"\`.`,
    )
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .action(
      context.action((shell: Shell) => {
        context.environment.terminal.print(scripts[shell]);
        return Promise.resolve(exitCodes.success);
      }),
    );
}

/**
 * Prints the candidates for the last word, one per line, and then the directive. The words do not go through
 * commander, which would treat `--` as the end of options.
 */
export async function printCandidates(
  program: Command,
  context: CommandContext,
  words: readonly string[],
): Promise<ExitCode> {
  const { candidates, files } = await complete(program, context, words);
  const last = words.at(-1) ?? '';
  const fitting = candidates.filter((each) => each.startsWith(last));
  context.environment.terminal.print([...fitting, files ? FILES : NO_FILES].join('\n'));
  return exitCodes.success;
}

interface Candidates {
  readonly candidates: readonly string[];
  readonly files?: boolean;
}

async function complete(
  program: Command,
  context: CommandContext,
  words: readonly string[],
): Promise<Candidates> {
  const [name = '', ...rest] = [...commandFirst(words.slice(0, -1)), words.at(-1) ?? ''];
  const visible = program.commands;
  if (rest.length === 0) return { candidates: visible.map((each) => each.name()) };
  const command = visible.find((each) => each.name() === name);
  if (!command) return { candidates: [] };
  const last = rest.at(-1)!;
  const previous = rest.at(-2);
  const before =
    previous === undefined
      ? undefined
      : command.options.find(({ long, short }) => previous === long || previous === short);
  if (before?.long === '--hub')
    return { candidates: await resourceNames(context, 'hub', rest).catch(() => []) };
  if (before?.required)
    return before.argChoices ? { candidates: before.argChoices } : { candidates: [], files: true };
  if (last.startsWith('-'))
    return { candidates: command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : [])) };
  const [argument] = command.registeredArguments;
  if (argument?.argChoices) return { candidates: argument.argChoices };
  if (argument?.name() === 'file') return { candidates: [], files: true };
  if (!argument) return { candidates: [] };
  return { candidates: await resourceNames(context, argument.name(), rest).catch(() => []) };
}

async function resourceNames(
  context: CommandContext,
  argument: string,
  words: readonly string[],
): Promise<string[]> {
  const [kind, name] = (words.at(-1) ?? '').split('/');
  const definition = name === undefined ? hub : kindNamed(kind!);
  const { environment } = context;
  const cluster = environment.connect(clusterOptionsIn(words));
  const tooLate = environment.clock.sleep(TIME_LIMIT).then(() => []);
  const listed = cluster
    .list(resourceType(definition))
    .then((resources) =>
      resources.map(({ metadata }) => (name === undefined ? '' : `${kind}/`) + metadata.name),
    );
  const names = await Promise.race([listed, tooLate]).finally(() => cluster.close());
  const kindNames =
    argument === 'resource' && name === undefined ? kinds.map(({ singular }) => `${singular}/`) : [];
  return [...names, ...kindNames];
}

function clusterOptionsIn(words: readonly string[]): ClusterOptions {
  const after = (...flags: string[]) => {
    const index = words.findIndex((word) => flags.includes(word));
    return index < 0 ? undefined : words[index + 1];
  };
  const found = {
    namespace: after('-n', '--namespace'),
    context: after('--context'),
    kubeconfig: after('--kubeconfig'),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}
