import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { runnerModules } from '../../../../cli/test/runner';
import {
  call,
  caseOf,
  expectStep,
  fireStep,
  hubPython,
  ofType,
  requestOf,
  runRequest,
  setStep,
  state,
} from '../../../cluster/hub-test';
import { homeOfEvents } from './home-of-events';

// The virtual clock of the Python program replaces few names, and two runs are equal.

/** Python that makes the modules in the request on standard input importable. */
const IMPORTER = `
import asyncio, importlib, importlib.abc, importlib.util, json, sys

modules = json.load(sys.stdin)


class Texts(importlib.abc.ExecutionLoader):
    def find_spec(self, name, *_):
        return importlib.util.spec_from_loader(name, self) if name in modules else None

    def get_source(self, name):
        return modules[name]

    def get_filename(self, name):
        return name + ".py"


sys.meta_path.insert(0, Texts())
`;

/** Runs a Python program that may import the modules. */
async function python(program: string): Promise<string> {
  const running = promisify(execFile)(hubPython(), ['-I', '-c', IMPORTER + program]);
  running.child.stdin!.end(JSON.stringify(runnerModules()));
  return (await running).stdout;
}

/**
 * Prints the names of the standard library and of the hub that the program has replaced, and the places in
 * the modules of the hub that still use the original clock.
 */
const PATCHES = `
import functools, time

names = [name for name in dir(time) if callable(getattr(time, name))]
former = {name: getattr(time, name) for name in names}

importlib.import_module("clock")
importlib.import_module("steps")
for each in ("automation", "script", "template", "timer", "schedule", "trend", "sun", "homeassistant.triggers.time"):
    importlib.import_module("homeassistant.components." + each)


def is_former(value):
    if any(value is former[name] for name in ("time", "monotonic", "time_ns", "monotonic_ns", "sleep")):
        return True
    return isinstance(value, functools.partial) and getattr(value.func, "__name__", "") == "now"


clocks = [getattr(time, name) for name in names if getattr(time, name) is not former[name]]
clocks += [sys.modules["homeassistant.util.dt"].now, sys.modules["homeassistant.util.dt"].utcnow]
replaced, others, stale = [], [], []
for module_name, module in sorted(sys.modules.items()):
    if not module_name.startswith("homeassistant"):
        continue
    for name, value in sorted(vars(module).items()):
        if getattr(value, "__module__", None) in modules:
            is_clock = any(value is each for each in clocks)
            (replaced if is_clock else others).append(module_name + "." + name)
        if is_former(value):
            stale.append(module_name + "." + name)
print(
    json.dumps(
        {
            "time": sorted(name for name in names if getattr(time, name) is not former[name]),
            "hub": [name for name in replaced if name.startswith("homeassistant.util.dt.")],
            "users": len(replaced),
            "others": others,
            "stale": stale,
        }
    )
)
`;

const OF_TRIGGERS = ['async_initialize_triggers', 'async_validate_trigger_config'];

test('the clock of the standard library and four names of the hub are replaced, and no others', async () => {
  const found = JSON.parse(await python(PATCHES)) as { users: number; others: string[] };
  expect(found).toEqual({
    time: ['monotonic', 'monotonic_ns', 'sleep', 'time', 'time_ns'],
    hub: ['homeassistant.util.dt.now', 'homeassistant.util.dt.utcnow'],
    // Modules that import one of these names get the replacement.
    users: expect.any(Number),
    others: expect.arrayContaining(
      OF_TRIGGERS.map((name) => `homeassistant.helpers.trigger.${name}`),
    ) as unknown,
    stale: [],
  });
  expect(found.others.filter((each) => !OF_TRIGGERS.some((name) => each.endsWith(`.${name}`)))).toEqual([]);
  expect(found.users).toBeGreaterThan(4);
});

test('two runs write the same bytes, in spite of the random order of hashes', async () => {
  const targets = ['light.a', 'light.b', 'light.c', 'light.d'];
  const given = Object.fromEntries(
    targets.map((entity) => [entity, { state: 'off', labels: ['Night', 'Day', 'Noon'] }]),
  );
  const cases = [
    caseOf('a week', {
      start: '2026-10-23T12:00:00',
      given,
      steps: [
        fireStep('act', { action: 'light.turn_on', target: { label_id: ['night', 'day', 'noon'] } }),
        setStep({ 'binary_sensor.hall': 'off', 'sensor.lux': '3' }),
        { advance: 3 * 86_400 },
        { restart: { down: 60 } },
        fireStep('asks'),
        { advance: 4 * 86_400 },
        expectStep({ calls: [call('notify.phone')], only: true }),
      ],
    }),
    caseOf('a loop', { steps: [fireStep('loop'), { advance: 5 }, expectStep({})] }),
    caseOf('an error', {
      steps: [fireStep('wrong_template'), expectStep({ states: { 'light.a': state('on') } })],
    }),
  ];
  const request = requestOf(homeOfEvents, cases, { coverage: true, timeline: true });
  const outputs = [];
  for (let run = 0; run < 4; run++) {
    const { output, answers } = await runRequest(request);
    expect(ofType(answers, 'call').length).toBeGreaterThan(10);
    outputs.push(output.replaceAll(/"realSeconds":[\d.]+/g, ''));
  }
  expect(new Set(outputs).size).toBe(1);
});

/** Python that sets a timer after the clock has run for ten years. */
const LATE_TIMER = `
clock = importlib.import_module("clock")
loop = clock.new_loop(0)
for year in (0, 1, 10):
    clock.clock.offset = year * 365 * 86_400 + 0.1
    for delay in (0.3, 1 / 3, 1e-5, 86_400 * 3):
        loop.run_until_complete(asyncio.sleep(delay))
    print(round(clock.clock.offset - year * 365 * 86_400 - 86_400 * 3, 3))
`;

test('timers work after years as in the first minute', async () => {
  expect(await python(LATE_TIMER)).toBe('0.733\n0.733\n0.733\n');
});
