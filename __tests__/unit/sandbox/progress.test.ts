import { runSteps } from '../../../sandbox/progress';

let lines: string[];

beforeEach(() => {
  lines = [];
  jest.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
});

afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

describe('runSteps', () => {
  test('for a log, each step says when it starts and how long it took', async () => {
    jest.useFakeTimers();
    await runSteps(
      [
        { title: 'Build', run: async () => 'version 1' },
        { title: 'Start', run: async () => {} },
      ],
      'plain',
    );
    expect(lines).toEqual([
      'Build: started',
      'Build: done in 0.0 s, version 1',
      'Start: started',
      'Start: done in 0.0 s',
    ]);
  });

  test('for a log, a long step shows every half minute how far it is', async () => {
    jest.useFakeTimers();
    let finish!: () => void;
    const run = (report: (text: string) => void) => {
      report('compiling: 7 of 9');
      return new Promise<void>((resolve) => (finish = resolve));
    };
    const done = runSteps([{ title: 'Build', run }], 'plain');
    await jest.advanceTimersByTimeAsync(95_000);
    finish();
    await done;
    expect(lines).toEqual([
      'Build: started',
      'Build: compiling: 7 of 9, 30 s',
      'Build: compiling: 7 of 9, 1 min 0 s',
      'Build: compiling: 7 of 9, 1 min 30 s',
      'Build: done in 1 min 35 s',
    ]);
  });

  test('a step that fails says so and ends the run', async () => {
    jest.useFakeTimers();
    const never = jest.fn();
    const steps = [
      { title: 'Build', run: () => Promise.reject(new Error('broken')) },
      { title: 'Start', run: never },
    ];
    await expect(runSteps(steps, 'plain')).rejects.toThrow('broken');
    expect(lines).toEqual(['Build: started', 'Build: failed after 0.0 s']);
    expect(never).not.toHaveBeenCalled();
  });

  test('steps that run together do not wait for each other, and a failure does not either', async () => {
    const endless = { title: 'Endless', run: () => new Promise<void>(() => {}) };
    const broken = { title: 'Broken', run: () => Promise.reject(new Error('broken')) };
    await expect(runSteps([endless, broken], 'silent', { together: true })).rejects.toThrow('broken');
  });
});
