import { version } from '../../../package.json';
import { operatorNode } from '../../../sandbox/image/operator-node';
import { freshNamespace } from '../../cluster';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

const { version: nodeVersion, departure } = operatorNode();

let operator: TestOperator;

beforeAll(async () => {
  operator = await startTestOperator(await freshNamespace('start'));
});

describe('an operator that starts', () => {
  test(`logs its version and that of Node.js${departure === undefined ? '' : ` (not the image's: ${departure})`}`, async () => {
    expect(await operator.metric('hub_operator_build_info', `{version="${version}",`)).toBe(1);
    expect(await operator.metric('hub_operator_build_info', `node_version="v${nodeVersion}"}`)).toBe(1);
    expect(await operator.logLines('"starting operator"')).toEqual([
      expect.objectContaining({ version, node: nodeVersion }),
    ]);
  });

  test('logs only JSON, so that Node.js has nothing to warn of', async () => {
    await operator.calm();
    const lines = (await operator.log()).trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
  });
});
