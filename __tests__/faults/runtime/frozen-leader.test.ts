import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshNamespace, sandboxDirectory, until } from '../../cluster';
import { ApiProxy, type Crossing } from '../../cluster/api-proxy';
import { automation, Home } from '../../cluster/home';
import { HubRecorder } from '../../cluster/hub-recorder';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { applyExternalHub, StandInHub } from '../../cluster/stand-in-hub';

// Two processes of the operator as it ships. The leader is frozen in the middle of its work until its lease
// has expired, and continues when the other one has led for a while. It then has answers, watch events and
// timers to handle, but must not write any more.

/**
 * Code that stops the process while it reads the watch event of a certain change, and delays all timers for a
 * moment after it continues. Thus no timer has told the process that its lease has expired when it handles
 * the event.
 */
const FREEZE = `
const { writeFileSync } = require('node:fs');
const { Socket } = require('node:net');
const { push } = Socket.prototype;
const { setTimeout } = globalThis;
let thawedAt;
Socket.prototype.push = function (chunk, ...rest) {
  if (thawedAt === undefined && chunk && chunk.includes('read this and freeze')) {
    writeFileSync(process.env.FROZEN_FILE, '');
    process.kill(process.pid, 'SIGSTOP');
    thawedAt = performance.now();
  }
  return push.call(this, chunk, ...rest);
};
globalThis.setTimeout = (callback, ...rest) => {
  const timer = setTimeout((...args) => {
    if (performance.now() < thawedAt + 500) timer.refresh();
    else callback(...args);
  }, ...rest);
  return timer;
};
`;

const AUTOMATIONS = Array.from({ length: 7 }, (_, index) => `automation-${index}`);
/** Automations that are changed before the freeze, whose writes to the hub are in progress. */
const [first = '', ...inHand] = AUTOMATIONS.slice(0, 4);
/**
 * Automations that are changed during the freeze, except for the first one, whose change freezes the process.
 */
const [changedLast = '', ...CHANGED_MEANWHILE] = AUTOMATIONS.slice(4);

const writes = (crossings: readonly Crossing[]) =>
  crossings.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`);

describe('HubOperator', () => {
  test('a leader that was frozen past its lease writes nothing when it thaws, to the cluster or to a hub', async () => {
    const home = new Home(await freshNamespace('frozen'));
    const recorder = await HubRecorder.start((await StandInHub.start()).url);
    const crossings: Crossing[] = [];
    const proxy = await ApiProxy.start((moment, crossing) => {
      if (moment === 'before') crossings.push(crossing);
      return Promise.resolve('on');
    });
    const leads = (operator: TestOperator) => operator.metric('leader_election_master_status');
    const start = async (name: string, more: Readonly<Record<string, string>> = {}, kubeconfig?: string) => {
      // The write that the proxy holds must not time out during the preparation.
      const settings = {
        POD_NAME: name,
        LEADER_ELECTION: 'true',
        ALLOW_LOCAL_HUBS: 'true',
        HUB_WRITE_TIMEOUT: '60',
        ...more,
      };
      const options = { settings, ...(kubeconfig !== undefined && { kubeconfig }) };
      const operator = await startTestOperator(home.namespace, options);
      await until(`${name} is warm`, async () => (await operator.page('/readyz')) === 'ok\n');
      return operator;
    };
    const file = (name: string) => join(sandboxDirectory(), `${home.namespace}-${name}`);
    await writeFile(file('freeze.cjs'), FREEZE);
    // On Linux the first operator has its own source address, by which the test recognizes its requests to
    // the hub.
    const ownAddress = process.platform === 'linux' ? '127.0.0.3' : undefined;
    const freezes = {
      NODE_OPTIONS: `--require=${file('freeze.cjs')}`,
      FROZEN_FILE: file('frozen'),
      ...(ownAddress !== undefined && { HUB_SOURCE_ADDRESS: ownAddress }),
    };
    const one = await start('one', freezes, proxy.kubeconfig);
    await until('one leads', async () => (await leads(one)) === 1);
    const two = await start('two');
    await applyExternalHub(home, 'villa', recorder.url);
    await home.apply(...AUTOMATIONS.map((name) => automation('villa', name)));
    for (const name of AUTOMATIONS) await home.ready('hubautomation', name);

    // The hub has written the first of four changes, and its answer is still on the way.
    const path = `POST /api/config/automation/config/${first}`;
    let answer = () => undefined as void;
    let isHeld = false;
    recorder.hold = (what) => {
      if (what !== path || isHeld) return undefined;
      isHeld = true;
      return new Promise((resolve) => (answer = resolve));
    };
    await home.change('hubautomation', first, { description: 'before' });
    await until('the hub answers the first write', () => isHeld);
    for (const name of inHand) await home.change('hubautomation', name, { description: 'before' });
    const waits = async (name: string) => (await home.condition('hubautomation', name))?.status === 'False';
    for (const name of inHand) await until(`the write of ${name} is in hand`, () => waits(name));

    await home.change('hubautomation', changedLast, { description: 'read this and freeze' });
    try {
      await until('one is frozen', () => access(file('frozen')).then(() => true));
      for (const name of CHANGED_MEANWHILE)
        await home.change('hubautomation', name, { description: 'meanwhile' });
      await until('two leads', async () => (await leads(two)) === 1);
      for (const name of AUTOMATIONS) await home.ready('hubautomation', name);
      await two.calm();
      crossings.length = 0;
      recorder.sent.length = 0;
      recorder.senders.length = 0;
      answer();
    } finally {
      one.signal('SIGCONT');
    }
    expect(await one.ended).toBe(1);
    expect(await one.log()).toContain('"lost lease, stopping at once"');

    await home.change('hubautomation', first, { description: 'after' });
    await home.ready('hubautomation', first);
    await until('the other one has written that', () => recorder.sent.includes(path));
    // Requests that the first operator sent before its end have arrived by now.
    expect(writes(crossings)).toEqual([]);
    const ofOne = recorder.sent.filter((_, index) => recorder.senders[index] === ownAddress);
    expect(ofOne.filter((what) => !what.startsWith('GET ') && what !== 'command ping')).toEqual([]);
    const ofTheOther = [path, 'POST /api/services/automation/reload'];
    expect(
      recorder.sent.filter((what) => /^(POST|PUT|DELETE) /.test(what) && !ofTheOther.includes(what)),
    ).toEqual([]);
    await recorder.stop();
    proxy.stop();
  });
});
