import { systemClock } from '../../../operator/base/clock';
import { HubClient } from '../../../operator/client/hub-client';
import { CHECK_FOLDER } from '../../../operator/kinds/blueprint-path';
import { freshNamespace } from '../../cluster';
import { Refused } from '../../cluster/api';
import { automation, blueprint, Home } from '../../cluster/home';
import { HubToExport } from '../../cluster/hub-to-export';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { silentLog } from '../../cluster/silent-log';
import { randomNumbers, seed } from '../../seed';

// A random walk of one HubBlueprint and one user of it, in an external hub. After each step the hub has the files of the model.

const STEPS = 20;
const NAME = 'lamp';
const USER = 'user';
const PATHS = ['tests/lamp.yaml', 'Ü b/[1].yaml'];
const URLS = [undefined, 'https://example.org/a', 'https://example.org/b'];
const POLICIES = [undefined, 'Delete', 'Orphan'];

interface Text {
  readonly name: string;
  readonly minutes: number;
  /** Has an input without a default that no user gives. */
  readonly isDemanding: boolean;
}

interface File extends Text {
  readonly url: string | undefined;
}

/** The resource, as far as its deletion depends on it. */
interface Given {
  readonly path: string;
  readonly policy: string | undefined;
  /** Undefined until the hub has had the file of this resource. */
  isAdopted: boolean | undefined;
  hasSetUrl: boolean;
}

let home: Home;
let operator: TestOperator;
let villa: HubToExport;
let client: HubClient;

const files = new Map<string, File>();
let given: Given | undefined;
/** Path of the blueprint that the user uses. */
let used: string | undefined;

beforeAll(async () => {
  home = new Home(await freshNamespace('blueprints-walk'));
  operator = await startTestOperator(home.namespace, { settings: { ALLOW_LOCAL_HUBS: 'true' } });
  villa = await HubToExport.start({}, '\nsearch:\nrepairs:\n');
  client = new HubClient({ url: villa.process.url, token: villa.token, clock: systemClock, log: silentLog });
  await villa.join(home, villa.process.url);
});
afterAll(async () => {
  client?.close();
  await villa?.dispose();
});

const textOf = ({ name, minutes, isDemanding }: Text) => `blueprint:
  name: ${name}
  domain: automation
  input:
    entity: { selector: { entity: {} } }
${isDemanding ? '    more: {}\n' : ''}triggers:
  - { trigger: state, entity_id: !input entity, for: { minutes: ${minutes} } }
actions: []
`;

/** Texts that never get into the hub, each with the reason. */
const BROKEN: readonly (readonly [reason: string, text: string])[] = [
  ['InvalidSpec', 'blueprint: { name: a, domain: automation }\ntriggers: []\nactions: !input none\n'],
  ['InvalidSpec', 'blueprint: { name: a, domain: script }\nsequence: []\n'],
  ['InvalidSpec', 'blueprint: { name: a, domain: automation }\na: !secret b\n'],
  ['InvalidSpec', 'blueprint: [\n'],
  [
    'RejectedByHub',
    'blueprint: { name: a, domain: automation, input: { a: { selector: { nothing_like_this: {} } } } }\ntriggers: []\nactions: []\n',
  ],
];

const random = randomNumbers();
const oneOf = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;

const drawnText = (): Text => ({
  name: oneOf(['Lamp', '"a: b # c"', 'Größe']),
  minutes: oneOf([1, 2, 3]),
  isDemanding: random() < 0.2,
});

const apply = (spec: object) =>
  home.apply(
    blueprint('villa', NAME, {
      path: given!.path,
      ...(given!.policy !== undefined && { deletionPolicy: given!.policy }),
      ...spec,
    }),
  );

/** The resource is new, at one of the paths, if there is none. */
function begin(): Given {
  given ??= { path: oneOf(PATHS), policy: oneOf(POLICIES), isAdopted: undefined, hasSetUrl: false };
  return given;
}

const steps: Readonly<Record<string, () => Promise<string | undefined>>> = {
  'set the text': async () => {
    const text = drawnText();
    const url = oneOf(URLS);
    const resource = begin();
    const { path } = resource;
    const before = files.get(path);
    await apply({ content: textOf(text), ...(url !== undefined && { sourceUrl: url }) });
    if (text.isDemanding && used === path && before?.isDemanding === false) {
      await home.ready('hubblueprint', NAME, { status: 'False', reason: 'UsersBroken' });
    } else {
      await home.ready('hubblueprint', NAME, { reason: 'BlueprintLoaded' });
      resource.isAdopted ??= before !== undefined;
      const kept = resource.hasSetUrl ? undefined : before?.url;
      files.set(path, { ...text, url: url ?? kept });
      resource.hasSetUrl = url !== undefined;
    }
    return JSON.stringify({ path, ...text, url });
  },

  'set a broken text': async () => {
    const { path } = begin();
    const [reason, content] = oneOf(BROKEN);
    await apply({ content });
    await home.ready('hubblueprint', NAME, { status: 'False', reason });
    return `${path} ${reason}`;
  },

  'change the path': async () => {
    if (!given) return undefined;
    const path = PATHS.find((each) => each !== given!.path)!;
    await expect(apply({ path, content: textOf(drawnText()) })).rejects.toThrow(Refused);
    return path;
  },

  'delete the resource': async () => {
    if (!given) return undefined;
    const { path, policy, isAdopted } = given;
    await home.delete('hubblueprint', NAME);
    given = undefined;
    const isRemoved = policy === 'Delete' || (policy === undefined && isAdopted === false);
    if (isRemoved && isAdopted !== undefined && used !== path) files.delete(path);
    return `${path} ${policy} ${isAdopted ? 'adopted' : ''}`;
  },

  'add the user': async () => {
    const path = oneOf(PATHS);
    if (used !== undefined || files.get(path)?.isDemanding !== false) return undefined;
    // While its HubBlueprint is not Ready, a user waits.
    if (given?.path === path && (await home.condition('hubblueprint', NAME))?.status !== 'True')
      return undefined;
    await home.apply(
      automation('villa', USER, {
        triggers: null,
        actions: null,
        useBlueprint: { path, input: { entity: 'input_boolean.a' } },
      }),
    );
    await home.ready('hubautomation', USER);
    used = path;
    return path;
  },

  'delete the user': async () => {
    if (used === undefined) return undefined;
    await home.delete('hubautomation', USER);
    const path = used;
    used = undefined;
    return path;
  },

  'restart the operator': async () => {
    await operator.kill();
    await operator.start();
    await operator.calm();
    return '';
  },
};

/** The weights of the steps: texts are set most often. */
const NAMES = [...Object.keys(steps), 'set the text', 'set the text', 'add the user', 'delete the resource'];

/** The files below the folders of this test, as the hub shows them. */
async function inHub(): Promise<Map<string, File>> {
  client.blueprints.invalidate('automation');
  const shown = new Map<string, File>();
  for (const [path, { metadata }] of await client.blueprints.list('automation')) {
    expect(path).not.toContain(CHECK_FOLDER);
    if (!PATHS.includes(path)) continue;
    const input = { entity: 'light.a', more: 1 };
    const { triggers } = (await client.blueprints.substitute('automation', path, input)) as {
      readonly triggers: readonly [{ readonly for: { readonly minutes: number } }];
    };
    shown.set(path, {
      name: JSON.stringify(metadata!['name']) === '"a: b # c"' ? '"a: b # c"' : String(metadata!['name']),
      minutes: triggers[0].for.minutes,
      isDemanding: 'more' in (metadata!['input'] as object),
      url: metadata!['source_url'] as string | undefined,
    });
  }
  return shown;
}

test(`each step leaves in the hub what the specs say (SEED=${seed})`, async () => {
  const log: string[] = [];
  for (let done = 0; done < STEPS;) {
    const name = oneOf(NAMES);
    log.push(name);
    const details = await steps[name]!().catch((error: unknown) => {
      throw new Error(`after ${log.join('; ')}`, { cause: error });
    });
    log.pop();
    if (details === undefined) continue;
    done += 1;
    log.push(`${name} ${details}`);
    expect({ log, files: await inHub() }).toEqual({ log, files });
    if (used === undefined) continue;
    const { minutes } = files.get(used)!;
    const running = await client.entities.running(`automation.the_automation_${USER}`);
    expect({ log, running }).toMatchObject({ log, running: { triggers: [{ for: { minutes } }] } });
  }
});
