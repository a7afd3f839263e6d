import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { shippedHeapLimit } from '../../../manifests/memory';
import { operatorImage } from '../../../sandbox/image/description';
import { operatorCommand } from '../../../sandbox/operator-process';

const repository = join(__dirname, '../../..');

/** Upper limit in MB of half of the young generation, set by a flag of the image. */
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

  // On the command line the same flag would limit it to 1 MB, and V8 would collect twice as often.
  test('the young generation has the size that the image sets nevertheless', () => {
    const script = `
      require("./operator/process/favor-memory.ts").favorMemory();
      const v8 = require("node:v8");
      const sizeOfYoung = () => v8.getHeapSpaceStatistics().find((space) => space.space_name === "new_space").space_size;
      const kept = [];
      let largest = 0; // V8 may shrink it again after each collection
      for (let count = 0; count < 300_000; count++) {
        kept.push({ count });
        if (count % 1_000 === 0) largest = Math.max(largest, sizeOfYoung());
      }
      process.stdout.write(String(largest / 2 ** 20));
    `;
    expect(Number(run('--require', 'tsx/cjs', '--eval', script))).toBeGreaterThan(YOUNG_HALF);
  });
});

// The heap of the allocator shrinks only from its end, so one small object there keeps all free memory before
// it.
(process.platform === 'linux' ? describe : describe.skip)('the environment of the image', () => {
  const SCRIPT = `
    const resident = () => process.memoryUsage.rss() / 2 ** 20;
    Buffer.allocUnsafeSlow(12 * 2 ** 20).fill(1); // a long body; glibc counts such a size as a usual one when it is freed
    gc();
    const before = resident();
    const small = [];
    let chunks = [];
    for (let count = 0; count < 500; count++) {
      chunks.push(Buffer.allocUnsafeSlow(64 * 1_024).fill(1)); // what a socket reads at once
      small.push(Buffer.allocUnsafeSlow(1_024));
    }
    const flood = resident() - before;
    chunks = undefined;
    gc();
    setTimeout(() => process.stdout.write(JSON.stringify({ flood, kept: resident() - before })), 100);
  `;

  function megabytesAfter(environment: Readonly<Record<string, string>>): { flood: number; kept: number } {
    const [program, ...flags] = operatorCommand();
    const { MALLOC_MMAP_THRESHOLD_: _own, ...others } = process.env;
    const options = { encoding: 'utf8', env: { ...others, ...environment } } as const;
    const printed = execFileSync(program, [...flags, '--expose-gc', '--eval', SCRIPT], options);
    return JSON.parse(printed) as { flood: number; kept: number };
  }

  test('returns memory for data read from sockets to the machine', () => {
    const { flood, kept } = megabytesAfter(operatorImage.environment);
    expect(flood).toBeGreaterThan(20);
    expect(kept).toBeLessThan(8);
  });

  test('is needed for that', () => {
    const { MALLOC_MMAP_THRESHOLD_: _threshold, ...others } = operatorImage.environment;
    expect(megabytesAfter(others).kept).toBeGreaterThan(10);
  });
});
