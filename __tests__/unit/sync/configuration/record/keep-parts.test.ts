import { objectNames } from '../../../../../operator/kinds/object-names';
import type { ClusterObject } from '../../../../../operator/runtime/objects';
import type { Files } from '../../../../../operator/sync/configuration/generate/config-files';
import { packed } from '../../../../../operator/sync/configuration/generate/packed-files';
import { withPartFiles } from '../../../../../operator/sync/configuration/generate/parts';
import { keepParts } from '../../../../../operator/sync/configuration/record/keep-parts';
import { aHub, services } from '../../fixtures';

const SMALL: Files = { 'configuration.yaml': 'logger:\n', 'packages/a.yaml': 'counter:\n' };
const LARGE = withPartFiles(SMALL);
const { configuration, configurationParts } = objectNames('villa');
const PARTS = configurationParts();

/**
 * Returns the writes for a hub that has these files accepted, and these published. The parts are those of
 * some content.
 */
async function kept(accepted: Files | undefined, published?: Files, parts = PARTS): Promise<string[]> {
  const done: string[] = [];
  const object = (name: string): ClusterObject => ({ metadata: { name, namespace: 'home' } });
  const copy = (files: Files) => ({ '.packed': packed(files).toString('base64') });
  const given = services({
    cache: {
      get: (_kind: string, _namespace: string, name: string) =>
        (parts.includes(name) || (published && name === configuration) ? object(name) : undefined) as never,
    },
    applier: {
      isOurs: () => true,
      find: (_type: unknown, _namespace: string, name: string) => {
        done.push(`read ${name}`);
        return Promise.resolve({ ...object(name), data: {}, binaryData: copy(published!) } as never);
      },
      apply: (_type, { metadata }) => {
        done.push(`apply ${metadata.name}`);
        return Promise.resolve({ metadata } as never);
      },
      remove: (_type, _owner, name) => Promise.resolve(void done.push(`remove ${name}`)),
    },
  });
  const records = { get: () => Promise.resolve(accepted && ({ files: accepted } as never)) };
  await keepParts(given, records, aHub());
  return done;
}

const changes = (done: readonly string[]) => done.filter((each) => !each.startsWith('read'));
const all = (verb: string) => PARTS.map((part) => `${verb} ${part}`);

test.each<[string, Parameters<typeof kept>, string]>([
  ['that was accepted in parts, where nothing is published', [LARGE], 'apply'],
  ['that is published in parts, where one in one ConfigMap was accepted', [SMALL, LARGE], 'apply'],
  ['in one ConfigMap that is published and accepted', [SMALL, SMALL], 'remove'],
  ['that was accepted in one ConfigMap, where nothing is published', [SMALL], 'remove'],
  ['that is not known', [undefined], 'remove'],
])('the parts are those of a content %s', async (_, given, verb) => {
  expect(changes(await kept(...given))).toEqual(all(verb));
});

test('the parts of the accepted content stay for the current pod while one ConfigMap is published for the next', async () => {
  expect(changes(await kept(LARGE, SMALL))).toEqual([]);
});

test('parts that a user has deleted are restored', async () => {
  expect(await kept(LARGE, undefined, [])).toEqual(all('apply'));
});

test('nothing is read for a home that has never had any', async () => {
  expect(await kept(SMALL, SMALL, [])).toEqual([]);
});
