import { readFile, writeFile } from 'node:fs/promises';

/** A client certificate and its key (PEM), or a bearer token, such as that of a service account. */
type Credentials = { readonly certificate: string; readonly key: string } | { readonly token: string };

interface Access {
  /** `https://127.0.0.1:<port>` */
  readonly apiServer: string;
  /** PEM. */
  readonly certificateAuthority: string;
  readonly credentials: Credentials;
  /** Default: `default`. */
  readonly namespace?: string;
}

/** Writes a kubeconfig that only its owner can read. It refers to no other file, so it can be copied. */
export async function writeKubeconfig(path: string, access: Access): Promise<void> {
  const { apiServer, credentials, namespace = 'default' } = access;
  const name = 'hub-sandbox';
  const user =
    'token' in credentials
      ? { token: credentials.token }
      : {
          'client-certificate-data': base64(credentials.certificate),
          'client-key-data': base64(credentials.key),
        };
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name,
        cluster: { server: apiServer, 'certificate-authority-data': base64(access.certificateAuthority) },
      },
    ],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
    'current-context': name,
  };
  // JSON is valid YAML, which every client accepts.
  await writeFile(path, `${JSON.stringify(kubeconfig, undefined, 2)}\n`, { mode: 0o600 });
}

/** Reads the cluster of a kubeconfig that `writeKubeconfig` wrote, for another identity on the same cluster. */
export async function readCluster(path: string): Promise<Pick<Access, 'apiServer' | 'certificateAuthority'>> {
  const kubeconfig = JSON.parse(await readFile(path, 'utf8')) as {
    clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
  };
  const { server, 'certificate-authority-data': authority } = kubeconfig.clusters[0].cluster;
  return { apiServer: server, certificateAuthority: Buffer.from(authority, 'base64').toString() };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
