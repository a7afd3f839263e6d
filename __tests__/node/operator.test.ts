import { randomBytes } from 'node:crypto';
import { NAMESPACE, OPERATOR } from '../../manifests/names';
import { kubectl, mustKubectl, until } from '../cluster';
import { automation, conditionOf, type Stored } from '../cluster/home';
import { failedProbes, install, onNode, operatorPods, type Pod, processOf } from '../node-cluster';
import { NodeHome } from '../node-cluster/home';

const LEASE = OPERATOR;

let home: NodeHome;

beforeAll(async () => {
  await install();
  home = await NodeHome.make('operator');
});

const operator = { namespace: NAMESPACE };
const deployment = `deployment/${OPERATOR}`;

const scale = async (replicas: number) => {
  await mustKubectl(['scale', deployment, `--replicas=${replicas}`], operator);
  await until(`there are ${replicas} replicas`, async () => {
    const pods = await operatorPods();
    return pods.length === replicas && pods.every(({ status }) => status.containerStatuses?.[0]?.ready);
  });
};

/** Returns the name of the pod that holds the lease. */
const leader = async () => {
  const { spec } = JSON.parse(await mustKubectl(['get', 'lease', LEASE, '--output=json'], operator)) as {
    spec: { holderIdentity?: string };
  };
  return (await operatorPods()).find(({ metadata }) => spec.holderIdentity?.startsWith(metadata.name));
};

const leads = (not?: Pod) =>
  until('there is a leader', async () => {
    const found = await leader();
    return found && found.metadata.uid !== not?.metadata.uid && found;
  });

/** Resolves when the operator has reconciled an object that was just created. */
async function works(): Promise<void> {
  const name = `marker-${randomBytes(4).toString('hex')}`;
  await until(`${name} is accepted`, async () => {
    await home.apply(automation('nowhere', name)); // the webhook of a replica that is ending may refuse
    return true;
  });
  await until(`the operator looks at ${name}`, async () => {
    const object: Stored = await home.get('hubautomation', name);
    return conditionOf(object, 'Ready')?.reason === 'HubNotFound';
  });
}

interface Term {
  readonly pod: string;
  /** Times in milliseconds, by the clock that all containers of the node share. */
  readonly from: number;
  readonly until: number;
}

/** Returns the terms in which the processes of a pod have led, from their logs. */
async function termsOf({ metadata: { name }, status }: Pod): Promise<Term[]> {
  const { restartCount } = status.containerStatuses![0]!;
  const texts = [
    ...(restartCount > 0 ? [await mustKubectl(['logs', name, '--timestamps', '--previous'], operator)] : []),
    await mustKubectl(['logs', name, '--timestamps'], operator),
  ];
  return texts.flatMap((text, index) => {
    const lines = text.trim().split('\n');
    const timeOf = (line: string) => Date.parse(line.split(' ')[0]!);
    const began = lines.find((line) => line.includes('became leader'));
    const isOver = index < texts.length - 1;
    return began
      ? [{ pod: name, from: timeOf(began), until: isOver ? timeOf(lines.at(-1)!) : Infinity }]
      : [];
  });
}

const signal = async (pod: Pod, name: string) => onNode('kill', `-${name}`, String(await processOf(pod)));

describe('the operator as a pod', () => {
  test('is admitted under Pod Security restricted, as a user without rights on a root that it cannot write', async () => {
    const namespace = await mustKubectl(['get', 'namespace', NAMESPACE, '--output=json']);
    expect(JSON.parse(namespace)).toMatchObject({
      metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    });
    const [pod] = await operatorPods();
    const pid = await processOf(pod!);
    const status = await onNode('cat', `/proc/${pid}/status`);
    expect(status).toMatch(/^Uid:\s+65532\s+65532/m);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    expect(await onNode('cat', `/proc/${pid}/mounts`)).toMatch(/^overlay \/ overlay ro,/m);
  });

  test('starts without a restart and without a failed probe', async () => {
    const [pod] = await operatorPods();
    expect(pod!.status.containerStatuses).toMatchObject([{ ready: true, restartCount: 0 }]);
    expect(await failedProbes(NAMESPACE, [pod!])).toEqual([]);
  });

  test('its webhook is called through its Service, and refuses an id that another resource has', async () => {
    await home.apply(automation('villa', 'first', { id: 'porch' }));
    const second = JSON.stringify(automation('villa', 'second', { id: 'porch' }));
    await until('it is refused', async () => {
      const { code, stderr } = await kubectl(['create', '-f', '-'], {
        input: second,
        namespace: home.namespace,
      });
      if (stderr.includes('HubAutomation first has the id porch in the Hub villa already')) return true;
      // the webhook did not know the first automation yet
      if (code === 0) await home.delete('hubautomation', 'second');
      throw new Error(stderr);
    });
  });

  test('of two, one leads while its lease is deleted again and again, and goes on', async () => {
    await scale(2);
    const { metadata } = await leads();
    for (let deletion = 1; deletion <= 3; deletion++) {
      await mustKubectl(['delete', 'lease', LEASE], operator);
      await until('the lease has a holder', leader);
    }
    await works();
    const all = (await Promise.all((await operatorPods()).map(termsOf))).flat();
    const terms = all.sort((a, b) => a.from - b.from);
    expect(terms[0]!.pod).toBe(metadata.name);
    terms.slice(1).forEach(({ from }, earlier) => expect(from).toBeGreaterThan(terms[earlier]!.until));
  });

  test('of two, the other one takes over from a leader that is frozen, and then from one that is killed', async () => {
    await scale(2);
    const frozen = await leads();
    await signal(frozen, 'STOP');
    const second = await leads(frozen);
    await works();
    // The frozen operator learns that it has lost the lease as soon as it continues: it ends, and is started
    // again as the standby. After more than a minute its liveness probe may have restarted it already.
    await signal(frozen, 'CONT').catch(() => undefined);
    await until('it was started again', async () => {
      const again = (await operatorPods()).find(({ metadata }) => metadata.uid === frozen.metadata.uid);
      const [status] = again?.status.containerStatuses ?? [];
      return status && status.restartCount > 0 && status.ready;
    });
    // On a machine that was too busy to renew the lease, the second operator may have ended too.
    const present = await leads();
    const still = (await operatorPods()).find(({ metadata }) => metadata.uid === second.metadata.uid);
    if (still?.status.containerStatuses![0]!.restartCount === 0)
      expect(present.metadata.name).toBe(second.metadata.name);
    await until('the leader is killed', async () => {
      await signal(await leads(), 'KILL');
      return true;
    });
    await works();
    await scale(1);
  });

  test('is replaced by a rolling update, and continues to work', async () => {
    const [before] = await operatorPods();
    await mustKubectl(['rollout', 'restart', deployment], operator);
    await mustKubectl(['rollout', 'status', deployment, '--timeout=600s'], operator);
    const after = await leads(before);
    expect(after.metadata.uid).not.toBe(before!.metadata.uid);
    await works();
  });
});
