import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CallAnswer, Home } from '../../cli/test/protocol';
import { addCustomIntegration } from './custom-integration';
import {
  BERLIN,
  caseOf,
  expectStep,
  faultsOf,
  fireStep,
  home,
  ofType,
  requestOf,
  runRequest,
  setStep,
  type Unplaced,
} from './hub-test';
import { HubProcess } from './hub-process';
import { until } from './until';
import type { Moment, Scenario } from './fidelity-scenarios';

/** A service call by an automation or a script. */
interface TimedCall {
  /** Seconds after the start of the scenario. */
  readonly at: number;
  readonly what: string;
}

/** Calls by the name of the scenario. */
type Calls = ReadonlyMap<string, readonly TimedCall[]>;

const REST = 10; // seconds in which the last runs end

/** Domains whose calls are compared. Calls of the hub's own domains, such as a reload, are ignored. */
const DOMAINS = ['t', 'timer', 'input_boolean', 'script', 'automation', 'light'];

/** Describes a call, in equal words on both clocks. */
const described = (action: string, entities: readonly string[], data: unknown, by: unknown): string =>
  `${action} ${entities.join(',')} ${JSON.stringify(data)} by ${String(by)}`;

/** Returns the scenario of a call by its author, since the names in a scenario are unique. */
function scenarioOf(scenarios: readonly Scenario[], by: string | null | undefined): string | undefined {
  const name = by?.split('.')[1];
  return scenarios.find((each) => each.name === name || Object.keys(each.scripts ?? {}).includes(name ?? ''))
    ?.name;
}

function homeOf(scenarios: readonly Scenario[]): Home {
  const sections = scenarios.flatMap(({ configuration }) => Object.entries(configuration ?? {}));
  return home({
    automations: scenarios.flatMap(({ automations }) => automations) as Home['automations'],
    scripts: Object.assign({}, ...scenarios.map(({ scripts }) => scripts ?? {})) as Home['scripts'],
    configuration: sections.map(([key, section]) => `${key}: ${JSON.stringify(section)}\n`).join(''),
  });
}

/** Runs each scenario in virtual time, as a separate case, and returns the calls. */
export async function virtually(scenarios: readonly Scenario[]): Promise<Calls> {
  // Each case has the automations of all scenarios, as the real hub has, and therefore also the states that
  // they read.
  const given = scenarios.flatMap((each) => Object.entries(each.given ?? {}));
  const cases = scenarios.map(({ name, moments }) =>
    caseOf(name, {
      given: Object.fromEntries(given.map(([entity, state]) => [entity, { state }])),
      echo: false,
      steps: [...stepsOf(moments), { advance: REST }, expectStep({})],
    }),
  );
  const { answers } = await runRequest(requestOf(homeOf(scenarios), cases, { timeline: true }));
  const faults = ofType(answers, 'case').flatMap((answer) => faultsOf(answer));
  if (faults.length > 0 || ofType(answers, 'case').length < cases.length)
    throw new Error(`the virtual run has failed: ${JSON.stringify([faults, ofType(answers, 'failed')])}`);
  const start = Date.parse('2026-11-02T12:00:00+01:00');
  const own = ofType(answers, 'call').filter((call) => isCounted(call));
  return new Map(
    scenarios.map(({ name }, index) => [
      name,
      own
        .filter((call) => call.case === index)
        .map(({ at, action, entities, data, by }) => ({
          at: (Date.parse(at) - start) / 1000,
          what: described(action, entities, data, by),
        })),
    ]),
  );
}

const isCounted = ({ action, by }: CallAnswer): boolean =>
  by !== null && by !== undefined && DOMAINS.includes(action.split('.')[0]!);

function stepsOf(moments: readonly Moment[]): Unplaced[] {
  let now = 0;
  return moments.flatMap(([at, what]): Unplaced[] => {
    const pause = at - now;
    now = at;
    const step = typeof what === 'string' ? fireStep(what) : setStep(what);
    return pause > 0 ? [{ advance: pause }, step] : [step];
  });
}

/**
 * Python that plays all scenarios at the same time in a hub on the clock of the machine, and writes the calls
 * into a file.
 */
const PLAYER = `
import json, time

def read():
    with open(hass.config.path("plan.json")) as file:
        return json.load(file)

plan = await hass.async_add_executor_job(read)
calls, authors = [], {}
targets = ("entity_id", "area_id", "device_id", "floor_id", "label_id")

async def nothing(call):
    pass

for service in plan["services"]:
    hass.services.async_register("t", service, nothing)
for entity, state in plan["given"].items():
    hass.states.async_set(entity, state)

def called(event):
    data = dict(event.data["service_data"])
    entities = data.get("entity_id", [])
    calls.append(
        {
            "at": time.time(),
            "action": event.data["domain"] + "." + event.data["service"],
            "entities": [entities] if isinstance(entities, str) else sorted(entities),
            "data": {key: value for key, value in data.items() if key not in targets},
            "context": event.context.id,
        }
    )

def ran(event):
    authors.setdefault(event.context.id, event.data["entity_id"])

async def play(start, moments):
    for at, what in moments:
        await asyncio.sleep(max(0, start + at - time.time()))
        if isinstance(what, str):
            hass.bus.async_fire(what, {})
        else:
            for entity, state in what.items():
                hass.states.async_set(entity, state)

def write(start):
    with open(hass.config.path("calls.json.new"), "w") as file:
        json.dump([{**call, "at": call["at"] - start, "by": authors.get(call["context"])} for call in calls], file)

async def run(event):
    start = int(time.time()) + 2
    await asyncio.gather(*(play(start, moments) for moments in plan["moments"]))
    await asyncio.sleep(plan["rest"])
    await hass.async_add_executor_job(write, start)
    import os
    os.rename(hass.config.path("calls.json.new"), hass.config.path("calls.json"))

from homeassistant.core import callback

hass.bus.async_listen("call_service", callback(called))
hass.bus.async_listen("automation_triggered", callback(ran))
hass.bus.async_listen("script_started", callback(ran))
hass.bus.async_listen_once("homeassistant_started", run)
return True
`;

/** Runs the scenarios in a real hub on the clock of the machine, and returns the calls. */
export async function reallyAtOnce(scenarios: readonly Scenario[]): Promise<Calls> {
  const hub = await HubProcess.create();
  try {
    await writeHub(hub.configDir, scenarios);
    await hub.start();
    const file = join(hub.configDir, 'calls.json');
    await until('the real hub has played all scenarios', async () => {
      await readFile(file);
      return true;
    });
    const calls = JSON.parse(await readFile(file, 'utf8')) as CallAnswer[];
    return new Map(
      scenarios.map(({ name }) => [
        name,
        calls
          .filter((call) => isCounted(call) && scenarioOf(scenarios, call.by) === name)
          .map(({ at, action, entities, data, by }) => ({
            at: Number(at),
            what: described(action, entities, data, by),
          })),
      ]),
    );
  } finally {
    await hub.dispose();
  }
}

async function writeHub(folder: string, scenarios: readonly Scenario[]): Promise<void> {
  const { automations, scripts, configuration } = homeOf(scenarios);
  const { timezone, latitude, longitude } = BERLIN;
  const actions = JSON.stringify([automations, scripts]).matchAll(/"action":"t\.(\w+)"/g);
  const files = {
    'configuration.yaml': [
      `homeassistant: ${JSON.stringify({ time_zone: timezone, latitude, longitude })}`,
      'automation: !include automations.yaml',
      'script: !include scripts.yaml',
      'light:',
      'player:',
      configuration,
    ].join('\n'),
    'automations.yaml': JSON.stringify(automations),
    'scripts.yaml': JSON.stringify(scripts),
    'plan.json': JSON.stringify({
      services: [...new Set([...actions].map(([, service]) => service))],
      given: Object.assign({}, ...scenarios.map(({ given }) => given ?? {})) as object,
      moments: scenarios.map(({ moments }) => moments),
      rest: REST,
    }),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  await addCustomIntegration(folder, 'player', ...PLAYER.trim().split('\n'));
}

interface Difference {
  /** The largest difference between the times of a call, in seconds. */
  readonly seconds: number;
  /** Both lists of calls if they differ in their calls or in the order. */
  readonly calls?: readonly [virtual: readonly string[], real: readonly string[]];
}

/** Compares the calls of a scenario on both clocks. Calls at the same instant have no order. */
export function difference(virtual: readonly TimedCall[], real: readonly TimedCall[]): Difference {
  const [ours, theirs] = [inOrder(virtual), inOrder(real)];
  const isSame =
    ours.length === theirs.length && ours.every(({ what }, index) => what === theirs[index]!.what);
  if (!isSame) return { seconds: NaN, calls: [ours.map(({ what }) => what), theirs.map(({ what }) => what)] };
  return { seconds: Math.max(0, ...ours.map(({ at }, index) => Math.abs(at - theirs[index]!.at))) };
}

/** Calls within a quarter of a second are sorted by their descriptions. */
const inOrder = (calls: readonly TimedCall[]): TimedCall[] =>
  calls.toSorted((a, b) => (Math.abs(a.at - b.at) < 0.25 ? (a.what < b.what ? -1 : 1) : a.at - b.at));
