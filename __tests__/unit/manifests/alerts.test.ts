import { App, Chart, Testing } from 'cdk8s';
import { alerts } from '../../../manifests/monitoring/alerts';
import { Operator } from '../../../manifests/operator';
import { defaultSettings } from '../../../manifests/settings';

/** Names of options, such as `--inspect`. */
const optionsIn = (text: string): readonly string[] => text.match(/--[a-z][a-z-]*/g) ?? [];

function shippedOptions(): readonly string[] {
  const chart = new Chart(new App(), 'test');
  new Operator(chart, defaultSettings);
  return optionsIn(JSON.stringify(Testing.synth(chart)));
}

describe('alerts', () => {
  test('no description tells to change an option of Node.js that the Deployment does not have', () => {
    const shipped = shippedOptions();
    expect(shipped).toContain('--max-old-space-size-percentage');
    const named = alerts.flatMap(({ description }) => optionsIn(description));
    expect(named.filter((option) => !shipped.includes(option))).toEqual([]);
  });
});
