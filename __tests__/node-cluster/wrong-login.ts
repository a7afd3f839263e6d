import { onNode } from '.';

/** The HTTP status of a request with a wrong token, sent from the network of the process of a pod. */
export async function wrongLoginFrom(pid: number, url: string): Promise<number> {
  const script = `fetch(process.argv[1], { headers: { Authorization: 'Bearer wrong' } }).then(({ status }) => console.log(status))`;
  return Number(
    await onNode('nsenter', `--target=${pid}`, '--net', '--', process.execPath, '-e', script, url),
  );
}
