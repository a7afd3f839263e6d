import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../operator/base/clock';
import { LeaderElection } from '../../../operator/runtime/leader';
import { freshNamespace, mustKubectl, until } from '../../cluster';
import { Home } from '../../cluster/home';
import { adminCluster } from '../../cluster/admin-cluster';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { silentLog } from '../../cluster/silent-log';

let namespace: string;
beforeAll(async () => {
  namespace = await freshNamespace('leader');
});

class Candidate {
  readonly election: LeaderElection;
  leading = false;

  constructor(podName: string) {
    this.election = new LeaderElection({
      cluster: adminCluster(),
      clock: systemClock,
      log: silentLog,
      namespace,
      leaseName: 'lease',
      podName,
      // Longer than an API server is late on a busy machine, so that no one loses the lease.
      leaseDuration: 120_000,
      renewDeadline: 90_000,
      retryPeriod: 300,
    });
  }

  async run(): Promise<void> {
    if (!(await this.election.acquire())) return;
    this.leading = true;
    await this.election.renew();
    this.leading = false;
  }
}

test('of many that begin at the same time one leads; when it ends the next one does, and never two', async () => {
  const candidates = ['a', 'b', 'c', 'd'].map((podName) => new Candidate(podName));
  const ends = candidates.map((candidate) => candidate.run());
  const leaders = () => candidates.filter(({ leading }) => leading);
  while (candidates.length > 0) {
    const leader = await until('one leads', () => leaders()[0]);
    for (let look = 0; look < 5; look++) {
      expect(leaders()).toEqual([leader]);
      await sleep(50);
    }
    await leader.election.release();
    expect(leader.leading).toBe(false);
    candidates.splice(candidates.indexOf(leader), 1);
  }
  await Promise.all(ends);
});

describe('two processes', () => {
  const leads = async (operator: TestOperator) => (await operator.log()).includes('"became leader"');

  /** Starts two operators: the first leads and the second is on standby. */
  async function pair(
    settings: Readonly<Record<string, string>> = {},
  ): Promise<[TestOperator, TestOperator]> {
    const own = await freshNamespace('handover');
    const start = (name: string) =>
      startTestOperator(own, { settings: { POD_NAME: name, LEADER_ELECTION: 'true', ...settings } });
    const one = await start('one');
    await until('the first leads', () => leads(one));
    const two = await start('two');
    await until('the second is warm', async () => (await two.page('/readyz')) === 'ok\n');
    expect(await leads(two)).toBe(false);
    return [one, two];
  }

  /** Resolves when the second operator leads, with the holder of the lease at the end of the first. */
  async function handOver(one: TestOperator, two: TestOperator): Promise<string> {
    expect(await one.ended).toBe(0);
    const lease = await new Home('hub-operator').get('lease', one.namespace);
    await until('the second leads', () => leads(two));
    return (lease.spec['holderIdentity'] as string | undefined) ?? '';
  }

  test('a graceful stop releases the lease, so that the second need not wait for its expiry', async () => {
    const [one, two] = await pair();
    one.signal('SIGTERM');
    expect(await handOver(one, two)).not.toMatch(/^one_/);
  });

  test('a Lease that someone deletes or empties is written again by its leader, and the second does not lead', async () => {
    const [one, two] = await pair();
    const leases = new Home('hub-operator');
    const isHeld = async () => {
      const lease = await leases.get('lease', one.namespace).catch(() => undefined);
      return String(lease?.spec['holderIdentity']).startsWith('one_') ? lease : undefined;
    };
    const name = ['lease', one.namespace, '--namespace', leases.namespace];
    await mustKubectl(['delete', ...name]);
    const held = await until('the leader has made it again', isHeld);
    await mustKubectl(['patch', ...name, '--type=merge', '-p', '{"spec":{"holderIdentity":""}}']);
    const renewed = await until('the leader holds it again', isHeld);
    expect(renewed.spec['leaseTransitions']).toBeGreaterThan(Number(held.spec['leaseTransitions']));
    expect(await leads(two)).toBe(false);
    expect(await one.log()).not.toMatch(/lost lease|failed to renew lease/);
    one.signal('SIGTERM');
    expect(await handOver(one, two)).not.toMatch(/^one_/);
  });

  test('a graceful stop does not wait for reconciles that wait for a hub that hangs', async () => {
    const sockets: Socket[] = [];
    let asked = (): void => undefined;
    const silent = createServer((socket) => {
      sockets.push(socket);
      asked();
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    try {
      const [one, two] = await pair({ ALLOW_LOCAL_HUBS: 'true' });
      const home = new Home(one.namespace);
      await home.apply(
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'silent-token', labels: { 'hub-operator.dev/hub': 'silent' } },
          stringData: { token: 'sesame' },
        },
        {
          apiVersion: 'hub-operator.dev/v1',
          kind: 'Hub',
          metadata: { name: 'silent' },
          spec: {
            external: {
              url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
              tokenSecretRef: { name: 'silent-token' },
            },
          },
        },
      );
      // The signal comes at the moment when a reconcile sends its request to the hub, so that the whole
      // timeout of the request is left.
      const signalled = new Promise<void>((resolve) => {
        asked = () => {
          asked = () => undefined; // a second signal would end the operator immediately
          one.signal('SIGTERM');
          resolve();
        };
      });
      await signalled;
      expect(await handOver(one, two)).not.toMatch(/^one_/);
      const lines = (await one.log()).split('\n');
      const stopping = lines.findIndex((line) => line.includes('received signal, stopping operator'));
      expect(stopping).toBeGreaterThan(0);
      // The request of the leader would have timed out by then.
      expect(lines.slice(stopping).join('\n')).not.toContain('no answer within');
    } finally {
      silent.close();
      for (const socket of sockets) socket.destroy();
    }
  });
});
