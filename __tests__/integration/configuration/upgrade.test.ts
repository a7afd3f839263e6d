import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCoreState } from '../../../operator/client/setup/core';
import { freshNamespace, until } from '../../cluster';
import { Home, hubSecrets, secret } from '../../cluster/home';
import { addVersion, sourceOfHub, type Patch } from '../../cluster/next-version';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { ConfiguredHub } from '../hub/configured-hub';

// Upgrades of one hub: to a version that has removed an option of a section, and to one that migrates the
// database.

const COUNTER = 'counter:\n  visits:\n    icon: mdi:door\n';
/** The schema version of the database in the installed hub. */
let schema: number;
const withLamp = (more = '') =>
  `logger:\n  default: warning\nrecorder:\ninput_boolean:\n  lamp:\n    name: !secret lamp\n${more}`;

let home: Home;
let operator: TestOperator;
let villa: ConfiguredHub;
const DB_SCHEMA = 'components/recorder/db_schema.py';
/** Path of the file that lets the migration continue. */
let mayMigrate: string;

beforeAll(async () => {
  home = new Home(await freshNamespace('upgrade'));
  const image = `example.org/${home.namespace}`;
  const withoutIcon = {
    file: 'components/counter/__init__.py',
    // Matches the option by the indentation of the YAML schema, since the one of the UI must stay. Its
    // library may have either of two names.
    from: / {20}(probatio|vol)\.Optional\(CONF_ICON\): cv\.icon,/,
    to: '',
  };
  await addVersion(image, '2026.12.0', [withoutIcon]);
  schema = Number(/^SCHEMA_VERSION = (\d+)$/m.exec(await sourceOfHub(DB_SCHEMA))![1]);
  operator = await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  villa = new ConfiguredHub(home, 'villa');
  mayMigrate = join(await home.volumeOf('villa'), 'may-migrate');
  await addVersion(image, '2027.1.0', [withoutIcon, ...migrating(schema + 1, schema + 1)]);
  await addVersion(image, '2027.2.0', [withoutIcon, ...migrating(schema + 2, schema + 1)]);
  await home.apply(
    secret('words', { lamp: 'Lamp' }),
    hubSecrets('villa', 'villa', { secretRefs: [{ name: 'words' }] }),
  );
  await home.ready('hubsecrets', 'villa');
  await villa.change(withLamp(COUNTER));
  await villa.loaded();
});
afterAll(() => writeFile(mayMigrate, ''));

/**
 * Returns patches for a version with this database schema.
 * @param live schema from which the hub migrates a database while it runs; an older database is migrated
 * before the hub answers
 */
function migrating(next: number, live: number): Patch[] {
  const file = 'components/recorder/migration.py';
  const place = 'def _migrate_statistics_columns_to_timestamp_removing_duplicates(';
  const added = Array.from({ length: next - schema }, (_, index) => schema + 1 + index).map(
    (target) => `class _SchemaVersion${target}Migrator(_SchemaVersionMigrator, target_version=${target}):
    def _apply_update(self) -> None:
        import os, time
        while not os.path.exists(${JSON.stringify(mayMigrate)}):
            time.sleep(0.1)


`,
  );
  return [
    {
      file: DB_SCHEMA,
      from: `SCHEMA_VERSION = ${schema}`,
      to: `SCHEMA_VERSION = ${next}`,
    },
    {
      file,
      from: 'LIVE_MIGRATION_MIN_SCHEMA_VERSION = 48',
      to: `LIVE_MIGRATION_MIN_SCHEMA_VERSION = ${live}`,
    },
    { file, from: place, to: `${added.join('')}${place}` },
  ];
}

/** Resolves when the pod runs the version. */
async function upgrade(version: string): Promise<string> {
  const before = await villa.podUid();
  await home.change('hub', 'villa', { image: `example.org/${home.namespace}`, version });
  return until('the next pod runs', async () => {
    const { metadata, status } = await home.get('pod', 'villa-0');
    const [container] = (status?.['containerStatuses'] ?? []) as { state: { running?: object } }[];
    return metadata.uid !== before && container?.state.running !== undefined && metadata.uid;
  });
}

describe('an upgrade to a version that removed an option of a section', () => {
  const leftOut = () => home.ready('hubconfiguration', 'villa', { status: 'False', reason: 'CheckFailed' });

  test('is CheckFailed with the line of the section, also after a requested reconcile', async () => {
    await upgrade('2026.12.0');
    await home.ready('hub', 'villa');
    await until('the version runs', async () => {
      const { status } = await home.get('hub', 'villa');
      return status?.['version'] === '2026.12.0';
    });
    expect((await leftOut()).message.split('\n')[0]).toMatch(
      /line 9: 'icon' is an invalid option for 'counter'/,
    );
    await home.annotate('hubconfiguration', 'villa', 'hub-operator.dev/reconcile-requested-at=now');
    await operator.calm();
    await leftOut();
  });

  test('does not prevent that an edit of another section is loaded without a restart', async () => {
    const pod = await villa.podUid();
    await villa.connect();
    await villa.change(withLamp(`  desk:\n${COUNTER}`));
    await villa.shows('input_boolean.desk', 'off');
    await leftOut();
    expect(await villa.podUid()).toBe(pod);
  });

  test('is Ready with the correction', async () => {
    await villa.change(withLamp(`  desk:\n${COUNTER.replace('    icon: mdi:door\n', '')}`));
    await villa.loaded();
    await villa.connect();
    await villa.shows('counter.visits', '0');
  });
});

describe('an upgrade that migrates the database', () => {
  const isMigrating = async () => (await getCoreState((await home.client('villa')).rest)).isMigrating;

  test.each([
    ['before the hub answers', '2027.1.0'],
    ['while the hub runs', '2027.2.0'],
  ])('%s is interrupted neither by an edit nor by a changed secret', async (_, version) => {
    const before = await villa.rollouts();
    const pod = await upgrade(version);
    await until('it migrates', isMigrating);
    const entity = `counter.of_${version.replaceAll('.', '_')}`;
    await home.apply(secret('words', { lamp: version }));
    await villa.change(withLamp(`counter:\n  ${entity.replace('counter.', '')}:\n`));
    await operator.calm();
    expect([await villa.podUid(), await villa.rollouts()]).toEqual([pod, before + 1]);

    // Now the change waits only for the restart.
    await home.annotate('hubconfiguration', 'villa', `hub-operator.dev/reconcile-requested-at=${version}`);
    await until('it is written', async () => {
      const { data } = await home.get('configmap', 'villa-configuration');
      return data!['configuration.yaml']!.includes(entity.replace('counter.', ''));
    });
    await operator.calm();
    expect([await villa.podUid(), await villa.rollouts()]).toEqual([pod, before + 1]);
    expect(await isMigrating()).toBe(true);

    await writeFile(mayMigrate, '');
    await villa.loaded();
    await rm(mayMigrate);
    await villa.connect();
    await villa.shows(entity, '0');
    await villa.showsAttribute('input_boolean.lamp', 'friendly_name', version);
    expect(await villa.rollouts()).toBe(before + 2);
  });
});
