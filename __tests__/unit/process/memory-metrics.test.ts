import { observeMemoryLimits } from '../../../operator/process/memory-metrics';
import { Metrics } from '../../../operator/process/metrics';

describe('observeMemoryLimits', () => {
  test.each([
    ['has a limit', 256 * 2 ** 20, '268435456'],
    ['has no limit in its control group', 18446744073709552000, '0'],
    ['has no control group', 0, '0'],
  ])('a container that %s is logged', async (_, limit, value) => {
    const metrics = new Metrics('1.2.3');
    observeMemoryLimits(metrics, () => limit);
    const page = await metrics.registry.metrics();
    expect(page).toContain(`\nhub_operator_memory_limit_bytes ${value}\n`);
    expect(Number(/^hub_operator_heap_limit_bytes (.*)$/m.exec(page)?.[1])).toBeGreaterThan(2 ** 20);
  });
});
