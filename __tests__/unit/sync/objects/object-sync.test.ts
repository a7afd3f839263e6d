import type { HubClient } from '../../../../operator/client/hub-client';
import { type Outcome, ready, waiting } from '../../../../operator/runtime/outcome';
import type { ReconcileContext } from '../../../../operator/runtime/sync-module';
import type { Child } from '../../../../operator/sync/objects/child';
import { ConfigEntitySync } from '../../../../operator/sync/config-entities/sync';
import { IntegrationSync } from '../../../../operator/sync/integration/sync';
import { type ObjectReconcile, ObjectSync } from '../../../../operator/sync/objects/object-sync';
import { RegistrySync } from '../../../../operator/sync/registry/sync';
import { anEntry } from '../registry/entries';

type Step =
  'begin' | 'follow' | 'isStillThere' | 'forgetObject' | 'observe' | 'dryRun' | 'acquire' | 'ensure';

/** The steps that were taken. */
let steps: Step[];

const outcomeOf = (step: Step): Outcome => ready('FloorRegistered', step);

/** A kind whose steps in `ending` end the reconcile. */
class Kind extends ObjectSync<Child, ObjectReconcile<Child>, { readonly id: string }> {
  constructor(private readonly ending: readonly Step[]) {
    super();
  }

  private take<T>(step: Step, value: T): Promise<T | Outcome> {
    steps.push(step);
    return Promise.resolve(this.ending.includes(step) ? outcomeOf(step) : value);
  }

  override begin(resource: Child, client: HubClient) {
    return this.take('begin', { resource, client, volume: 'new' });
  }
  override follow() {
    return this.take('follow', undefined);
  }
  override async isStillThere() {
    return (await this.take('isStillThere', false)) !== false;
  }
  override forgetObject() {
    steps.push('forgetObject');
    return waiting('FloorRegistered', 'forgetObject', 0);
  }
  override observe() {
    return this.take('observe', { id: 'attic' });
  }
  override dryRun() {
    steps.push('dryRun');
    return outcomeOf('dryRun');
  }
  override acquire() {
    return this.take('acquire', undefined);
  }
  override ensure() {
    steps.push('ensure');
    return Promise.resolve(outcomeOf('ensure'));
  }
  override remove() {
    return Promise.resolve([]);
  }
  override objectOf() {
    return undefined;
  }
  override forget() {
    return undefined;
  }
}

async function sync(ending: readonly Step[], dryRun = false, status = {}) {
  steps = [];
  const resource = anEntry('HubFloor', 'attic', { status });
  const { message } = await new Kind(ending).sync(resource, {} as HubClient, { dryRun } as ReconcileContext);
  return { steps, message };
}

describe('ObjectSync', () => {
  test('takes the steps in one order', async () => {
    const order = ['begin', 'follow', 'observe', 'acquire', 'ensure'];
    expect(await sync([])).toEqual({ steps: order, message: 'ensure' });
  });

  test.each<[Step]>([['begin'], ['follow'], ['observe'], ['acquire']])(
    'ends with the outcome of %s, and takes no further step',
    async (last) => {
      const taken = await sync([last]);
      expect({ last: taken.steps.at(-1), message: taken.message }).toEqual({ last, message: last });
    },
  );

  test('in dry-run observes, and neither follows an operation nor records anything', async () => {
    expect((await sync(['follow', 'acquire'], true, { volumeID: 'old' })).steps).toEqual([
      'begin',
      'observe',
      'dryRun',
    ]);
  });

  test('an object of another volume is forgotten, unless the current volume has it too', async () => {
    const status = { volumeID: 'old' };
    expect((await sync([], false, status)).steps).toEqual([
      'begin',
      'follow',
      'isStillThere',
      'forgetObject',
    ]);
    expect((await sync(['isStillThere'], false, status)).message).toBe('ensure');
  });

  describe('a record that is known and not in status', () => {
    const KNOWN = anEntry('HubFloor', 'attic', { status: { floorID: 'attic' } });

    class Knowing extends Kind {
      constructor(private readonly first: Child | Outcome) {
        super([]);
      }

      override known() {
        return Promise.resolve(this.first);
      }
      override begin(resource: Child, client: HubClient) {
        given.push(resource);
        return super.begin(resource, client);
      }
      override recorded(outcome: Outcome, resource: Child) {
        given.push(resource);
        return { ...outcome, status: { from: outcome.message } };
      }
    }

    const resource = anEntry('HubFloor', 'attic', {});
    /** Resources with which the steps were called. */
    let given: Child[];
    const syncWith = (first: Child | Outcome) => {
      [steps, given] = [[], []];
      return new Knowing(first).sync(resource, {} as HubClient, {} as ReconcileContext);
    };

    test('is passed to the steps, and an outcome records it beside the resource’s own status', async () => {
      expect(await syncWith(KNOWN)).toMatchObject({ message: 'ensure', status: { from: 'ensure' } });
      expect(given).toEqual([KNOWN, resource]);
    });

    test('is written to status before any step', async () => {
      expect(await syncWith(outcomeOf('begin'))).toEqual(outcomeOf('begin'));
      expect(steps).toEqual([]);
    });
  });

  test.each([ConfigEntitySync, IntegrationSync, RegistrySync])('%o has the order of all kinds', (kind) => {
    expect(Object.getOwnPropertyNames(kind.prototype)).not.toContain('sync');
  });
});
