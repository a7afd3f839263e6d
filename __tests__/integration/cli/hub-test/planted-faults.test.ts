import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTestFile } from '../../../../cli/test/file/test-file';
import { describeHome } from '../../../../cli/test/home';
import { readHome } from '../../../../cli/test/home-files';
import { runnerModules } from '../../../../cli/test/runner';
import type { Answer } from '../../../../cli/test/protocol';
import { unbounded } from '../../../../operator/base/bounded-task';
import { repository } from '../../../../sandbox/image/bundle';
import { ofType, runRequest } from '../../../cluster/hub-test';

// The cases of samples/ find faults that people typically make in automations.

const SAMPLES = join(repository, 'samples');
const sample = readdirSync(SAMPLES)
  .filter((name) => /^[1-4]\d-.*\.yaml$/.test(name))
  .map((name) => readFileSync(join(SAMPLES, name), 'utf8'))
  .join('\n---\n');

/** A replacement in the samples, in the part that begins with a certain text. */
type Planted = readonly [fault: string, part: string, from: RegExp | string, to: string];

const DIM = 'name: dim-for-movie-night';
const END = 'name: end-of-movie-night';
const WELCOME = 'name: welcome-home';
const SCENE = 'name: film-night';
const SCRIPT = 'name: good-night';
const FILES = 'templates.yaml: |';
const HELPERS = 'input_boolean:';
const NO_HOLIDAY = "{condition: state, entity_id: input_boolean.holiday, state: 'off'}";

const FAULTS: readonly Planted[] = [
  ['wrong entity of a trigger', DIM, 'input_boolean.movie_night', 'input_boolean.movienight'],
  ['wrong state of a trigger', DIM, "to: 'on'", "to: 'off'"],
  ['missing to', DIM, /# Quoted.*\n\s*to: 'on'/, ''],
  ['a for too many', DIM, "to: 'on'", "to: 'on'\n      for: {minutes: 1}"],
  [
    'a condition too many',
    DIM,
    'actions:',
    "conditions:\n    - {condition: time, after: '12:00'}\n  actions:",
  ],
  ['wrong action', DIM, 'input_number.set_value', 'input_number.increment'],
  ['misspelt action', DIM, 'input_number.set_value', 'input_number.set_valeu'],
  ['wrong target', DIM, 'input_number.living_room_brightness', 'input_number.brightness'],
  ['wrong value', DIM, 'value: 20', 'value: 2'],
  ['off by one', DIM, 'value: 20', 'value: 21'],
  ['misspelt field of an action', DIM, 'value: 20', 'valeu: 20'],
  ['switched off', DIM, 'alias:', 'enabled: false\n  alias:'],
  ['wrong time', END, "at: '00:00:00'", "at: '12:00:00'"],
  ['a minute too late', END, "at: '00:00:00'", "at: '00:01:00'"],
  ['an hour too early', END, "at: '00:00:00'", "at: '23:00:00'"],
  ['inverted condition', END, "state: 'on'", "state: 'off'"],
  ['missing condition', END, / *conditions:\n(.*\n){3}/, ''],
  [
    'condition on another entity',
    END,
    /(state\n\s+entity_id: )input_boolean.movie_night/,
    '$1input_boolean.holiday',
  ],
  ['opposite action', END, 'input_boolean.turn_off', 'input_boolean.turn_on'],
  [
    'toggle of another entity',
    END,
    /(target:\n\s+entity_id: )input_boolean.movie_night/,
    '$1input_boolean.holiday',
  ],
  [
    'a second entity',
    END,
    /(target:\n\s+entity_id: )(input_boolean.movie_night)/,
    '$1[$2, input_boolean.holiday]',
  ],
  ['a second time', END, "at: '00:00:00'", "at: ['00:00:00', '12:00:00']"],
  ['a condition too many', END, 'conditions:', `conditions:\n    - ${NO_HOLIDAY}`],
  ['toggle instead of off', END, 'input_boolean.turn_off', 'input_boolean.toggle'],
  ['wrong mode', WELCOME, 'mode: restart', 'mode: single'],
  ['queued instead of restart', WELCOME, 'mode: restart', 'mode: queued'],
  ['switched on', WELCOME, 'enabled: false', 'enabled: true'],
  ['from and to swapped', WELCOME, /from: 'on'\n(\s+)to: 'off'/, "from: 'off'\n$1to: 'on'"],
  ['missing delay', WELCOME, / *- delay:\n\s+minutes: 5\n/, ''],
  ['seconds for minutes', WELCOME, 'minutes: 5', 'seconds: 5'],
  ['one minute more', WELCOME, 'minutes: 5', 'minutes: 6'],
  ['wrong value after the delay', WELCOME, 'value: 80', 'value: 8'],
  ['wrong state of a scene', SCENE, "state: 'on'", "state: 'off'"],
  ['an entity that a scene lacks', SCENE, / *- entity_id: input_number.*\n.*\n/, ''],
  ['wrong number of a scene', SCENE, "state: '20'", "state: '25'"],
  ['a step that a script lacks', SCRIPT, / *- action: input_boolean.turn_off\n(.*\n){2}/, ''],
  ['wrong field of a script', SCRIPT, '{{ brightness |', '{{ bright |'],
  ['wrong default of a script', SCRIPT, 'default(0)', 'default(10)'],
  ['off by one threshold', FILES, '< 10 }}', '<= 10 }}'],
  ['inverted threshold', FILES, '< 10 }}', '> 10 }}'],
  ['a helper that forgets', HELPERS, /(name: We are.*\n)(\s+)/, '$1        initial: false\n$2'],
  ['a number that forgets', HELPERS, /(\n\s+)max: 100/, '$1max: 100$1initial: 20'],
  ['a room on another floor', 'name: kitchen', 'Ground floor', 'Upper floor'],
  ['a room without its label', 'name: living-room', / *labels:\n.*\n/, ''],
];

const planted = ([fault, part, from, to]: Planted): string => {
  const at = sample.indexOf(part);
  const changed = sample.slice(0, at) + sample.slice(at).replace(from, to);
  if (at < 0 || changed === sample) throw new Error(`${fault} is planted nowhere`);
  return changed;
};

async function homeIn(text: string) {
  const home = await readHome(['-'], { hub: 'my-home' }, () => Promise.resolve(text), unbounded);
  if (home.errors.length > 0) throw new Error(JSON.stringify(home.errors));
  return describeHome(home.manifests).home;
}

/**
 * Python that runs the cases of several changed homes one after another, since loading the hub takes long.
 * Each home ends at its first fault.
 */
const OF_SEVERAL = `
class Seen(Exception):
    pass


def main(request):
    send = own_output()
    folder = Path(tempfile.mkdtemp(prefix="hubtest-"))
    for index, home in enumerate(request["homes"]):
        def tell(answer):
            send({**answer, "home": index})
            if answer["type"] == "refused" or answer.get("faults"):
                raise Seen

        with contextlib.suppress(Seen):
            Runner({**request, "home": home}, tell, folder).run()
    shutil.rmtree(folder)
`;

test('the cases of the samples find each planted fault', async () => {
  const checked = await readTestFile(join(SAMPLES, 'tests/home.hubtest.yaml'), true, unbounded);
  if (!('file' in checked)) throw new Error(JSON.stringify(checked.findings));
  const homes = await Promise.all([sample, ...FAULTS.map(planted)].map(homeIn));
  const { steps, ...modules } = runnerModules();
  const request = {
    modules: { ...modules, steps: `${steps}\n${OF_SEVERAL}` },
    ...{ home: homes[0]!, homes, files: [checked.file] },
    options: { coverage: false, timeline: false },
  };
  const { answers, stderr } = await runRequest(request);
  expect(stderr).toBe('');
  const isSeen = homes.map((_, index) => {
    const own = answers.filter((each) => (each as Answer & { home: number }).home === index);
    return ofType(own, 'refused').length > 0 || ofType(own, 'case').some(({ faults }) => faults.length > 0);
  });
  const withoutFault = ofType(answers, 'case').filter((each) => (each as { home?: number }).home === 0);
  expect(withoutFault).toHaveLength(checked.file.cases.length);
  expect(isSeen[0]).toBe(false);
  const missed = FAULTS.filter((_, index) => !isSeen[index + 1]).map(([fault, part]) => `${part}: ${fault}`);
  expect(FAULTS.length).toBeGreaterThanOrEqual(30);
  expect(missed).toEqual([]);
});
