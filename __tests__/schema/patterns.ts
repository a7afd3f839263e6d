import { BLUEPRINT_PATH } from '../../operator/kinds/blueprint-path';

/** Paths of blueprints: a pattern, and a rule of CEL. */
export const BLUEPRINT_PATHS = {
  good: [
    'a.yaml',
    'homeassistant/motion_light.yaml',
    'Some User/1.2/ä%20(b).yaml',
    '.hidden/.a.yaml',
    'a/b/c/d/e.yaml',
  ],
  bad: [
    '',
    'a',
    'a.yml',
    '.yaml',
    'a/.yaml',
    '/etc/a.yaml',
    '//a.yaml',
    'a//b.yaml',
    '../a.yaml',
    './a.yaml',
    'a/../b.yaml',
    'a/./b.yaml',
    'a..b.yaml',
    '~/a.yaml',
    'a\\b.yaml',
    'a\tb.yaml',
  ],
};

/**
 * Every pattern of the schemas with values that it accepts and values that it refuses. The API server is
 * asked about each value at every place of the pattern. A changed pattern needs new examples.
 */
export const patterns: Readonly<
  Record<string, { readonly good: readonly string[]; readonly bad: readonly string[] }>
> = {
  // A name in the hub's registries
  '\\S': { good: ['a', ' Ground  Floor ', '光', '🛋'], bad: [' ', '\t\n'] },
  // The id of an automation, a scene or a script
  '^[a-z][a-z0-9_]*$': {
    good: ['a', 'movie_night', 'a1'],
    bad: ['', 'Movie', '1st', '_a', 'a-b', 'a.b', 'a\n'],
  },
  // The id of an object that exists in the hub
  '^([^\\p{C}\\p{Z}]| )+$': {
    good: ['1699999999999', 'Bad Zimmer 1', '光', 'a/b', '🛋', ' a', "it's", '%2F', 'a__b', '...'],
    bad: ['', 'a\n', 'a\tb', '\u0000', 'a\u00a0b', 'a\u2028b', '\u200b', '\ue000'],
  },
  // The id of a script that exists in the hub
  '^[a-z0-9]+(_[a-z0-9]+)*$': {
    good: ['1699999999999', 'good_night', 'a'],
    bad: ['', 'Good', 'a__b', '_a', 'a_', 'a b', 'a-b', '光'],
  },
  // The login name of a user, or none
  '^$|\\S': { good: ['', 'anna', ' a b '], bad: [' ', '\t\n'] },
  // The entity of a device tracker
  '^device_tracker\\.[a-z0-9]+(_[a-z0-9]+)*$': {
    good: ['device_tracker.anna_phone', 'device_tracker.1'],
    bad: [
      '',
      'person.anna',
      'device_tracker.',
      'device_tracker.a__b',
      'device_tracker._a',
      'device_tracker.A',
    ],
  },
  // An entity id
  '^[a-z_]+\\.[a-z0-9_]+$': {
    good: ['light.kitchen', 'input_boolean.a_2'],
    bad: ['light', 'Light.a', 'light.a.b', 'light.'],
  },
  // The domain of an entity
  '^[a-z_]+$': { good: ['light', 'binary_sensor'], bad: ['', 'Light', 'light.', '3d', 'a b', 'a\n'] },
  // An alias of an entity, from which the hub strips spaces at both ends
  '^\\S(.*\\S)?$': { good: ['a', 'Next copy', '光', 'a  b'], bad: ['', ' a', 'a ', '\t'] },
  // An icon
  '^[a-z][a-z0-9_-]*:[A-Za-z0-9_-]+$': {
    good: ['mdi:sofa', 'fa-solid:house_1'],
    bad: ['sofa', 'mdi:', ':sofa', 'mdi:a b'],
  },
  // The domain of an integration
  '^[a-z0-9_]+$': { good: ['mqtt', 'met_eireann', '3_day_blinds'], bad: ['MQTT', 'a-b', 'a.b'] },
  // A folder of files
  '^([A-Za-z0-9_][A-Za-z0-9_ -]*(/[A-Za-z0-9_][A-Za-z0-9_. -]*){0,2})?$': {
    good: ['', 'packages', 'packages/ground floor/1.5', '_a/b-c'],
    bad: ['/a', 'a/', 'a//b', 'a/b/c/d', 'a.b', 'a/.b', '../a', ' a', 'ä', 'a\n'],
  },
  // A date, a time, or both
  '^([12][0-9]{3}-[01][0-9]-[0-3][0-9]|([12][0-9]{3}-[01][0-9]-[0-3][0-9] )?([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?)$':
    {
      good: ['2026-12-24 18:00:00', '2026-02-28 00:00', '1999-01-01 23:59:59'],
      bad: [
        '',
        'zzz',
        '2026-12-24T18:00',
        '24:00',
        '6:00',
        '2026-12-24 ',
        '0026-12-24',
        '2026-12-24 18:00\n',
      ],
    },
  // A duration
  '^[0-9]{1,5}:[0-5][0-9]:[0-5][0-9]$': {
    good: ['0:00:00', '00:05:00', '100:59:59'],
    bad: ['', '-0:05:00', '5:00', '300', '0:60:00', '0:00:5', '0:05:00\n'],
  },
  // A time of day
  '^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$': {
    good: ['00:00', '08:30:15', '23:59'],
    bad: ['', '8:00', '24:00', '08:60', '08:00:60', '0800', '08:00\n'],
  },
  // The end of a time of day
  '^(([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?|24:00(:00)?)$': {
    good: ['23:59', '24:00', '24:00:00'],
    bad: ['', '24:01', '24:00:01', '25:00', '24:00\n'],
  },
  // A blueprint's path
  '^[^/].*\\.yaml$': { good: ['homeassistant/motion_light.yaml', 'a.yaml'], bad: ['/a.yaml', 'a.yml', 'a'] },
  // The path of a HubBlueprint
  [BLUEPRINT_PATH]: BLUEPRINT_PATHS,
  // An address
  '^https?://[^\\s]+$': {
    good: ['https://example.org/a.yaml', 'http://a'],
    bad: ['', 'example.org', 'ftp://a', 'https://', 'https://a b', 'https://a\n'],
  },
  // The name of a secret for `!secret`
  '^[A-Za-z0-9_][A-Za-z0-9_.-]*$': { good: ['mqtt_password', 'A.b-c'], bad: ['-a', 'a b', 'a:'] },
  // The name of an uploaded file
  '^[A-Za-z0-9_][A-Za-z0-9 _.-]*$': { good: ['client.crt', 'my key.pem'], bad: ['../a', 'a/b', '.hidden'] },
  // The colour of a label
  '^(#[0-9a-fA-F]{6}|[a-z]+(-[a-z]+)*)$': {
    good: ['#ff8800', '#FF8800', 'red', 'light-blue'],
    bad: ['#FFF', 'Red', '#ff88zz', ''],
  },
  // An image tag or digest
  '^([A-Za-z0-9_][A-Za-z0-9._-]{0,127}|sha256:[a-f0-9]{64})$': {
    good: ['stable', '2026.11.0', '2026.12.0b1', `sha256:${'0a'.repeat(32)}`],
    bad: ['', '.1', 'a:b', 'a/b', 'sha256:abc'],
  },
  // An image without a tag
  '^([A-Za-z0-9.-]+(:[0-9]+)?/)?[a-z0-9][a-z0-9._/-]*$': {
    good: ['ghcr.io/home-assistant/home-assistant', 'registry.local:5000/ha', 'ha'],
    bad: ['ghcr.io/ha:stable', 'ha@sha256:00', 'ha:1', 'https://ghcr.io/ha', ''],
  },
  // A time zone
  '^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}$': {
    good: ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'],
    bad: ['', '/etc/passwd', 'Europe/', '../UTC', 'Europe Berlin'],
  },
  // A quantity
  '^([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$': {
    good: ['5Gi', '1.5Ti', '500M', '1e9', '0.5'],
    bad: ['', '5GB', '-1Gi', 'five', '5 Gi'],
  },
  // A host name
  '^(\\*\\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$': {
    good: ['home', 'home.example.org', '*.example.org', '1.a-b.c'],
    bad: ['', 'Home.example.org', 'https://home', 'home:8123', 'home.', '-a', 'a.*.b'],
  },
  // A range of addresses
  '^[0-9A-Fa-f:.]+/[0-9]{1,3}$': {
    good: ['192.168.1.0/24', 'fd00::/8'],
    bad: ['192.168.1.0', 'home/24', '10.0.0.0/'],
  },
  // The address of an external hub
  '^https?://([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?/?$': {
    good: ['http://192.168.1.10:8123', 'https://home.example.org', 'http://[fd00::1]:8123/', 'http://box'],
    bad: [
      '',
      'home',
      'ftp://home',
      'http://me:pass@home',
      'http://home/path',
      'http://home?x=1',
      'http://a\n',
      'http://',
    ],
  },
  // A language
  '^[a-z]{2,3}(-[A-Za-z0-9]+)*$': {
    good: ['en', 'pt-BR', 'zh-Hant', 'gsw'],
    bad: ['', 'English', 'EN', 'en_US'],
  },
  // Degrees north
  '^[+-]?([0-8]?[0-9](\\.[0-9]{1,15})?|90(\\.0{1,15})?)$': {
    good: ['0', '52.52', '-33.8688', '+89.999', '90', '-90.0'],
    bad: ['', '90.1', '91', '100', '52,52', '52.', 'N52', '1e1'],
  },
  // Degrees east
  '^[+-]?((1[0-7][0-9]|[0-9]?[0-9])(\\.[0-9]{1,15})?|180(\\.0{1,15})?)$': {
    good: ['0', '13.405', '-179.99', '180', '-180.0', '+99.5'],
    bad: ['', '180.1', '181', '360', '13,405', '13.'],
  },
  // A currency
  '^[A-Z]{3}$': { good: ['EUR', 'USD'], bad: ['', 'eur', 'EU', '€', 'EURO'] },
  // A country
  '^[A-Z]{2}$': { good: ['DE', 'NO'], bad: ['', 'de', 'DEU', 'Germany'] },
  // A time of day
  '^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$': {
    good: ['00:00:00', '03:30:00', '23:59:59'],
    bad: ['', '3:30:00', '03:30', '24:00:00', '12:60:00'],
  },
  // A community repository: owner and repository, whose name is not . or ..
  '^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9_.-]*[A-Za-z0-9_-][A-Za-z0-9_.-]*$': {
    good: ['owner/name', 'a-1/b.c_d', 'a/.github', 'a/b..'],
    bad: ['', 'owner', 'https://x/a', 'a/b/c', '-a/b', 'a/', 'a/.', 'a/..'],
  },
  '^sha256:[0-9a-f]{64}$': {
    good: [`sha256:${'0123456789abcdef'.repeat(4)}`],
    bad: ['', 'sha256:', 'a'.repeat(64), `sha256:${'A'.repeat(64)}`, `sha512:${'a'.repeat(64)}`],
  },
  // A version of a community repository
  '^[A-Za-z0-9][A-Za-z0-9._+/-]*$': {
    good: ['v1.2.3', '1.0.0+1', 'f00ba7', 'release/1'],
    bad: ['', '-x', 'a b', '../a'],
  },
};
