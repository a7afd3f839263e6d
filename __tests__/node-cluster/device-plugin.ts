import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * A device plugin that implements the kubelet's API (`k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1`) without
 * a gRPC package. It offers one device, and registers itself. The program ends when its standard input is
 * closed.
 */
const PROGRAM = `
const http2 = require('node:http2');
const net = require('node:net');
const [resource, path, mountPath] = process.argv.slice(1);
const FOLDER = '/var/lib/kubelet/device-plugins/';
const SOCKET = 'test-' + process.pid + '.sock';

// A field of a message of Protocol Buffers that is a text or another message.
const field = (number, content) => {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
};
const message = (...fields) => Buffer.concat(fields);
const frame = (content) => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, content]);
};
const devices = message(field(1, message(field(1, 'stick'), field(2, 'Healthy'))));
const device = message(field(1, mountPath), field(2, path), field(3, 'rw'));
const ANSWERS = {
  GetDevicePluginOptions: message(),
  ListAndWatch: devices,
  Allocate: message(field(1, message(field(3, device)))),
};

const server = http2.createServer();
server.on('stream', (stream, { ':path': called }) => {
  const method = called.split('/').at(-1);
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('error', () => undefined);
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.resume();
  // The list stays open: the kubelet takes its end for that of the plugin.
  if (method === 'ListAndWatch') stream.write(frame(ANSWERS[method]));
  else stream.end(frame(ANSWERS[method]));
});
server.listen(FOLDER + SOCKET, () => {
  const client = http2.connect('http://kubelet', {
    createConnection: () => net.connect(FOLDER + 'kubelet.sock'),
  });
  const request = client.request({
    ':method': 'POST',
    ':path': '/v1beta1.Registration/Register',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  request.on('trailers', ({ 'grpc-status': status, 'grpc-message': text }) => {
    console.log(status === '0' ? 'registered' : 'refused: ' + text);
    client.close();
  });
  request.resume();
  request.end(frame(message(field(1, 'v1beta1'), field(2, SOCKET), field(3, resource))));
});
process.stdin.on('end', () => process.exit()).resume();
`;

interface OfferedDevice {
  /** Name of the resource, such as `squat.ai/zigbee`. */
  readonly resource: string;
  /** Path of the device on the node, and in the container that gets it. */
  readonly path: string;
  readonly mountPath: string;
}

/** Offers a device to the kubelet of the node, until it is stopped. */
export async function startDevicePlugin({ resource, path, mountPath }: OfferedDevice): Promise<() => void> {
  const [program, ...enter] = JSON.parse(process.env['HUB_NODE_ENTER']!) as [string, ...string[]];
  const plugin: ChildProcess = spawn(
    program,
    [...enter, process.execPath, '-e', PROGRAM, resource, path, mountPath],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = once(plugin, 'exit').then(() => 'ended');
  const [said] = (await Promise.race([once(plugin.stdout!, 'data'), ended.then((text) => [text])])) as [
    Buffer | string,
  ];
  if (String(said).trim() !== 'registered') throw new Error(`the device plugin ${String(said)}`);
  return () => plugin.stdin!.end();
}
