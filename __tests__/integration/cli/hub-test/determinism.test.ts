import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { runnerModules } from '../../../../cli/test/runner';
import {
  call,
  caseOf,
  expectStep,
  fireStep,
  home,
  hubPython,
  ofType,
  requestOf,
  runRequest,
  setStep,
  state,
} from '../../../cluster/hub-test';
import { homeOfEvents } from './home-of-events';

// The clock of the program in Python: what it replaces, and that nothing else makes two runs differ.

/**
 * Prints the names of the standard library and of the hub that the program has replaced, and what in the modules of the hub still
 * has a former clock.
 */
const PATCHES = `
import asyncio, datetime, functools, importlib, importlib.abc, importlib.util, json, sys, time

modules = json.load(sys.stdin)
names = [name for name in dir(time) if callable(getattr(time, name))]
former = {name: getattr(time, name) for name in names}


class Texts(importlib.abc.ExecutionLoader):
    def find_spec(self, name, *_):
        return importlib.util.spec_from_loader(name, self) if name in modules else None

    def get_source(self, name):
        return modules[name]

    def get_filename(self, name):
        return name + ".py"


sys.meta_path.insert(0, Texts())
importlib.import_module("clock")
importlib.import_module("steps")
for each in ("automation", "script", "template", "timer", "schedule", "trend", "sun", "homeassistant.triggers.time"):
    importlib.import_module("homeassistant.components." + each)


def is_former(value):
    if any(value is former[name] for name in ("time", "monotonic", "time_ns", "monotonic_ns", "sleep")):
        return True
    return isinstance(value, functools.partial) and getattr(value.func, "__name__", "") == "now"


replaced, stale = [], []
for module_name, module in sorted(sys.modules.items()):
    if not module_name.startswith("homeassistant"):
        continue
    for name, value in sorted(vars(module).items()):
        if getattr(value, "__module__", None) in modules and getattr(value, "__name__", "") != name + "_":
            replaced.append(module_name + "." + name)
        if is_former(value):
            stale.append(module_name + "." + name)
print(
    json.dumps(
        {
            "time": sorted(name for name in names if getattr(time, name) is not former[name]),
            "hub": [name for name in replaced if name.startswith("homeassistant.util.dt.")],
            "users": len(replaced),
            "others": [name for name in replaced if name.rsplit(".", 1)[1] not in ("now", "utcnow")],
            "stale": stale,
        }
    )
)
`;

test('the clock of the standard library and two names of the hub are replaced, nothing else', async () => {
  const running = promisify(execFile)(hubPython(), ['-I', '-c', PATCHES]);
  running.child.stdin!.end(JSON.stringify(runnerModules()));
  const { stdout } = await running;
  expect(JSON.parse(stdout)).toEqual({
    time: ['monotonic', 'monotonic_ns', 'sleep', 'time', 'time_ns'],
    hub: ['homeassistant.util.dt.now', 'homeassistant.util.dt.utcnow'],
    // Modules that import one of the two by its name have the replaced one.
    users: expect.any(Number),
    others: [],
    stale: [],
  });
  expect((JSON.parse(stdout) as { users: number }).users).toBeGreaterThan(4);
});

test('two runs write the same bytes, in spite of the random order of hashes', async () => {
  const targets = ['light.a', 'light.b', 'light.c', 'light.d'];
  const given = Object.fromEntries(targets.map((entity) => [entity, { state: 'off', labels: ['Night', 'Day', 'Noon'] }]));
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
    caseOf('an error', { steps: [fireStep('wrong_template'), expectStep({ states: { 'light.a': state('on') } })] }),
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

test('a home without automations has nothing to wait for, and its clock runs all the same', async () => {
  const { answers } = await runRequest(
    requestOf(home(), [caseOf('a year', { steps: [{ advance: 365 * 86_400 }, expectStep({ only: true })] })]),
  );
  expect(ofType(answers, 'case')).toMatchObject([{ virtualSeconds: expect.closeTo(365 * 86_400, 0), faults: [] }]);
});
