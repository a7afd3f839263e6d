import { constrainedMemory } from 'node:process';
import { getHeapStatistics } from 'node:v8';
import type { Metrics } from './metrics';

/** A container without a limit reports 0, or more than any machine has. */
const NO_LIMIT = 2 ** 50; // bytes

/** The limits to compare with `process_resident_memory_bytes` and `nodejs_heap_size_used_bytes`. */
export function observeMemoryLimits(metrics: Metrics, limit = constrainedMemory): void {
  metrics.gauge(
    'hub_operator_memory_limit_bytes',
    'Memory limit of the container. 0: it has none.',
    [],
    (gauge) => {
      const bytes = limit();
      gauge.set(bytes < NO_LIMIT ? bytes : 0);
    },
  );
  metrics.gauge(
    'hub_operator_heap_limit_bytes',
    'Size of the JavaScript heap at which the process ends.',
    [],
    (gauge) => gauge.set(getHeapStatistics().heap_size_limit),
  );
}
