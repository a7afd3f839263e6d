import type { Pod } from '../../../../../operator/sync/hub-pod/owned-objects';
import {
  asInHub,
  foldersFound,
  unknownFolders,
} from '../../../../../operator/sync/configuration/record/folders';

const report = { missing: ['a', 'themes'], empty: ['b'], present: ['c'], isComplete: true };
const target = (path: string, type: 'file' | 'folder' = 'folder') => ({ type, path, place: 'line 1' });
const HUB = { namespace: 'home', name: 'villa' };

const found = (categories: readonly string[], given = report) => {
  const ofHub = () => categories.map((category) => ({ spec: { category } }));
  const targets = ['a', 'b', 'c', 'd', 'themes'].map((path) => target(path));
  const { missing, empty, unknown } = foldersFound(
    { cache: { ofHub } as never },
    HUB,
    [...targets, target('b', 'file')],
    given,
  );
  return [missing, empty, unknown].map((each) => each.map(({ path }) => path).join(' '));
};

describe('foldersFound', () => {
  test('reports what the start of the pod has found about the current folders', () => {
    expect(found([])).toEqual(['a themes', 'b', 'd']);
  });

  test('themes of a community repository come while the hub runs', () => {
    expect(found(['plugin', 'theme'])).toEqual(['a', 'b', 'd']);
    expect(found(['plugin'])).toEqual(['a themes', 'b', 'd']);
  });
});

test('nothing is unknown when a report is incomplete or missing', () => {
  expect(unknownFolders(['d'], report)).toEqual(['d']);
  expect(unknownFolders(['d'], { ...report, isComplete: false })).toEqual([]);
  expect(unknownFolders(['d'], undefined)).toEqual([]);
});

describe('asInHub', () => {
  const podWith = (...mounts: readonly object[]) =>
    ({
      spec: {
        containers: [
          { name: 'sidecar', volumeMounts: [{ name: 'config', mountPath: '/data' }] },
          { name: 'hub', volumeMounts: [{ name: 'config', mountPath: '/config' }, ...mounts] },
        ],
      },
    }) as unknown as Pod;
  const given = {
    missing: ['packages', 'lights/hall', 'x'],
    empty: ['empty'],
    present: [],
    isComplete: true,
  };

  test('a folder that the container of the hub has in another volume exists', () => {
    const mounts = [
      { name: 'p', mountPath: '/config/packages' },
      { name: 'l', mountPath: '/config/lights/' },
      { name: 'e', mountPath: '/config/empty/deep' },
      { name: 's', mountPath: '/share' },
    ];
    expect(asInHub(given, podWith(...mounts))).toEqual({
      missing: ['x'],
      empty: [],
      present: ['packages', 'lights/hall', 'empty'],
      isComplete: true,
    });
  });

  test('other volumes have no effect', () => {
    expect(asInHub(given, podWith({ name: 'l', mountPath: '/config-x' }))).toEqual(given);
    expect(asInHub(undefined, podWith())).toBeUndefined();
  });
});
