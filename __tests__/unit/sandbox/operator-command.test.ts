import { execFileSync } from 'node:child_process';
import { shippedHeapLimit } from '../../../manifests/memory';
import { operatorCommand } from '../../../sandbox/operator-process';

test('an operator outside a container has the heap that the container’s memory limit gives', () => {
  const [program, ...flags] = operatorCommand();
  const script = 'require("node:v8").getHeapStatistics().heap_size_limit';
  const limit = Number(execFileSync(program, [...flags, '--print', script], { encoding: 'utf8' }));
  const youngObjects = 3 * 8; // three semi-spaces, of the size of a flag
  expect(limit / 2 ** 20).toBeGreaterThanOrEqual(shippedHeapLimit());
  expect(limit / 2 ** 20).toBeLessThanOrEqual(shippedHeapLimit() + youngObjects);
});
