import { CommandError } from './command-error';

/** An environment variable in seconds, as milliseconds. @throws CommandError when it is no positive number */
export function seconds(variable: string, fallback: number): number {
  const value = Number(process.env[variable] || fallback);
  if (value > 0) return value * 1_000;
  throw new CommandError(`${variable}=${process.env[variable]} is no positive number of seconds.`);
}
