import type { Bounded, BoundedTask, BoundedTasks } from '../../../../../operator/base/bounded-task';
import { TEXT_WAIT } from '../../../../../operator/base/limits';
import { SHORT_YAML } from '../../../../../operator/base/plain-yaml';
import type { HubConfiguration } from '../../../../../operator/kinds';
import type { Files } from '../../../../../operator/sync/configuration/generate/config-files';
import { GeneratedConfigurationCache } from '../../../../../operator/sync/configuration/generate/generated-configuration-cache';
import {
  configurationTasks,
  endedMessage,
  generation,
  httpSection,
  secretUsesTask,
  textsOfHub,
} from '../../../../../operator/sync/configuration/generate/texts';
import { ManualClock } from '../../../manual-clock';
import { services } from '../../fixtures';

const source = (configuration: string, files = {}) => ({ configuration, files, hasSecrets: false });

describe('generation', () => {
  test('a short plain text is generated in place, as in the other process', () => {
    const plain = source('logger: {default: info}\nx: 5*3\n');
    expect(generation.inPlace!(plain)).toEqual(generation.run(plain, () => undefined));
    expect(generation.inPlace!(source('a: ['))).toMatchObject({ type: 'invalid' });
  });

  test.each([
    ['an anchor', source('a: &b 1\n')],
    ['an alias in a list', source('a: [1,*b]\n')],
    ['more characters', source(`# ${'x'.repeat(SHORT_YAML)}\n`)],
    ['a list whose lines are not indented', source('a: [\nb]\n')],
    ['a text in quotes whose lines are not indented', source('a: "\nb"\n')],
    ['another file', source('a: !include b.yaml\n', { 'b.yaml': '' })],
  ])('%s is not parsed in place', (_, given) => {
    expect(generation.inPlace!(given)).toBeUndefined();
  });

  test('files of more than 3 MiB, such as those of 32 entries with one ConfigMap, are refused in place', () => {
    const text = 'x'.repeat(1_024 * 1_024);
    const files = Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`${index}.yaml`, text]));
    const refused = generation.inPlace!(source('a: &b 1\n', files));
    expect(refused).toMatchObject({ type: 'invalid', message: expect.stringMatching(/ 33554440 bytes, /) });
    expect(refused).toEqual(generation.run(source('a: &b 1\n', files), () => undefined));
  });

  test('names the field that it reads', () => {
    const parts: string[] = [];
    generation.run(source('a: 1\n', { 'b.yaml': '' }), (part) => parts.push(part));
    expect(parts).toEqual(['spec.configuration', 'spec.files[b.yaml]', 'spec.configuration with spec.files']);
  });
});

describe('tasks on files', () => {
  test.each(
    configurationTasks.filter((task) => task !== generation).map((task) => [task.name, task] as const),
  )('%s gives each file its own time, as the generation does', (_, task) => {
    const main = 'homeassistant: {packages: !include_dir_named packages}\n';
    const files = {
      'configuration.yaml': main,
      'packages/a.yaml': 'http:\n',
      'packages/b.yaml': 'logger:\n',
    };
    const parts: string[] = [];
    (task as BoundedTask<Files, unknown>).run(files, (part) => parts.push(part));
    expect(parts).toEqual(['file 1', 'file 2', 'file 3']);
  });

  test('includes are followed in the other process alone, uses of secrets are found in several short files', () => {
    const files = {
      'configuration.yaml': 'http: !include a.yaml\n',
      'a.yaml': 'server_port: !secret port\n',
    };
    expect(httpSection.inPlace!(files)).toBeUndefined();
    expect(secretUsesTask.inPlace!(files)?.get('port')).toBe('spec.files[a.yaml], line 1, column 22');
    const long = { ...files, 'b.yaml': `# ${'x'.repeat(SHORT_YAML - 30)}` };
    expect(secretUsesTask.inPlace!(long)).toBeUndefined();
  });
});

describe('ConfigurationTexts', () => {
  test('a text that is aborted again is an error that names the hub and the task', async () => {
    const run = jest.fn<Promise<Bounded<never>>, []>();
    run.mockResolvedValueOnce({ type: 'ended', exceeded: 'time', part: '', isFinal: false });
    run.mockResolvedValueOnce({ type: 'ended', exceeded: 'time', part: '', isFinal: true });
    await expect(textsOfHub({ texts: { run } }, 'home', 'villa').sections({})).rejects.toThrow(
      'cannot read the files of the hub home/villa again: readSections took more time than allowed',
    );
    expect(run).toHaveBeenCalledTimes(2);
  });
});

describe('GeneratedConfigurationCache', () => {
  const resource = {
    kind: 'HubConfiguration',
    metadata: { namespace: 'home', name: 'villa', uid: '1' },
    spec: { hubRef: { name: 'villa' } },
  } as HubConfiguration;
  const ended = { type: 'ended', exceeded: 'time', part: 'spec.configuration' } as const;

  function setup(run: BoundedTasks['run']) {
    const clock = new ManualClock();
    const requeued: string[] = [];
    const given = services({
      clock,
      texts: { run },
      cache: { get: () => resource as never },
      requeue: (kind, namespace, name) => void requeued.push(`${kind}/${namespace}/${name}`),
    });
    return { clock, requeued, cache: new GeneratedConfigurationCache(given) };
  }

  test('for a text that takes too much memory the cause is reported', () => {
    const message = endedMessage({ type: 'ended', exceeded: 'memory', part: '', isFinal: true });
    expect(message).toMatch(
      /takes more memory .* or shorten it: many short lines take more than a few long ones\.$/,
    );
  });

  test('a text that was aborted is waited for, read once more, and then invalid until it changes', async () => {
    const run = jest
      .fn()
      .mockResolvedValueOnce({ ...ended, isFinal: false })
      .mockResolvedValueOnce({ ...ended, isFinal: true })
      .mockResolvedValue({ type: 'done', output: 'generated' });
    const { cache } = setup(run);
    const message = expect.stringMatching(
      /^spec\.configuration takes more time to read than its length allows\. Write its anchors .* or shorten it\./,
    ) as unknown;
    expect(await cache.generate(resource, source('a'))).toEqual({ type: 'waiting', message, after: 1_000 });
    expect(await cache.generate(resource, source('a'))).toEqual({ type: 'invalid', message });
    expect(await cache.generate(resource, source('a'))).toEqual({ type: 'invalid', message });
    expect(run).toHaveBeenCalledTimes(2);
    expect(await cache.generate(resource, source('b'))).toBe('generated');
    expect(await cache.generate(resource, source('b'))).toBe('generated');
    expect(run).toHaveBeenCalledTimes(3);
  });

  test('a text that waits for those of other hubs is waited for, and its resource is requeued when it is read', async () => {
    let finish!: (result: unknown) => void;
    const run = jest.fn(() => new Promise((resolve) => (finish = resolve)));
    const { cache, clock, requeued } = setup(run as never);
    const first = cache.generate(resource, source('a'));
    await clock.advance(TEXT_WAIT);
    expect(await first).toMatchObject({
      type: 'waiting',
      message: expect.stringContaining('other hubs') as unknown,
    });
    expect(requeued).toEqual([]);
    finish({ type: 'done', output: 'generated' });
    await clock.advance(0);
    expect(requeued).toEqual(['HubConfiguration/home/villa']);
    expect(await cache.generate(resource, source('a'))).toBe('generated');
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('an error is not cached', async () => {
    const run = jest
      .fn()
      .mockRejectedValueOnce(new Error('no process'))
      .mockResolvedValue({ type: 'done', output: 1 });
    const { cache } = setup(run);
    await expect(cache.generate(resource, source('a'))).rejects.toThrow('no process');
    expect(await cache.generate(resource, source('a'))).toBe(1);
  });
});
