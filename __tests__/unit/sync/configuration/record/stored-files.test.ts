import type { Files } from '../../../../../operator/sync/configuration/generate/config-files';
import { withPartFiles } from '../../../../../operator/sync/configuration/generate/parts';
import {
  filesIn,
  type HubConfigMap,
  writeFiles,
} from '../../../../../operator/sync/configuration/record/stored-files';
import { services } from '../../fixtures';
import { villaConfiguration } from '../restart-state';

const FILES: Files = { 'configuration.yaml': 'logger:\n', 'packages/a.yaml': 'counter:\n' };

/** Returns the ConfigMap that is written for the files. */
async function stored(files: Files): Promise<HubConfigMap> {
  let written: HubConfigMap | undefined;
  const given = services({
    applier: {
      apply: (_type, manifest) => {
        written = manifest;
        return Promise.resolve(manifest as never);
      },
    },
  });
  const content = { files, marker: { configuration: 'sha256:1' } };
  await writeFiles(given, { owner: villaConfiguration }, 'villa-configuration-accepted', content);
  return written!;
}

test.each([
  ['in one ConfigMap', FILES],
  ['in parts', withPartFiles(FILES)],
])('stored files %s are read back', async (_, files) => {
  expect(filesIn(await stored(files))).toEqual(files);
});

test.each<[string, object]>([
  ['is gone', { binaryData: undefined }],
  ['was emptied', { binaryData: { '.packed': '' } }],
  ['has another text', { binaryData: { '.packed': Buffer.from('counter:').toString('base64') } }],
])(
  'a compressed copy that %s is reported: the rest would otherwise count as the whole',
  async (_, change) => {
    const broken = { ...(await stored(withPartFiles(FILES))), ...change };
    expect(() => filesIn(broken)).toThrow(
      /villa-configuration-accepted is not as the operator wrote it: delete/,
    );
  },
);
