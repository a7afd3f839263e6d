import { freshNamespace, mustKubectl } from '../../cluster';
import { kubectlHub } from '../../cluster/command-line';
import { automation, Home, label, secret } from '../../cluster/home';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

let home: Home;
let operator: TestOperator;

beforeAll(async () => {
  home = new Home(await freshNamespace('doctor'));
  operator = await startTestOperator(home.namespace);
  await startHub(home, 'villa');
  await home.apply(automation('villa', 'wake'), label('villa', 'night', { name: 'Night' }));
  await home.ready('hubautomation', 'wake');
  await home.ready('hublabel', 'night');
});

/**
 * Returns the lines about the hub and the resources of this file. Lines about the cluster are left out, since
 * other tests may change it.
 */
async function faults(): Promise<readonly string[]> {
  const { stdout } = await kubectlHub(home.namespace, ['doctor', '-o', 'json']);
  const findings = JSON.parse(stdout) as { verdict: string; subject: string; check: string }[];
  return findings
    .filter(({ verdict, subject }) => verdict === 'fault' && subject !== 'cluster')
    .map(({ subject, check }) => `${subject}: ${check}`);
}

describe('kubectl hub doctor', () => {
  test('finds no fault in a hub and resources that have none', async () => {
    expect(await faults()).toEqual([]);
    const { stdout } = await kubectlHub(home.namespace, ['doctor', 'villa', '--all']);
    for (const check of ['token', 'bans', 'includes', 'recovery and safe mode', 'clock', 'orphans'])
      expect(stdout).toContain(`✓ Hub villa: ${check}: `);
    expect(stdout).toContain('✓ cluster: API server: Kubernetes v1.');
    expect(stdout).toContain('✓ cluster: your rights: ');
  });

  test('names an object that its resource left behind', async () => {
    await operator.stop();
    await mustKubectl(
      ['patch', 'hubautomation', 'wake', '--type=merge', '--patch={"metadata":{"finalizers":[]}}'],
      { namespace: home.namespace },
    );
    await mustKubectl(['delete', 'hubautomation', 'wake'], { namespace: home.namespace });
    expect(await faults()).toEqual(['Hub villa: orphans']);
    await operator.start();
    await home.apply(automation('villa', 'wake'));
    await home.ready('hubautomation', 'wake');
    expect(await faults()).toEqual([]);
  });

  test('names a resource without its Hub', async () => {
    await home.apply(label('chalet', 'lost', { name: 'Lost' }));
    expect(await faults()).toEqual(['HubLabel lost: orphans']);
    await home.delete('hublabel', 'lost');
  });

  test('names a token that the hub rejects', async () => {
    await operator.stop();
    const { data } = await home.get('secret', 'villa-api-token');
    await home.apply(secret('villa-api-token', { token: 'wrong' }));
    expect(await faults()).toEqual(['Hub villa: token']);
    await home.apply(secret('villa-api-token', { token: Buffer.from(data!['token']!, 'base64').toString() }));
    expect(await faults()).toEqual([]);
  });
});
