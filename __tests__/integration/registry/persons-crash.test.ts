import type { HubClient } from '../../../operator/client/hub-client';
import { freshNamespace, until } from '../../cluster';
import { DEFAULT_CONFIGURATION, Home, person } from '../../cluster/home';
import type { HubRecorder } from '../../cluster/hub-recorder';
import { OperatorToKill } from '../../cluster/operator-to-kill';

// kill -9 of the operator at each request in the life of one HubPerson, whose id is not that of the name, so that
// the hub gets two writes: there is one person, with all fields, and none is left behind.

const HUB = 'villa';

let home: Home;
let victim: OperatorToKill;
let recorder: HubRecorder;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('persons-crash'));
  victim = await OperatorToKill.start(home, HUB, DEFAULT_CONFIGURATION, {
    resources: ['/hubpersons/mother'],
    statusPoint: ({ id, pendingName, appliedHash }) =>
      id ? (appliedHash ? 'status Ready' : 'status id') : pendingName ? 'status announced' : 'status',
    isPoint: (command) => /^person\/(create|update|delete)$/.test(command),
  });
  ({ recorder } = victim);
  client = await home.client(HUB);
});

afterAll(() => victim?.stop());

const inHub = async () => (await client.connection.command('person/list')).storage;
const mother = () => person(HUB, 'mother', { name: 'Anna', username: '', deviceTrackers: [TRACKER] });
const TRACKER = 'device_tracker.phone';
const ANNA = { id: 'mother', name: 'Anna', user_id: null, device_trackers: [TRACKER], picture: null };

const points = ['status announced', 'person/create', 'person/update', 'status Ready'];
const cuts = points.flatMap((at) => [false, true].map((isSent) => [at, isSent] as const));

test.each(cuts)('killed at %s, sent: %s: there is one person with all fields', async (at, isSent) => {
  const before = await inHub();
  recorder.sent.length = 0;
  await victim.killAt(at, isSent, () => home.apply(mother()));
  await home.ready('hubperson', 'mother');
  expect(await inHub()).toEqual([...before, ANNA]);
  const isRepeated = at === 'person/create' && !isSent;
  const created = recorder.sent.filter((each) => each === 'command person/create');
  expect(created).toHaveLength(isRepeated ? 2 : 1);
  await home.delete('hubperson', 'mother');
  // Nothing tells a person that a killed operator has made from one that another client has made.
  const left = (await inHub()).find(({ name }) => name === 'Anna');
  if (left) await client.connection.command('person/delete', { person_id: 'mother' });
  const isKnown = at === 'status announced' || isRepeated || (at === 'status Ready' && isSent);
  expect(left !== undefined).toBe(!isKnown);
});

test.each([
  ['person/update', false],
  ['person/update', true],
] as const)('killed at a changed name at %s, sent: %s: the trackers stay', async (at, isSent) => {
  await home.apply(mother());
  await home.ready('hubperson', 'mother');
  await victim.killAt(at, isSent, () => home.change('hubperson', 'mother', { name: 'Anne' }));
  await until('the hub has the name', async () => (await inHub()).some(({ name }) => name === 'Anne'));
  await home.ready('hubperson', 'mother');
  expect(await inHub()).toContainEqual({ ...ANNA, name: 'Anne' });
  await home.delete('hubperson', 'mother');
});

test.each([
  ['person/delete', false],
  ['person/delete', true],
  ['PATCH resource', false],
] as const)('killed at the deletion at %s, sent: %s: the person is gone', async (at, isSent) => {
  await home.apply(mother());
  await home.ready('hubperson', 'mother');
  await victim.killAt(at, isSent, () => home.delete('hubperson', 'mother', { wait: false }));
  await until('it is gone', async () => !(await home.exists('hubperson', 'mother')));
  expect((await inHub()).map(({ name }) => name)).not.toContain('Anna');
});
