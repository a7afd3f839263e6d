import { readScript } from './read-script';

/** All modules of the program in Python that runs the cases of `kubectl hub test`. The loader imports them by these names. */
export const MODULES = [
  'answers',
  'clock',
  'configuration',
  'coverage',
  'definitions',
  'expectation',
  'guard',
  'helpers',
  'history',
  'house',
  'judge',
  'loops',
  'moments',
  'record',
  'services',
  'steps',
  'values',
] as const;

/** The text for `python -I -c`: it reads a `Request` on the standard input. */
export const loader = (): string => readScript('loader.py');

/** `Request.modules` */
export const runnerModules = (): Record<string, string> =>
  Object.fromEntries(MODULES.map((name) => [name, readScript(`${name}.py`)]));
