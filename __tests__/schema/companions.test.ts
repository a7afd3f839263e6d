import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshNamespace, kubectl, mustKubectl } from '../cluster';

// Tests samples/companions, the replacements for add-ons. Each file is applied as a reader would.

const folder = join(__dirname, '..', '..', 'samples', 'companions');
/** The Pod Security level that a file needs. */
const levels: Readonly<Record<string, string>> = {
  'mosquitto.yaml': 'restricted',
  'zigbee2mqtt.yaml': 'baseline',
  'esphome.yaml': 'privileged',
  'matter-server.yaml': 'privileged',
  'node-red.yaml': 'baseline',
  'code-server.yaml': 'baseline',
};

test('each file of the folder is tried', async () => {
  expect((await readdir(folder)).sort()).toEqual(Object.keys(levels).sort());
});

test.each(Object.entries(levels))('%s is accepted without a warning at the level %s', async (file, level) => {
  const namespace = await freshNamespace('companions');
  await mustKubectl(['label', 'namespace', namespace, `pod-security.kubernetes.io/warn=${level}`]);
  const input = (await readFile(join(folder, file), 'utf8')).replaceAll(
    'namespace: home',
    `namespace: ${namespace}`,
  );
  const apply = ['apply', '--server-side', '--validate=strict', '--dry-run=server', '--filename=-'];
  const { code, stderr } = await kubectl(apply, { input });
  expect({ code, warnings: /^Warning.*/m.exec(stderr)?.[0] }).toEqual({ code: 0, warnings: undefined });
});
