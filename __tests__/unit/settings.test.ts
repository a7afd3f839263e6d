import { readSettings, settingsHelp, SettingsRefused, settingsTable } from '../../operator/settings';

const refusal = (args: readonly string[], environment: Record<string, string> = {}): string => {
  try {
    readSettings(args, environment);
  } catch (error) {
    if (error instanceof SettingsRefused) return error.message;
    throw error;
  }
  throw new Error('it was accepted');
};

test('flags win over the environment, the environment over the defaults', () => {
  expect(readSettings([], {}).workers).toBe(16);
  expect(readSettings([], { WORKERS: '8' }).workers).toBe(8);
  expect(readSettings(['--workers=4'], { WORKERS: '8' }).workers).toBe(4);
});

test('each setting has its type', () => {
  const settings = readSettings(['--watch-namespaces', 'home, office,', '--leader-election=false'], {});
  expect(settings.watchNamespaces).toEqual(['home', 'office']);
  expect(settings.leaderElection).toBe(false);
  expect(readSettings([], {}).watchNamespaces).toEqual([]);
});

test.each<[string, string[], Record<string, string>, string[]]>([
  ['an unknown flag', ['--worker=4'], {}, ['--worker', '--workers']],
  ['a stray word', ['workers'], {}, ['workers']],
  ['a word instead of a number', ['--workers=many'], {}, ['--workers=many', '1 to 256']],
  ['a number out of range', [], { WORKERS: '0' }, ['WORKERS=0', '1 to 256']],
  ['half a worker', ['--workers=0.5'], {}, ['--workers=0.5', 'whole number']],
  ['no number at all', [], { HTTP_PORT: '' }, ['HTTP_PORT=']],
  ['an unknown level', [], { LOG_LEVEL: 'loud' }, ['LOG_LEVEL=loud', 'debug, info']],
  ['neither true nor false', ['--leader-election=yes'], {}, ['--leader-election=yes', 'true or false']],
])('%s is refused by name', (_, args, environment, words) => {
  const message = refusal(args, environment);
  for (const word of words) expect(message).toContain(word);
});

test('the help and the reference name every setting with flag, variable and meaning', () => {
  const table = settingsTable();
  expect(table.length).toBeGreaterThan(5);
  for (const { flag, env, about } of table) {
    expect(settingsHelp()).toContain(`${flag}=`);
    expect(settingsHelp()).toContain(env);
    expect(about).toMatch(/\.$/);
  }
});
