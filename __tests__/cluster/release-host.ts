import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { builtPrograms } from '../../sandbox/control-plane-programs';

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');
const PROGRAMS = ['kube-apiserver', 'kube-controller-manager', 'kubectl'] as const;

/**
 * A stand-in for the hosts of the official releases. Its programs are scripts that run the programs built on
 * this machine.
 */
export class ReleaseHost {
  readonly requested: string[] = [];

  private constructor(
    /** Contents of the files by path. */
    readonly files: Map<string, Buffer>,
    private readonly server: Server,
  ) {}

  /** @param size minimum size of each program in bytes */
  static async start(size = 0): Promise<ReleaseHost> {
    const built = await builtPrograms(() => {});
    const script = (name: Parameters<typeof built>[0]) => {
      const text = `#!/bin/sh\nexec ${built(name).join(' ')} "$@"\n`;
      return Buffer.from(`${text}#`.padEnd(size, '.'));
    };
    const files = new Map<string, Buffer>();
    const machine = process.arch === 'x64' ? 'amd64' : 'arm64';
    for (const name of PROGRAMS) {
      files.set(`/release/v1.36.3/bin/linux/${machine}/${name}`, script(name));
      files.set(`/release/v1.36.3/bin/linux/${machine}/${name}.sha256`, Buffer.from(sha256(script(name))));
    }
    const tar = pack();
    const archive = `etcd-v3.6.8-linux-${machine}.tar.gz`;
    tar.entry({ name: 'etcd-v3.6.8/README.md' }, 'about etcd');
    tar.entry({ name: 'etcd-v3.6.8/etcd', mode: 0o755 }, script('etcd'));
    tar.finalize();
    const packed = gzipSync(await buffer(tar));
    files.set(`/etcd/v3.6.8/${archive}`, packed);
    const others = `${sha256(Buffer.from('other'))}  etcd.zip\n`;
    files.set('/etcd/v3.6.8/SHA256SUMS', Buffer.from(`${others}${sha256(packed)}  ${archive}\n`));
    const host: ReleaseHost = new ReleaseHost(
      files,
      createServer((request, response) => {
        host.requested.push(request.url!);
        const content = files.get(request.url!);
        response.writeHead(content === undefined ? 404 : 200).end(content);
      }),
    );
    await new Promise<void>((resolve) => host.server.listen(0, '127.0.0.1', resolve));
    return host;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Environment variables that make a sandbox download the programs from this host. */
  get environment(): Readonly<Record<string, string>> {
    return {
      HUB_OPERATOR_KUBERNETES_RELEASES: this.url,
      HUB_OPERATOR_ETCD_RELEASES: `${this.url}/etcd`,
    };
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
