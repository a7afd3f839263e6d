import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { shippedHeapLimit } from '../../../manifests/memory';
import { operatorCommand } from '../../../sandbox/operator-process';

const repository = join(__dirname, '../../..');

/** MB of a half of the young generation at most, by a flag of the image. */
const YOUNG_HALF = 2;

const run = (...args: readonly string[]): string => {
  const [program, ...flags] = operatorCommand();
  return execFileSync(program, [...flags, ...args], { encoding: 'utf8', cwd: repository });
};

test('an operator outside a container has the heap that the container’s memory limit gives', () => {
  const limit = Number(run('--print', 'require("node:v8").getHeapStatistics().heap_size_limit'));
  const youngObjects = 3 * YOUNG_HALF; // V8 counts three halves
  expect(limit / 2 ** 20).toBeGreaterThanOrEqual(shippedHeapLimit());
  expect(limit / 2 ** 20).toBeLessThanOrEqual(shippedHeapLimit() + youngObjects);
});

describe('the memory of V8', () => {
  test('the operator favors a small heap', () => {
    const script = `
      const v8 = require("node:v8");
      const flags = v8.cachedDataVersionTag(); // another one with other flags
      v8.setFlagsFromString = ((set) => (flag) => {
        set(flag);
        process.stdout.write([flag, v8.cachedDataVersionTag() !== flags, ""].join("\\n"));
      })(v8.setFlagsFromString);
      require("./operator/index.ts").run(["--version"]);
    `;
    expect(run('--require', 'tsx/cjs', '--eval', script)).toMatch(/^--optimize-for-size\ntrue\n\d+\./);
  });

  // On the command line the same flag limits it to 1 MB, and V8 collects twice as often.
  test('the young generation has the size that the image sets nevertheless', () => {
    const script = `
      require("./operator/process/favor-memory.ts").favorMemory();
      const kept = [];
      for (let count = 0; count < 300_000; count++) kept.push({ count });
      const young = require("node:v8").getHeapSpaceStatistics().find((space) => space.space_name === "new_space");
      process.stdout.write(String(young.space_size / 2 ** 20));
    `;
    expect(Number(run('--require', 'tsx/cjs', '--eval', script))).toBeGreaterThan(YOUNG_HALF);
  });
});
