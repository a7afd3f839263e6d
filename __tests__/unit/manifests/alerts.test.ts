import { alerts } from '../../../manifests/monitoring/alerts';
import { operatorImage } from '../../../sandbox/image/description';

/** Returns names of options, such as `--inspect`. */
const optionsIn = (text: string): readonly string[] => text.match(/--[a-z][a-z-]*/g) ?? [];

describe('alerts', () => {
  test('no description tells the reader to change an option of Node.js that the image does not have', () => {
    const shipped = operatorImage.entrypoint.flatMap(optionsIn);
    expect(shipped).toContain('--max-old-space-size-percentage');
    const named = alerts.flatMap(({ description }) => optionsIn(description));
    expect(named.filter((option) => !shipped.includes(option))).toEqual([]);
  });
});
