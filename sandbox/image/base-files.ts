import { access, readFile } from 'node:fs/promises';
import type { ImageFile } from './layer';

/** Paths where Linux distributions keep the CA certificates, as one file. */
const CA_CERTIFICATES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
];

/**
 * The files of a Linux system in the image besides Node.js: the accounts, and the CA certificates of this machine.
 *
 * @param user `<user>:<group>`, as numbers
 */
export async function baseFiles(user: string): Promise<ImageFile[]> {
  const [uid, gid] = user.split(':');
  return [
    {
      path: '/etc/passwd',
      content: `root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:${uid}:${gid}:nonroot:/home/nonroot:/sbin/nologin\n`,
    },
    { path: '/etc/group', content: `root:x:0:\nnonroot:x:${gid}:\n` },
    // Names in /etc/hosts, which Kubernetes writes, have precedence.
    { path: '/etc/nsswitch.conf', content: 'hosts: files dns\n' },
    { path: '/etc/ssl/certs/ca-certificates.crt', content: await readFile(await caCertificates()) },
  ];
}

async function caCertificates(): Promise<string> {
  for (const path of CA_CERTIFICATES)
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    )
      return path;
  throw new Error(`cannot find CA certificates: there is none of ${CA_CERTIFICATES.join(', ')}`);
}
