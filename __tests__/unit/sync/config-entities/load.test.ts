import { REJECTED_WRITE_RETRY_INTERVAL, RESYNC } from '../../../../operator/base/limits';
import { type CachedEntity, EntityOperation } from '../../../../operator/sync/config-entities/entity-cache';
import type { ConfigEntitySpec } from '../../../../operator/sync/config-entities/entity-type';
import {
  type LoadPolicy,
  loadPolicyOf,
  type LoadStep,
  nextLoadStep,
} from '../../../../operator/sync/config-entities/load';
import { ManualClock } from '../../manual-clock';

const NOW = 1_000_000;
const written = (ago: number): CachedEntity => ({
  observed: { source: 'write', hash: 'x', at: NOW - ago },
  lastWriteAt: NOW - ago,
});
const started = (ago: number): CachedEntity => ({
  ...written(60_000),
  waitsSince: { hash: 'x', startId: 's', endedAt: NOW - ago },
});
const found: CachedEntity = { observed: { source: 'file', hash: 'x', at: NOW - 60_000 } };
const reload = { ok: true, reloadId: 'r', startedAt: NOW } as const;
const operation = Object.assign(new EntityOperation(new ManualClock(), 0, 'x'), { reload });
const reloaded: CachedEntity = { ...found, operation };

describe('nextLoadStep', () => {
  test.each<[string, LoadPolicy, CachedEntity, LoadStep]>([
    ['one reload is asked for', 'OperatorReloads', written(0), { type: 'Reload' }],
    ['one reload is asked for what was found in the file', 'OperatorReloads', found, { type: 'Reload' }],
    ['no second one follows the first', 'OperatorReloads', reloaded, { type: 'NotLoaded' }],
    [
      'none is asked for when an earlier one did not help',
      'OperatorReloads',
      { observed: { source: 'reload', hash: 'x', at: 0 } },
      { type: 'NotLoaded' },
    ],
    [
      'none is asked for when one has just failed',
      'OperatorReloads',
      { ...found, reloadFailedAt: NOW - 1_000 },
      { type: 'AtNextStart' },
    ],
    [
      'one is asked for again some time after one failed',
      'OperatorReloads',
      { ...found, reloadFailedAt: NOW - REJECTED_WRITE_RETRY_INTERVAL },
      { type: 'Reload' },
    ],
    ['none is asked for with autoReload false', 'NextStart', written(0), { type: 'AtNextStart' }],
    [
      'it is waited for after a start of the hub',
      'NextStart',
      started(4_000),
      { type: 'Wait', after: 6_000 },
    ],
    ['a start of the hub counts as the reload', 'NextStart', started(10_000), { type: 'NotLoaded' }],
    ['the hub gets time for its own reload', 'HubLoads', written(2_000), { type: 'Wait', after: 1_000 }],
    [
      'the hub does not get longer than it needs',
      'HubLoads',
      written(10_000),
      { type: 'NotLoaded', after: 10_000 },
    ],
    [
      'a definition without a recent write is not waited for',
      'HubLoads',
      found,
      { type: 'NotLoaded', after: 60_000 },
    ],
    ['a script is checked again soon', 'HubLoads', written(0), { type: 'Wait', after: 300 }],
    [
      'a script that is not loaded is checked ever less often',
      'HubLoads',
      written(60_000),
      { type: 'NotLoaded', after: 60_000 },
    ],
    [
      'a script that is not loaded is checked at least twice in a resync',
      'HubLoads',
      written(RESYNC),
      { type: 'NotLoaded', after: RESYNC / 2 },
    ],
  ])('%s', (_, policy, cached, expected) => {
    expect(nextLoadStep(policy, cached, NOW)).toEqual(expected);
  });
});

describe('loadPolicyOf', () => {
  test.each<[string, boolean, boolean, LoadPolicy, LoadPolicy]>([
    ['an automation or scene is reloaded by the operator', true, true, 'OperatorReloads', 'OperatorReloads'],
    [
      'with autoReload false the hub loads it, what is in a file at its start',
      true,
      false,
      'HubLoads',
      'NextStart',
    ],
    ['a script is loaded by the hub, with any autoReload', false, true, 'HubLoads', 'OperatorReloads'],
    ['a script with autoReload false is no different', false, false, 'HubLoads', 'OperatorReloads'],
  ])('%s', (_, reloads, autoReload, byApi, byFile) => {
    const spec = { autoReload } as ConfigEntitySpec;
    const policies = [true, false].map((isShared) => loadPolicyOf({ reloads }, spec, { isShared }));
    expect(policies).toEqual([byApi, byFile]);
  });
});
