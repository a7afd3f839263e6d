import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { V1PodStatus } from '@kubernetes/client-node';
import { systemClock } from '../../../operator/base/clock';
import { withDeadline } from '../../../operator/base/deadline';
import { callService } from '../../../operator/client/services';
import { freshNamespace, until } from '../../cluster';
import { automation, Home, HUB_VERSION } from '../../cluster/home';
import { ObjectHistory } from '../../cluster/object-history';
import { startTestOperator } from '../../cluster/operator';
import { startHub } from '../../cluster/onboarded-volume';
import { running } from '../../cluster/http-settings';
import { hubPid } from './hub-in-sandbox';

let home: Home;

beforeAll(async () => {
  home = new Home(await freshNamespace('health'));
  await startTestOperator(home.namespace);
  // Faster probes than the operator's own. A hub that hangs does not get four minutes to stop.
  const probes = {
    livenessProbe: {
      periodSeconds: 3,
      timeoutSeconds: 5,
      failureThreshold: 4,
      terminationGracePeriodSeconds: 10,
    },
  };
  await startHub(home, 'h', { podTemplate: { spec: { containers: [{ name: 'hub', ...probes }] } } });
  await home.apply(automation('h', 'morning'));
  await running(await home.client('h'));
});

// All tests use one hub, and run in this order.
describe('a hub that stops to answer, or answers in another mode', () => {
  test('serves its automations while the Hub has a mistake in its spec', async () => {
    await home.ready('hubautomation', 'morning');
    await home.change('hub', 'h', { version: '2025.1.0' });
    await home.ready('hub', 'h', { status: 'False', reason: 'DowngradeRefused' });
    await home.change('hubautomation', 'morning', { alias: 'Changed beside a mistake' });
    await home.ready('hubautomation', 'morning');
    expect(await readFile(join(await home.volumeOf('h'), 'automations.yaml'), 'utf8')).toContain(
      'Changed beside a mistake',
    );
    await home.ready('hub', 'h', { status: 'False', reason: 'DowngradeRefused' });
    await home.change('hub', 'h', { version: HUB_VERSION });
    await home.ready('hub', 'h');
  });

  test('hangs: that is reported, and the liveness probe restarts the hub', async () => {
    const before = await hubPid(home, 'h');
    const history = await ObjectHistory.of(home, 'hub', 'h');
    process.kill(-before, 'SIGSTOP'); // until the liveness probe kills it
    // The probe of the pod and the request of the operator both notice that the hub hangs, in either order.
    const told = /HubUnreachable: .*no answer within 10 s|PodNotReady: .*probe failed/;
    await history.find('the Hub says that it hangs', ({ status }) =>
      status?.conditions?.find(
        (each) =>
          each.type === 'Ready' && each.status === 'False' && told.test(`${each.reason}: ${each.message}`),
      ),
    );
    await until(
      'the liveness probe has it restarted',
      async () => (await hubPid(home, 'h').catch(() => before)) !== before,
      // The four failures of the probe take up to three minutes, since probes have longer timeouts where many
      // hubs share a machine.
    );
    await home.ready('hub', 'h');
    await running(await home.client('h'));
  });

  test('is down for long in its container, as during a restore of a backup: it is not killed', async () => {
    const container = async () =>
      ((await home.get('pod', 'h-0')).status as unknown as V1PodStatus).containerStatuses![0]!;
    const { restartCount } = await container();
    const client = await home.client('h');
    const next = await until('it is stopped before it listens', async () => {
      await running(client);
      const before = await hubPid(home, 'h');
      // the hub may go down before it answers
      await callService(client.rest, 'homeassistant', 'restart').catch(() => undefined);
      const started = await until('it starts again', async () => {
        const pid = await hubPid(home, 'h');
        return pid !== before && pid;
      });
      process.kill(-started, 'SIGSTOP');
      if (!(await listens(client.rest.address.url))) return started;
      process.kill(-started, 'SIGCONT'); // this process was too late to stop the hub
      return false;
    });
    await until('it is not ready', async () => !(await container()).ready);
    // Longer than all failures of its liveness probe, even with the extended timeouts of a busy machine.
    await setTimeout(60_000);
    process.kill(-next, 'SIGCONT');
    await home.ready('hub', 'h');
    await running(await home.client('h'));
    expect(await hubPid(home, 'h')).toBe(next);
    expect((await container()).restartCount).toBe(restartCount);
  });

  test('is in safe mode: that is reported, and ends with a restart', async () => {
    const { rest } = await home.client('h');
    // the hub may go down before it answers
    await callService(rest, 'homeassistant', 'restart', { safe_mode: true }).catch(() => undefined);
    await home.ready('hub', 'h', { status: 'False', reason: 'SafeMode' });
    await running(await home.client('h'));
    await callService(rest, 'homeassistant', 'restart').catch(() => undefined);
    await home.ready('hub', 'h');
    await running(await home.client('h'));
  });

  /** Breaks the configuration of the running container. Resolves with the former content. */
  async function bringIntoRecoveryMode(): Promise<string> {
    const file = join(await home.volumeOf('h'), 'configuration.yaml');
    const good = await readFile(file, 'utf8');
    await rm(file); // the file is a link to the mounted file, which the node may be about to refresh
    await writeFile(file, `${good}\nsensor: !include of-nothing.yaml\n`);
    // only the container is restarted, without init containers
    process.kill(await hubPid(home, 'h'), 'SIGTERM');
    return good;
  }

  test('comes up in recovery mode with a configuration that ran before: one new pod repairs it', async () => {
    const { uid } = (await home.get('pod', 'h-0')).metadata;
    await bringIntoRecoveryMode();
    await until('a new pod runs', async () => (await home.get('pod', 'h-0')).metadata.uid !== uid);
    const healed = (await home.get('pod', 'h-0')).metadata.uid;
    // The Hub may still be Ready from before.
    await running(await home.client('h'));
    await home.ready('hub', 'h');
    await home.ready('hubconfiguration', 'h');
    expect((await home.get('pod', 'h-0')).metadata.uid).toBe(healed);
    await home.event(
      'Hub',
      'h',
      /^Normal HubRestarting: The hub restarts: recovery mode with a configuration/,
    );
  });

  test('is in recovery mode: that is reported in the hub’s words, nothing is written, and a repair ends it', async () => {
    // Without suspend a new pod would repair it.
    await home.change('hubconfiguration', 'h', { suspend: true });
    const file = join(await home.volumeOf('h'), 'configuration.yaml');
    const { url } = (await home.client('h')).rest.address;
    const before = await hubPid(home, 'h');
    const good = await bringIntoRecoveryMode();
    await until(
      'it answers again',
      async () =>
        (await hubPid(home, 'h').catch(() => before)) !== before &&
        (
          await withDeadline({ clock: systemClock, delay: 2_000 }, (signal) =>
            fetch(`${url}/manifest.json`, { signal }),
          )
        ).ok,
    );
    await until('it is told in the words of the hub', async () => {
      const ready = { type: 'Ready', status: 'False', reason: 'RecoveryMode' };
      const message = expect.stringMatching(/recovery mode: .*of-nothing\.yaml/s) as string;
      const { status } = await home.get('hub', 'h');
      expect(status).toMatchObject({ phase: 'Failed' });
      expect(status!.conditions).toContainEqual(expect.objectContaining({ ...ready, message }));
      return true;
    });
    const automations = join(await home.volumeOf('h'), 'automations.yaml');
    const stored = await readFile(automations, 'utf8');
    await home.change('hubautomation', 'morning', { alias: 'Changed in recovery mode' });
    await home.ready('hubautomation', 'morning', { status: 'False', reason: 'HubNotReady' });
    // In recovery mode the hub has used the volume too.
    await home.annotate('pvc', 'h-config', 'hub-operator.dev/ran-version-');
    await home.annotate('hub', 'h', 'hub-operator.dev/reconcile-requested-at=in-recovery-mode');
    await until(
      'its version is noted',
      async () =>
        (await home.get('pvc', 'h-config')).metadata.annotations?.['hub-operator.dev/ran-version'] ===
        HUB_VERSION,
    );
    expect(await readFile(automations, 'utf8')).toBe(stored);
    await writeFile(file, good);
    const client = await home.client('h');
    await running(client); // the hub forgets a restart that is requested earlier
    await home.annotate('hub', 'h', 'hub-operator.dev/reconcile-requested-at=repaired');
    await until('it is told what to do', async () =>
      (await home.condition('hub', 'h'))?.message.includes('Restart the hub to leave this mode'),
    );
    await callService(client.rest, 'homeassistant', 'restart').catch(() => undefined);
    await home.ready('hub', 'h');
    await home.ready('hubautomation', 'morning');
    expect(await readFile(automations, 'utf8')).toContain('Changed in recovery mode');
  });
});

/** Whether the port accepts connections, which it also does for a stopped process. */
function listens(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => resolve(true));
    socket.on('connect', () => socket.destroy()).on('error', () => resolve(false));
  });
}
