import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Made-up homes in the style of public ones: configuration.yaml and its folders, by path. */

type Files = Readonly<Record<string, string>>;

const lines = (...each: readonly string[]): string => `${each.join('\n')}\n`;

/** A home in a few files, like a new installation of the hub, with legacy syntax and secrets. */
export const SMALL_HOME: Files = {
  'configuration.yaml': lines(
    '# Loads default set of integrations. Do not remove.',
    'frontend:',
    '  themes: !include_dir_merge_named themes',
    '',
    'automation: !include automations.yaml',
    'script: !include scripts.yaml',
    'scene: !include scenes.yaml',
    'group: !include groups.yaml',
    "input_text: {greeting: {initial: !env_var GREETING 'Good day'}}",
    'input_boolean:',
    '  guests:',
    '    name: !secret guests\t# a tab before a comment',
    'homeassistant:',
    '  customize: !include customize.yaml',
  ),
  'groups.yaml': lines('all_lamps:', '  name: All lamps', '  entities: [input_boolean.guests]'),
  'customize.yaml': lines('input_boolean.guests: {icon: "mdi:account-group"}'),
  'themes/night.yaml': lines('Night:', '  primary-color: "#123456"'),
  'secrets.yaml': lines('guests: Guests', 'unused: "1"'),
  'automations.yaml': lines(
    "- id: '1699999999999'",
    '  alias: Küche an',
    '  trigger:',
    '    - platform: state',
    '      entity_id: input_boolean.guests',
    "      to: 'on'",
    '  action:',
    '    - service: input_boolean.turn_off',
    '      entity_id: input_boolean.guests',
    '- id: second',
    '  alias: Second',
    '  trigger: {platform: time, at: "07:30:00"}',
    '  action: []',
  ),
  'scripts.yaml': lines(
    'good_night:',
    '  alias: Good night',
    '  sequence: [{service: input_boolean.toggle, target: {entity_id: input_boolean.guests}}]',
  ),
  'scenes.yaml': lines("- id: '1'", '  name: Film', '  entities: {input_boolean.guests: on}'),
};

/** A home with helpers of each sort in its YAML: in the file itself, in an included file and in a package. */
export const HOME_OF_HELPERS: Files = {
  'configuration.yaml': lines(
    '# Loads default set of integrations. Do not remove.',
    'homeassistant:',
    '  packages: !include_dir_named packages',
    'input_boolean:   # switches',
    '  # the first one',
    '  guests:',
    '    name: We have guests',
    '    icon: mdi:account-group',
    '  film:',
    '',
    '  stays: {name: !secret lamp}',
    'input_text: !include texts.yaml',
    'counter: {visits: {initial: 3, maximum: 9}, plain: null}',
    'input_button: {bell: {name: Bell}}',
    '# the end',
    'timer:',
    '  oven: {duration: 01:30:00, restore: true}',
    '  tea:',
    '    duration: {minutes: 5}',
  ),
  'texts.yaml': lines('note:', '  max: 20', '  initial: abc'),
  'secrets.yaml': lines('lamp: Lamp'),
  'packages/hall.yaml': lines(
    'input_number:',
    '  level: {min: 0, max: 30, step: .5, unit_of_measurement: "°C"}',
    '  reset: {min: 0, max: 30, initial: 20}',
    'input_select:',
    '  mode:',
    '    options: [home, away]',
    '    initial: away',
    'input_datetime:',
    '  wake: {has_time: true, initial: "06:30"}',
    'schedule:',
    '  heating:',
    '    name: Heating',
    '    monday:',
    '      - {from: "18:00", to: "24:00:00", data: {warm: true}}',
    '      - {from: "08:00:00", to: "12:00:00"}',
  ),
};

/** Entities of {@link HOME_OF_HELPERS} that become HubHelpers, each with its resource. */
export const CONVERTED_HELPERS: Readonly<Record<string, string>> = {
  'input_boolean.guests': 'we-have-guests',
  'input_boolean.film': 'film',
  'input_text.note': 'note',
  'counter.visits': 'visits',
  'counter.plain': 'plain',
  'input_button.bell': 'bell',
  'timer.oven': 'oven',
  'timer.tea': 'tea',
  'input_number.level': 'level',
  'input_select.mode': 'mode',
  'input_datetime.wake': 'wake',
  'schedule.heating': 'heating',
};

const room = (name: string, filling: string): string =>
  lines(
    `# ${filling}`,
    'input_boolean:',
    `  ${name}_lamp: {name: !secret lamp}`,
    'input_number:',
    `  ${name}_warmth: {min: 0, max: 30, initial: 20}`,
    'group:',
    `  ${name}: {name: Room ${name}, entities: [input_boolean.${name}_lamp]}`,
    'template:',
    `  - sensor: [{name: Warmth of ${name}, unique_id: warmth_${name}, state: "{{ states('input_number.${name}_warmth') }}"}]`,
    'automation:',
    `  - id: package_${name}`,
    `    alias: Package ${name}`,
    `    trigger: [{platform: state, entity_id: input_boolean.${name}_lamp}]`,
    '    action: []',
    'script:',
    `  ${name}_off: {alias: Off in ${name}, sequence: [{service: input_boolean.turn_off, target: {entity_id: input_boolean.${name}_lamp}}]}`,
  );

/**
 * A home in folders: packages with all possible sections, included lists, customizations.
 * @param packages number of packages; there are about six files for each
 * @param size minimum size of each file in bytes
 */
export function homeInFolders(packages: number, size: number): Files {
  const names = Array.from({ length: packages }, (_, index) => `room_${index}`);
  const filling = 'x'.repeat(size);
  const each = (make: (name: string, index: number) => Files): Files =>
    Object.assign({}, ...names.map(make)) as Files;
  return {
    ...SMALL_HOME,
    'configuration.yaml': lines(
      'homeassistant:',
      '  packages: !include_dir_named packages',
      '  customize: !include_dir_merge_named customize',
      'frontend: {themes: !include_dir_merge_named themes}',
      'automation: !include automations.yaml',
      'automation by hand: !include_dir_merge_list automations',
      'script: !include scripts.yaml',
      'scene: !include scenes.yaml',
      'input_boolean: {guests: {name: !secret guests}}',
      'timer: !include_dir_merge_named timers',
    ),
    'secrets.yaml': lines('guests: Guests', 'lamp: Lamp'),
    ...each((name, index) => ({
      [`packages/floor ${index % 3}/${name}.yaml`]: room(name, filling),
      [`customize/${name}.yaml`]: lines(`# ${filling}`, `input_boolean.${name}_lamp: {icon: "mdi:lamp"}`),
      [`automations/${name}.yaml`]: lines(
        `# ${filling}`,
        `- {id: hand_${name}, alias: By hand ${name}, triggers: [{trigger: event, event_type: never}], actions: []}`,
      ),
      [`timers/${name}.yaml`]: lines(`# ${filling}`, `${name}_oven: {duration: "0:10:00"}`),
      [`themes/${name}.yaml`]: lines(`# ${filling}`, `Theme ${name}: {primary-color: red}`),
      [`notes/${name}.txt`]: filling,
    })),
  };
}

/** Writes the files of a home, with their folders. */
export async function writeHome(folder: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}
