import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../operator/clock';
import { LeaderElection } from '../../../operator/runtime/leader';
import { freshNamespace, until } from '../../cluster';
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
      leaseDuration: 15_000,
      renewDeadline: 10_000,
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

test('of many who begin at once one leads; when it goes the next one does, and never two', async () => {
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
  const operators: TestOperator[] = [];
  const lead = async (name: string) => {
    const lines = (await operators[0]!.log()).split('\n').filter((line) => line.includes('"became leader"'));
    return lines.some((line) => line.includes(`"${name}_`));
  };

  test('a graceful stop hands over long before the lease would end', async () => {
    for (const name of ['one', 'two']) {
      operators.push(await startTestOperator(namespace, { settings: { POD_NAME: name } }));
      if (name === 'one') await until('the first leads', () => lead('one'));
    }
    await until('the second is warm', async () => (await operators[1]!.page('/readyz')) === 'ok\n');
    expect(await lead('two')).toBe(false);
    expect(await operators[0]!.stop()).toBe(0);
    const stopped = Date.now();
    await until('the second leads', () => lead('two'));
    expect(Date.now() - stopped).toBeLessThan(12_000); // of 15 s
  });
});
