import { nounOf } from '../kind-names';
import { oneLine, wrapped } from '../output';
import type { Terminal } from '../terminal';
import type { Cause } from './causes';
import type { HubTree, KindStatus, Problem } from './tree';

type Paint = Terminal['paint'];

/**
 * Prints the trees for people: each kind whose resources are all Ready takes one line, and problems are
 * listed. Messages are wrapped at `width`.
 */
export function renderTrees(trees: readonly HubTree[], paint: Paint, width = Infinity): string {
  return trees.map((tree) => renderTree(tree, paint, width).join('\n')).join('\n\n');
}

function renderTree(tree: HubTree, paint: Paint, width: number): string[] {
  const { namespace, name, state, version, url, problem, notices, notRead, kinds } = tree;
  const facts = [problem || notRead ? undefined : 'Ready', version, url].filter((fact) => fact !== undefined);
  const title = `Hub ${namespace === undefined ? '' : `${namespace}/`}${name}`;
  const head = [`${mark(state, paint)} ${paint('bold', title)}`, ...facts.map(oneLine)].join('  ');
  const told = [
    ...(notices === undefined ? [] : [`${paint('yellow', '!')} ${oneLine(notices)}`]),
    ...(notRead === undefined ? [] : [`not read: ${oneLine(notRead)}`]),
  ];
  const lines = [
    head,
    ...(problem ? detail(problem, paint, '│  ', true, width) : []),
    ...told.flatMap((text) => indented(text, '│  ', width)),
  ];
  kinds.forEach((each, index) => {
    const isLast = index === kinds.length - 1;
    lines.push(`${isLast ? '└─ ' : '├─ '}${kindLine(each, paint)}`);
    if (each.notRead !== undefined)
      lines.push(...indented(oneLine(each.notRead), isLast ? '     ' : '│    ', width));
    each.problems.forEach((one, place) => {
      const trunk = isLast ? '   ' : '│  ';
      const isEnd = place === each.problems.length - 1;
      lines.push(`${trunk}${isEnd ? '└─ ' : '├─ '}${mark(one.state, paint)} ${chainOf(one)}`);
      lines.push(...detail(one, paint, `${trunk}${isEnd ? '   ' : '│  '}  `, false, width));
    });
  });
  return lines;
}

function kindLine(
  { kind, total, ready, suspended, waitingForHub, problems, notRead }: KindStatus,
  paint: Paint,
): string {
  if (notRead !== undefined) return `${mark('unknown', paint)} ${kind}  not read`;
  const parts = [
    ...(suspended > 0 ? [`${suspended} suspended`] : []),
    ...(waitingForHub > 0 ? [`${waitingForHub} wait for the Hub`] : []),
  ];
  const state =
    problems.length > 0
      ? worst(problems)
      : waitingForHub > 0
        ? 'Progressing'
        : ready > 0
          ? 'Ready'
          : 'Suspended';
  return [`${mark(state, paint)} ${kind}  ${ready} of ${total} Ready`, ...parts].join(', ');
}

const worst = (problems: readonly Problem[]): HubTree['state'] =>
  problems.some(({ state }) => state === 'Failed') ? 'Failed' : 'Progressing';

/** The chain of causes, such as `kitchen ← floor Attic is missing`. */
function chainOf({ name, subject, reason, causes }: Problem): string {
  const own = subject === undefined ? name : `${name} (${oneLine(subject)})`;
  if (causes.length === 0) return `${own}: ${reason ?? 'not reconciled yet'}`;
  return [own, ...causes.map(linkOf)].join(' ← ');
}

function linkOf({ kind, name, state, reason }: Cause, index: number, all: readonly Cause[]): string {
  const object = `${kind === 'Secret' ? 'Secret' : nounOf(kind)} ${name}`;
  if (state === 'missing') return `${object} is missing`;
  return index === all.length - 1 ? `${object} is not Ready (${reason ?? state})` : object;
}

function detail(
  { reason, message, wayOut, causes }: Problem,
  paint: Paint,
  indent: string,
  named: boolean,
  width: number,
): string[] {
  const why = message === undefined ? [] : [oneLine(message)];
  const head = named && reason !== undefined ? [`${reason}: ${why.join('')}`] : why;
  const chain = named && causes.length > 0 ? [causes.map(linkOf).join(' ← ')] : [];
  const told = [...head, ...chain].flatMap((line) => indented(line, indent, width));
  if (wayOut === undefined) return told;
  const wayOuts = wrapped(wayOut, width - indent.length - 2).map(
    (line, index) => `${indent}${paint('cyan', `${index === 0 ? '→' : ' '} ${line}`)}`,
  );
  return [...told, ...wayOuts];
}

const indented = (text: string, indent: string, width: number): string[] =>
  wrapped(text, width - indent.length).map((line) => `${indent}${line}`);

function mark(state: HubTree['state'], paint: Paint): string {
  switch (state) {
    case 'Ready':
      return paint('green', '✓');
    case 'Suspended':
      return paint('dim', '‖');
    case 'Failed':
    case 'missing':
      return paint('red', '✗');
    case 'unknown':
      return paint('yellow', '?');
    default:
      return paint('yellow', '…');
  }
}
