import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idsInCopy } from '../../../cli/export/config-copy';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'copy-'));
});
afterEach(() => rm(folder, { recursive: true }));

const write = (name: string, text: string) => writeFile(join(folder, name), text);

describe('idsInCopy', () => {
  test('has the texts among the ids of automations, and the keys of scripts', async () => {
    await write(
      'automations.yaml',
      "- id: '1699999999999'\n  actions: !include x.yaml\n- id: porch\n  use_blueprint: { input: !input a }\n- id: 3\n- id: yes\n- alias: None\n",
    );
    await write('scripts.yaml', 'night:\n  sequence: []\n"12":\n  sequence: []\n');
    const { automation, script, scene } = await idsInCopy(folder);
    expect([...automation!]).toEqual(['1699999999999', 'porch']);
    expect([...script!]).toEqual(['night', '12']);
    expect(scene).toBeUndefined();
  });

  test.each(['', '[]\n', '# nothing\n', '~\n'])('has no ids from an empty file: %j', async (text) => {
    await write('automations.yaml', text);
    expect(await idsInCopy(folder)).toEqual({ automation: new Set() });
  });

  test('a folder without the files, and a file that is not YAML, are errors with a remedy', async () => {
    await expect(idsInCopy(folder)).rejects.toThrow(
      `${folder} has neither automations.yaml nor scripts.yaml: copy them there from the folder /config of the hub`,
    );
    await write('automations.yaml', '- id: [a\n');
    await expect(idsInCopy(folder)).rejects.toThrow(/automations\.yaml: This is not YAML: .*bracket/);
  });
});
