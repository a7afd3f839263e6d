import { difference, reallyAtOnce, virtually } from '../../../cluster/fidelity';
import { SUITE } from '../../../cluster/fidelity-scenarios';

// Compares the virtual clock with the clock of the machine in a real hub. Seconds represent the hours of a
// home.

test('a home makes the same calls in virtual time as a real hub does', async () => {
  const [virtual, real] = await Promise.all([virtually(SUITE), reallyAtOnce(SUITE)]);
  for (const { name } of SUITE) {
    const calls = virtual.get(name)!;
    expect(calls.length).toBeGreaterThanOrEqual(2);
    const { seconds, calls: differing } = difference(calls, real.get(name)!);
    expect({ name, differing }).toEqual({ name });
    expect(seconds).toBeLessThan(1);
  }
});
