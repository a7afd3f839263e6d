import { readFile, writeFile } from 'node:fs/promises';

/**
 * Credentials of a user: a client certificate and its key (PEM), or a bearer token, such as that of a service
 * account.
 */
type Credentials = { readonly certificate: string; readonly key: string } | { readonly token: string };

interface Access {
  /** URL of the API server, such as `https://127.0.0.1:<port>`. */
  readonly apiServer: string;
  /** Certificate of the certificate authority, as PEM. */
  readonly certificateAuthority: string;
  readonly credentials: Credentials;
  /** Namespace of the context. Default: `default`. */
  readonly namespace?: string;
}

/**
 * Writes a kubeconfig that only its owner can read. The kubeconfig contains all certificates and keys, so it
 * can be copied.
 */
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
  // kubeconfigs are YAML, and JSON is valid YAML.
  await writeFile(path, `${JSON.stringify(kubeconfig, undefined, 2)}\n`, { mode: 0o600 });
}

/**
 * Reads the cluster from a kubeconfig that `writeKubeconfig` wrote, to write another one for a different
 * identity.
 */
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
