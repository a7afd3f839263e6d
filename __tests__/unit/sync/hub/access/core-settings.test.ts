import type { CoreConfig } from '../../../../../operator/client/core';
import { hub as definition, type Hub } from '../../../../../operator/kinds/index';
import { defaulted } from '../../../../../operator/kinds/schema';
import { analyticsDifference, coreDifference } from '../../../../../operator/sync/hub/access/core-settings';

const present: CoreConfig = {
  version: '2026.11.0',
  state: 'RUNNING',
  recovery_mode: false,
  safe_mode: false,
  components: [],
  config_source: 'storage',
  location_name: 'Home',
  latitude: 52.52,
  longitude: 13.405,
  elevation: 0,
  radius: 100,
  unit_system: { length: 'km' },
  time_zone: 'UTC',
  currency: 'EUR',
  country: null,
  language: 'de',
  internal_url: null,
  external_url: null,
};

function updateFor(
  bootstrap: Hub['spec']['bootstrap'],
  rest: Partial<Hub['spec']> = {},
  config: Partial<CoreConfig> = {},
) {
  const hub = { spec: { ...rest, ...(bootstrap && { bootstrap }) } } as Hub;
  return coreDifference(hub, defaulted(definition.spec, hub.spec), { ...present, ...config });
}

describe('which core settings are sent', () => {
  test.each<[string, Hub['spec']['bootstrap'], object]>([
    ['nothing that is absent: not even the language that people chose in the hub', undefined, {}],
    [
      'nothing that is equal, as a number in quotes too',
      {
        location: {
          name: 'Home',
          latitude: '52.5200',
          longitude: '+13.405',
          elevation: 0,
          currency: 'EUR',
          unitSystem: 'metric',
        },
      },
      {},
    ],
    [
      'what differs, and only that',
      {
        language: 'en',
        location: { name: 'Mill', latitude: '52.52', longitude: '13.5', unitSystem: 'us_customary' },
      },
      { language: 'en', location_name: 'Mill', longitude: 13.5, unit_system: 'us_customary' },
    ],
    [
      'zero, which is a place and a height',
      { location: { latitude: '0', longitude: '0', elevation: 0 } },
      { latitude: 0, longitude: 0 },
    ],
    ['a country for a hub that has none', { location: { country: 'NO' } }, { country: 'NO' }],
  ])('%s', (_what, bootstrap, update) => expect(updateFor(bootstrap)).toEqual({ update, overridden: false }));

  test('the time zone of the pod, unless the location has its own', () => {
    expect(updateFor(undefined, { timezone: 'Europe/Berlin' }).update).toEqual({
      time_zone: 'Europe/Berlin',
    });
    expect(
      updateFor({ location: { timeZone: 'Europe/Oslo' } }, { timezone: 'Europe/Berlin' }).update,
    ).toEqual({ time_zone: 'Europe/Oslo' });
  });

  test('nothing to a hub that has them in its configuration.yaml', () => {
    expect(updateFor({ location: { name: 'Mill' } }, {}, { config_source: 'yaml' })).toEqual({
      update: { location_name: 'Mill' },
      overridden: true,
    });
  });
});

describe('which analytics are sent', () => {
  const off = { base: false, diagnostics: false, usage: false, statistics: false, snapshots: false };
  test('on: the four that the hub offers at its first start', () => {
    expect(analyticsDifference(true, off)).toEqual({
      base: true,
      diagnostics: true,
      usage: true,
      statistics: true,
    });
    expect(analyticsDifference(true, { ...off, base: true, usage: true })).toEqual({
      diagnostics: true,
      statistics: true,
    });
  });
  test('off: all that are on, also those that we never switched on', () => {
    expect(analyticsDifference(false, { ...off, base: true, snapshots: true })).toEqual({
      base: false,
      snapshots: false,
    });
  });
  test('nothing when it is as wanted', () => {
    expect(analyticsDifference(false, off)).toBeUndefined();
    expect(
      analyticsDifference(true, { ...off, base: true, diagnostics: true, usage: true, statistics: true }),
    ).toBeUndefined();
  });
});
