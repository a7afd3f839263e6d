import { freshNamespace, until } from '../../cluster';
import { ApiProxy, type Crossing } from '../../cluster/api-proxy';
import { Home } from '../../cluster/home';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { stateOf } from '../../../operator/client/config-entities/states';
import { ConfiguredHub } from '../hub/configured-hub';

// Edits of one configuration, each disturbed after a different write of the operator. The final state is
// always the same.

/** In milliseconds: each restart of operator or hub may take half a minute on a busy machine. */
const MANY_RESTARTS = 1_200_000;

const BASE = 'logger:\n  default: warning\ninput_boolean:\n  first:\n';

let home: Home;
let operator: TestOperator;
let proxy: ApiProxy;
let villa: ConfiguredHub;
/** Called after each write that belongs to the configuration. Resolves with whether its answer is lost. */
let onWrite: (crossing: Crossing) => Promise<boolean>;
const noDisturbance = () => Promise.resolve(false);

/**
 * Writes that do not belong to the configuration are events and the status of the Hub, which follows its pod.
 */
const belongsToConfiguration = ({ method, path }: Crossing) =>
  method !== 'GET' &&
  /\/(hubconfigurations\/villa\/status|configmaps\/villa-configuration[^/]*|statefulsets\/villa|pods\/villa-0)$/.test(
    path,
  );

beforeAll(async () => {
  onWrite = noDisturbance;
  home = new Home(await freshNamespace('edits'));
  proxy = await ApiProxy.start(async (moment, crossing) => {
    if (moment === 'before' || !belongsToConfiguration(crossing)) return 'on';
    return (await onWrite(crossing)) ? 'drop' : 'on';
  });
  operator = await startTestOperator(home.namespace, { kubeconfig: proxy.kubeconfig });
  await startHub(home, 'villa');
  villa = new ConfiguredHub(home, 'villa');
  await villa.change(BASE);
  await villa.loaded();
});
afterAll(() => proxy?.stop());

jest.setTimeout(MANY_RESTARTS);

interface Edit {
  readonly text: (round: number) => string;
  readonly reason: 'ConfigurationLoaded' | 'CheckFailed';
  /** The entity whose state shows that the edit is in use. */
  readonly entity: (round: number) => string;
  readonly state: string | undefined;
  readonly mostRollouts: number;
  readonly leastWrites: number;
}

const EDITS: readonly (readonly [string, Edit])[] = [
  [
    'that hot reloads',
    {
      text: (round) => `${BASE}  hot_${round}:\n`,
      reason: 'ConfigurationLoaded',
      entity: (round) => `input_boolean.hot_${round}`,
      state: 'off',
      mostRollouts: 0,
      // Two ConfigMaps, two statuses, and the annotation of the pod.
      leastWrites: 5,
    },
  ],
  [
    'that the hub rejects',
    {
      text: (round) => `${BASE}  bad_${round}:\n    initial: maybe\n`,
      reason: 'CheckFailed',
      entity: (round) => `input_boolean.bad_${round}`,
      state: undefined,
      mostRollouts: 0,
      leastWrites: 5,
    },
  ],
  [
    'that restarts the hub',
    {
      text: (round) => `${BASE}counter:\n  cold_${round}:\n`,
      reason: 'ConfigurationLoaded',
      entity: (round) => `counter.cold_${round}`,
      state: '0',
      mostRollouts: 1,
      leastWrites: 5,
    },
  ],
];

/** Waits for the end of an edit: the verdict on its generation, and the state in the hub. */
async function ended(edit: Edit, round: number): Promise<void> {
  await home.ready('hubconfiguration', 'villa', {
    status: edit.reason === 'ConfigurationLoaded' ? 'True' : 'False',
    reason: edit.reason,
  });
  await home.ready('hub', 'villa');
  await hubHas(edit.entity(round), edit.state);
  await hubHas('input_boolean.first', 'off');
}

/** Waits, because the hub may not answer immediately after a restart. */
const hubHas = (entity: string, state: string | undefined) =>
  until(`${entity} is ${state}`, async () => {
    const { rest } = await villa.connect();
    const present = await stateOf(rest, entity);
    if (present === state) return true;
    throw new Error(`it is ${present}`);
  });

/**
 * Disturbs an edit after its first write, in the next round after its second, and so on until there are no
 * more writes.
 */
async function disturbedAfterEach(
  disturb: (round: number) => Promise<boolean>,
  act: (round: number) => Promise<void>,
) {
  for (let round = 1; ; round++) {
    let writes = 0;
    let isDisturbed = false;
    onWrite = async () => {
      writes += 1;
      if (writes !== round) return false;
      isDisturbed = true;
      return disturb(round);
    };
    await act(round);
    await operator.calm();
    onWrite = noDisturbance;
    if (!isDisturbed) return round - 1;
  }
}

describe('an edit', () => {
  test.each(EDITS)(
    '%s ends as it should when the operator is killed after any of its writes',
    async (_, edit) => {
      let isKilled = false;
      const writes = await disturbedAfterEach(
        async () => {
          await operator.kill();
          return (isKilled = true);
        },
        async (round) => {
          const rollouts = await villa.rollouts();
          isKilled = false;
          await villa.change(edit.text(round));
          // The last write may be that of the status, so that the final state is reached before the kill.
          await until('the next process runs, or none is needed', async () => {
            if (isKilled) {
              isKilled = false;
              await operator.start();
              return true;
            }
            const ready = await home.condition('hubconfiguration', 'villa');
            const { generation } = (await home.get('hubconfiguration', 'villa')).metadata;
            return (
              proxy.pendingWrites === 0 &&
              !isKilled &&
              ready?.reason === edit.reason &&
              ready.observedGeneration === generation
            );
          });
          await ended(edit, round);
          expect((await villa.rollouts()) - rollouts).toBeLessThanOrEqual(edit.mostRollouts);
        },
      );
      expect(writes).toBeGreaterThanOrEqual(edit.leastWrites);
      await villa.change(BASE);
      await villa.loaded();
    },
  );

  test.each(EDITS)('%s can be taken back after any of its writes', async (_, edit) => {
    const writes = await disturbedAfterEach(
      async () => {
        await villa.change(BASE);
        return false;
      },
      async (round) => {
        await villa.change(edit.text(round));
        await until('it is taken back, or has ended', async () => {
          const { spec, metadata } = await home.get('hubconfiguration', 'villa');
          if (spec['configuration'] === BASE) return true;
          const ready = await home.condition('hubconfiguration', 'villa');
          return (
            proxy.pendingWrites === 0 &&
            ready?.reason === edit.reason &&
            ready.observedGeneration === metadata.generation
          );
        });
        await operator.calm();
        onWrite = noDisturbance;
        await villa.change(BASE);
        await villa.loaded();
        await home.ready('hub', 'villa');
        await until('nothing of it is left', async () => {
          const { rest } = await villa.connect();
          const state = await stateOf(rest, edit.entity(round));
          return state === undefined || state === 'unavailable';
        });
        await hubHas('input_boolean.first', 'off');
      },
    );
    expect(writes).toBeGreaterThanOrEqual(edit.leastWrites);
  });
});
