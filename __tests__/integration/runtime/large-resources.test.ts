import { freshNamespace } from '../../cluster';
import { automation, Home } from '../../cluster/home';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { applyExternalHub, StandInHub } from '../../cluster/stand-in-hub';

// A user who may create automations can store some with a million values. The operator, with its shipped
// memory limit, continues to serve others, also after a restart, when it lists all of them.

const LARGE = 6;
let home: Home;
let operator: TestOperator;

beforeAll(async () => {
  home = new Home(await freshNamespace('large'));
  const standIn = await StandInHub.start();
  operator = await startTestOperator(home.namespace, {
    settings: { ALLOW_LOCAL_HUBS: 'true', FREEZE_CACHE: 'false' },
  });
  await applyExternalHub(home, 'villa', standIn.url);
  await home.apply(automation('villa', 'usual'));
  await home.ready('hubautomation', 'usual');
});

async function isHandled(name: string): Promise<void> {
  const { message, reason } = await home.ready('hubautomation', name, { status: 'False' });
  expect({ message, reason }).toEqual({
    reason: 'InvalidSpec',
    message:
      'spec.actions cannot be processed: a resource has at most 25000 keys and values, nested at most 250 deep. Split the resource into smaller ones.',
  });
}

test('automations of 1.4 MiB are InvalidSpec, and others are served, also after a restart', async () => {
  // The outer item is an object, whose own items have no schema.
  const actions = [{ x: Array.from({ length: 450_000 }, () => ({})) }];
  const names = Array.from({ length: LARGE }, (_, index) => `large-${index}`);
  for (const name of names) await home.apply(automation('villa', name, { actions }));
  for (const name of names) await isHandled(name);
  const { pid } = operator;
  for (const edit of ['first', 'second']) {
    await home.change('hubautomation', 'usual', { description: edit });
    await home.ready('hubautomation', 'usual');
  }
  expect(operator.pid).toBe(pid);
  await operator.stop();
  await operator.start();
  await home.change('hubautomation', 'usual', { description: 'after the restart' });
  await home.ready('hubautomation', 'usual');
  await isHandled(names[0]!);
  await home.change('hubautomation', names[0]!, { actions: [{ delay: 1 }] });
  await home.ready('hubautomation', names[0]!);
  for (const name of names) await home.delete('hubautomation', name);
  expect(await operator.failures()).toEqual([]);
});
