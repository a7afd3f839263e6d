import { onNode } from '.';

/**
 * Sends a request with a wrong token from the network namespace of a pod's process. Returns the HTTP status.
 */
export async function wrongLoginFrom(pid: number, url: string): Promise<number> {
  const script = `fetch(process.argv[1], { headers: { Authorization: 'Bearer wrong' } }).then(({ status }) => console.log(status))`;
  return Number(
    await onNode('nsenter', `--target=${pid}`, '--net', '--', process.execPath, '-e', script, url),
  );
}
