import { hub as definition, type Hub } from '../../../../../operator/kinds/index';
import { defaulted } from '../../../../../operator/kinds/schema';
import {
  analyticsDifference,
  coreDifference,
  initialCoreDifference,
} from '../../../../../operator/sync/hub/access/core-settings';
import type { CoreConfig } from '../../../../../operator/client/connection/api-types';

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

describe('coreDifference', () => {
  test.each<[string, Hub['spec']['bootstrap'], object]>([
    ['nothing that is absent, not even the language that was chosen in the hub', undefined, {}],
    [
      'nothing that is equal, also as a number in quotes',
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
      'all that differs and nothing else',
      {
        language: 'en',
        location: { name: 'Mill', latitude: '52.52', longitude: '13.5', unitSystem: 'us_customary' },
      },
      { language: 'en', location_name: 'Mill', longitude: 13.5, unit_system: 'us_customary' },
    ],
    [
      'zero as a latitude, a longitude and an elevation',
      { location: { latitude: '0', longitude: '0', elevation: 0 } },
      { latitude: 0, longitude: 0 },
    ],
    ['the country for a hub that has none', { location: { country: 'NO' } }, { country: 'NO' }],
  ])('contains %s', (_what, bootstrap, update) =>
    expect(updateFor(bootstrap)).toEqual({ update, overridden: false }),
  );

  test('contains the time zone of the location, and not that of the pod', () => {
    expect(updateFor(undefined, { timezone: 'Europe/Berlin' }).update).toEqual({});
    expect(
      updateFor({ location: { timeZone: 'Europe/Oslo' } }, { timezone: 'Europe/Berlin' }).update,
    ).toEqual({ time_zone: 'Europe/Oslo' });
  });

  test('is overridden by a configuration.yaml that has core settings', () => {
    expect(updateFor({ location: { name: 'Mill' } }, {}, { config_source: 'yaml' })).toEqual({
      update: { location_name: 'Mill' },
      overridden: true,
    });
  });
});

describe('initialCoreDifference', () => {
  const initialUpdate = (spec: Hub['spec']) =>
    initialCoreDifference({ spec } as Hub, defaulted(definition.spec, spec), present).update;

  test('contains the time zone of the location, and without it that of the pod', () => {
    expect(initialUpdate({ timezone: 'Europe/Berlin' })).toEqual({ time_zone: 'Europe/Berlin' });
    const bootstrap = { location: { timeZone: 'Europe/Oslo' } };
    expect(initialUpdate({ timezone: 'Europe/Berlin', bootstrap })).toEqual({ time_zone: 'Europe/Oslo' });
  });
});

describe('analyticsDifference', () => {
  const off = { base: false, diagnostics: false, usage: false, statistics: false, snapshots: false };
  test('switches on the four preferences that the hub offers at its first start', () => {
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
  test('switches off all preferences that are on, also those that the operator did not switch on', () => {
    expect(analyticsDifference(false, { ...off, base: true, snapshots: true })).toEqual({
      base: false,
      snapshots: false,
    });
  });
  test('is undefined when nothing differs', () => {
    expect(analyticsDifference(false, off)).toBeUndefined();
    expect(
      analyticsDifference(true, { ...off, base: true, diagnostics: true, usage: true, statistics: true }),
    ).toBeUndefined();
  });
});
