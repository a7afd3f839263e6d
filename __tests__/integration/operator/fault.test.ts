import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshNamespace, sandboxDirectory, until } from '../../cluster';
import { Home } from '../../cluster/home';
import { startTestOperator } from '../../cluster/operator';

// A bug in the operator, in the process as it ships. The test injects the bug, since none is known.

const FAULTS = `
process.on('SIGUSR2', () => void Promise.reject(new Error('a promise that is not awaited')));
process.on('SIGHUP', () => { throw new Error('an error that is not caught'); });
`;

/** Servers cannot be closed, so that the process cannot shut down. */
const UNSTOPPABLE = `${FAULTS}
require('node:net').Server.prototype.close = function () { return this; };
`;

describe('the process of the operator', () => {
  test.each([
    ['an unhandled rejection', 'SIGUSR2', 'a promise that is not awaited'],
    ['an uncaught error', 'SIGHUP', 'an error that is not caught'],
  ] as const)('reports %s, releases the lease and exits with 1', async (_, signal, message) => {
    const namespace = await freshNamespace('fault');
    const faults = join(sandboxDirectory(), `${namespace}-faults.cjs`);
    await writeFile(faults, FAULTS);
    const operator = await startTestOperator(namespace, {
      settings: { NODE_OPTIONS: `--require=${faults}`, LEADER_ELECTION: 'true' },
    });
    await until('it leads', async () => (await operator.metric('leader_election_master_status')) === 1);
    operator.signal(signal);
    expect(await operator.ended).toBe(1);
    expect(await operator.logLines('bug in the operator')).toEqual([
      expect.objectContaining({
        level: 'error',
        msg: 'bug in the operator, stopping; please report it',
        error: expect.objectContaining({ message }),
      }),
    ]);
    const lease = await new Home('hub-operator').get('lease', namespace);
    expect(lease.spec).toMatchObject({ holderIdentity: '' });
  });

  test('exits with 1 after a bug even if it cannot shut down', async () => {
    const namespace = await freshNamespace('fault');
    const faults = join(sandboxDirectory(), `${namespace}-faults.cjs`);
    await writeFile(faults, UNSTOPPABLE);
    const operator = await startTestOperator(namespace, {
      settings: { NODE_OPTIONS: `--require=${faults}` },
    });
    await until('it watches', async () => (await operator.log()).includes('starting operator'));
    operator.signal('SIGUSR2');
    expect(await operator.ended).toBe(1);
    expect(await operator.logLines('operator ended')).toEqual([]);
  });
});
