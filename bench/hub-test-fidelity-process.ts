import { difference, reallyAtOnce, virtually } from '../__tests__/cluster/fidelity';
import { MORE, SUITE } from '../__tests__/cluster/fidelity-scenarios';
import { provideHubSoftware } from '../sandbox/hub-software';
import type { Fidelity } from './hub-test-fidelity';

// Runs all scenarios on both clocks, with the hub version in the variable HUB. Prints the result as JSON.

async function main(): Promise<void> {
  const { venv } = await provideHubSoftware(() => undefined);
  process.env['HUB_SANDBOX_VENV'] = venv;
  const scenarios = [...SUITE, ...MORE];
  const [virtual, real] = [await virtually(scenarios), await reallyAtOnce(scenarios)];
  const compared = scenarios.map(({ name }) => ({
    name,
    ...difference(virtual.get(name)!, real.get(name)!),
  }));
  for (const { name, calls } of compared) if (calls) console.error(name, calls);
  const same = compared.filter(({ calls }) => calls === undefined);
  const latest = same.toSorted((a, b) => b.seconds - a.seconds)[0]!;
  const result: Fidelity = {
    scenarios: scenarios.length,
    calls: [...virtual.values()].flat().length,
    differing: compared.flatMap(({ name, calls }) => (calls ? [name] : [])),
    seconds: Math.round(latest.seconds * 100) / 100,
    latest: latest.name,
  };
  console.log(JSON.stringify(result));
}

void main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
