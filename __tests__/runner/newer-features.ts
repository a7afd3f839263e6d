import { join } from 'node:path';
import { isLower } from '../../operator/base/hub-version';

/** Tests of a feature that hubs have only since a certain version, or tests that need such a feature. */
interface NewerFeature {
  /** Path of a test file or folder below __tests__. */
  readonly file: string;
  /** A part of the names of the tests; undefined for all tests of the file. */
  readonly title?: string;
  readonly since: string;
  readonly because: string;
}

const HTTP = { since: '2026.8.0', because: 'the hub has its web server’s settings in its API since 2026.8' };
const THRESHOLD = { since: '2026.8.0', because: 'the test sets the threshold of wrong logins by that API' };
const FORMS = { since: '2026.11.0', because: 'the forms of these integrations are those of 2026.11' };

const PLATFORM = { since: '2026.11.0', because: 'a hub of 2025.11 still sets up the platform template' };

const KITCHEN = {
  since: '2026.11.0',
  because: 'the integrations demo and kitchen_sink of 2025.11 have fewer entities',
};

export const newerFeatures: readonly NewerFeature[] = [
  { file: 'integration/hub/http-settings.test.ts', ...HTTP },
  { file: 'integration/hub/stored-http.test.ts', ...HTTP },
  { file: 'integration/hub/configuration-restart.test.ts', title: 'the section http:', ...HTTP },
  {
    file: 'integration/hub/configuration-restart.test.ts',
    title: 'an old file that a restored backup brings',
    since: '2026.8.0',
    because: 'it goes on where the tests of the section http: end',
  },
  { file: 'integration/hub/missing-commands.test.ts', title: 'has its settings of the web server', ...HTTP },
  {
    file: 'integration/hub/workload/real-hub.test.ts',
    since: '2026.11.0',
    because: 'the versions that it names are older and newer than the pinned one',
  },
  { file: 'integration/hub/ban.test.ts', ...THRESHOLD },
  { file: 'integration/hub/external.test.ts', title: 'is not restarted for a ban', ...THRESHOLD },
  {
    file: 'integration/config-entities/kinds.test.ts',
    title: 'a script, under an id that the hub accepts',
    since: '2026.11.0',
    because: 'a hub of 2025.11 answers 400 to the call of a script whose action it does not have',
  },
  {
    file: 'integration/config-entities/equal-definitions.test.ts',
    title: ' with a note',
    since: '2026.11.0',
    because: 'a hub of 2025.11 refuses the key note',
  },
  {
    file: 'integration/client/config-entities.test.ts',
    title: 'comes back with its subscriptions after a restart of the hub',
    since: '2026.11.0',
    because: 'a hub of 2025.11 took minutes to end in the sandbox',
  },
  {
    file: 'integration/config-entities/references.test.ts',
    title: 'a missing label is named',
    since: '2026.11.0',
    because: 'the search of a hub of 2025.11 names no label that does not exist',
  },
  {
    file: 'integration/registry/helper-facts.test.ts',
    title: 'the units of a device class are those of the hub',
    since: '2026.11.0',
    because: 'the table of units is that of 2026.11',
  },
  ...[
    'a change and a removal in the hub are reverted, and the picture',
    'a tracker whose entity is removed',
  ].map((title) => ({ file: 'integration/registry/persons.test.ts', title, ...KITCHEN })),
  { file: 'integration/borrowed/many.test.ts', ...KITCHEN },
  {
    file: 'integration/borrowed/settings.test.ts',
    title: 'an entity without a name of its own has the area of its device',
    since: '2026.11.0',
    because: 'an entity without a name of its own has the area of its device since 2026.11',
  },
  ...[
    'a selector waits for its entity, and reports when several match',
    'two resources for one entity: the first has it',
    'a restarted operator writes nothing',
  ].map((title) => ({ file: 'integration/borrowed/settings.test.ts', title, ...KITCHEN })),
  { file: 'integration/integrations', ...FORMS },
  { file: 'integration/docs', since: '2026.11.0', because: 'the pages show the forms of 2026.11' },
  { file: 'integration/configuration/wrong-files.test.ts', title: 'a wrong mqtt section', ...FORMS },
  {
    file: 'integration/configuration/wrong-files.ts',
    title: 'platform: template',
    ...PLATFORM,
  },
  {
    file: 'integration/configuration/verdicts.test.ts',
    title: 'a platform that is not set up is NotLoaded',
    ...PLATFORM,
  },
  {
    file: 'integration/hub/configuration-restart.test.ts',
    title: 'under hot-reload, mqtt is reloaded while the hub has a broker',
    ...FORMS,
  },
  {
    file: 'integration/client/bootstrap.test.ts',
    title: 'the choice of analytics',
    since: '2026.11.0',
    because: 'a hub of 2025.11, which sends them at once, answers with an error where it has no network',
  },
  {
    file: 'integration/client/bootstrap.test.ts',
    title: 'an owner whose making was cut off',
    since: '2026.11.0',
    because: 'a hub of 2025.11 stores an owner without a password before it stores the password',
  },
  {
    file: 'integration/cli/editor.test.ts',
    since: '2026.11.0',
    because: 'it clicks on the editor of 2026.11',
  },
  {
    file: 'integration/sandbox/fork-server.test.ts',
    since: '2026.11.0',
    because: 'only the pinned hub is forked',
  },
];

/** Returns the features that a hub of this version lacks. */
export const lacking = (version: string): NewerFeature[] =>
  newerFeatures.filter(({ since }) => isLower(version, since));

/** Returns the options with which jest leaves out the tests of these features. */
export function optionsWithout(features: readonly NewerFeature[]): string[] {
  const titles = features.flatMap(({ title }) => (title === undefined ? [] : [escaped(title)]));
  const files = features.flatMap(({ file, title }) =>
    title === undefined ? [escaped(join('__tests__', file))] : [],
  );
  return [
    ...(titles.length > 0 ? [`--testNamePattern=^(?!.*(${titles.join('|')}))`] : []),
    ...files.map((file) => `--testPathIgnorePatterns=${file}`),
  ];
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Returns `file: title: reason` for the tests that {@link optionsWithout} leaves out. */
export const reasons = (features: readonly NewerFeature[]): string[] =>
  features.map(({ file, title, because }) =>
    [file, ...(title === undefined ? [] : [title]), because].join(': '),
  );
