import { createInterface } from 'node:readline/promises';
import { CommandError } from './command-error';

export interface Question {
  readonly text: string;
  /** The environment variable that answers yes in scripts, with the value 1. */
  readonly variable: 'YES' | 'FORCE';
  /** The error where there is no terminal. */
  readonly withoutTerminal: string;
}

/** Whether the environment, or the person at the terminal, agrees. @throws CommandError when there is no terminal to ask on */
export async function confirm({ text, variable, withoutTerminal }: Question): Promise<boolean> {
  if (process.env[variable] === '1') return true;
  if (!process.stdin.isTTY) throw new CommandError(withoutTerminal, `${variable}=1 answers yes in a script.`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-D and Ctrl-C are no.
  const answer = await Promise.race([
    terminal.question(`${text} [y/N] `),
    new Promise<string>((resolve) => terminal.once('close', () => resolve(''))),
  ]);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
