import { readScript } from './read-script';

/**
 * All modules of the Python program that runs the cases of `kubectl hub test`. The loader imports them by
 * these names.
 */
export const MODULES = [
  'answers',
  'clock',
  'configuration',
  'coverage',
  'definitions',
  'devices',
  'expectation',
  'guard',
  'helpers',
  'history',
  'house',
  'integrations',
  'judge',
  'loops',
  'moments',
  'names',
  'presence',
  'record',
  'registries',
  'services',
  'steps',
  'triggers',
  'values',
] as const;

/** The source for `python -I -c`, which reads a `Request` from the standard input. */
export const loader = (): string => readScript('loader.py');

/** The sources of the modules, for `Request.modules`. */
export const runnerModules = (): Record<string, string> =>
  Object.fromEntries(MODULES.map((name) => [name, readScript(`${name}.py`)]));
