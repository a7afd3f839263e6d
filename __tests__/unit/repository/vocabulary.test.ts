import { linesThat, sourceFiles } from './sources';

interface Term {
  readonly avoid: RegExp;
  readonly say: string;
}

/** Terms are matched in lower case, with the parts of camelCase names as separate words. */
const words: readonly Term[] = [
  { avoid: /\brehears(al|e|ed)s?\b/, say: 'dry run' },
  { avoid: /\bvigils?\b/, say: 'health monitor' },
  { avoid: /\b(claimant|heir|loser|rival)s?\b/, say: 'contender, successor, displaced, conflicting owner' },
  { avoid: /\b(wish(es|ed)?|wanted)\b/, say: 'desired, needed, expected' },
  { avoid: /\btimetables?\b/, say: 'delay heap' },
  { avoid: /\b(ledger|lane)s?\b/, say: 'tracker, serial queue' },
  { avoid: /\bscrub(s|bed|ber|bing)?\b/, say: 'redact' },
  { avoid: /\blast words\b/, say: 'warning events' },
  { avoid: /\balongside\b/, say: 'continue on failure, beside' },
  { avoid: /\bcut off owner\b/, say: 'interrupted onboarding' },
  { avoid: /\btoken gate\b/, say: 'auth backoff' },
  { avoid: /\blinked signal\b/, say: 'combined signal' },
  { avoid: /\bcluster view\b/, say: 'cache, cluster state' },
  {
    avoid: /\b(powerless(ness)?|fruitless|forgiv(e|en|eness)|doubt(s|ed|ful)?|suspect(s|ed)?)\b/,
    say: 'a plain word',
  },
  { avoid: /\b(longest )?overlooked\b/, say: 'unscheduled' },
  { avoid: /\b(kept|keeps?) off\b/, say: 'desired off' },
  // "Server got itself in trouble" is the text of the hub's web server.
  { avoid: /(?<!server got itself in )\btroubles?\b/, say: 'problem, last error' },
  {
    avoid: /\b(a|the|each|every|one|this|next|last|full|forced|earlier|same|another) pass(es)?\b/,
    say: 'reconciliation',
  },
  {
    avoid: /\blook(s|ed|ing)?( at)? again\b|\bit is looked (at|whether)\b|\bnext look\b/,
    say: 'requeue, check',
  },
  { avoid: /\bpasses per\b/, say: 'reconciles per' },
  { avoid: /\bserver (is )?away\b/, say: 'server unavailable' },
  { avoid: /\banew\b/, say: 'again, recreated' },
  { avoid: /\b(in vain|worn out|before the eyes|(its|their) own affair)\b/, say: 'a plain word' },
  {
    avoid: /\b(somebody|anybody|everybody|whoever|whomever)\b/,
    say: 'the actor (another client, a user), or the passive',
  },
  { avoid: /\bnobody\b/, say: 'no client, no resource' },
  { avoid: /\bwhatever\b/, say: 'any, every, regardless of' },
  { avoid: /\byields? its place\b/, say: 'goes to the end of the queue' },
  { avoid: /\b(keeper|telling lines?|tidy up|tidies up)\b/, say: 'tethered process, relevant lines, remove' },
  { avoid: /\bheld apart\b|\bwell and ready\b|\bno news\b/, say: 'a plain sentence' },
];

/** Names in the code, matched in their case. */
const identifiers: readonly Term[] = [
  { avoid: /\b(Pass|PassResult)\b/, say: 'ReconcileContext, Result' },
  { avoid: /\bEventNote\b/, say: 'EventSpec' },
  {
    avoid: /\b(conclude|guarded|shownToOthers|isForUs)\b/,
    say: 'updateStatus, withTimeout, dependentView, predicate',
  },
  { avoid: /\b(underWay|longestGivenUp)\b/, say: 'inFlight, inProgress, oldestAbandoned' },
  {
    avoid: /\b(takeList|untilSynced|quietFor|SILENCE|WatchSilent)\b/,
    say: 'replace, waitForCacheSync, idleFor',
  },
  {
    avoid: /\b(isLastWish|ObjectRefused|isServerAway|isPassing)\b/,
    say: 'matchesLastApplied, ObjectRejected',
  },
  { avoid: /\bmayWrite\b|\bwriting: AbortSignal\b/, say: 'assertLeader, leaderSignal' },
  { avoid: /\bhub_operator_objects\b/, say: 'hub_operator_cached_objects' },
  {
    avoid: /\b(signOf|encryptionOf|wellAndReady|undelivered|amountOf)\b/,
    say: 'stateFingerprint, tlsSourceOf, readyOutcome',
  },
  {
    avoid: /\b(demandHub|endsAll|takeNote|isToGo)\b/,
    say: 'verifyIsHub, failFast, recordResult, shouldDelete',
  },
  { avoid: /\b(keyOf|idOf|parseId)\b/, say: 'ObjectKey' },
  {
    avoid: /\b(EntryMemory|RegistryWork|IntegrationWork|FlowWork|runToEnd)\b/,
    say: 'CachedEntry, EntryReconcile, IntegrationReconcile, FlowContext, runCommand',
  },
  {
    avoid: /\b(keepGood|LOOK_INTERVAL|onForeignChange)\b|'Foreign'/,
    say: 'recordLastGood, POLL_INTERVAL, onExternalChange, Unmanaged',
  },
  { avoid: /\b[A-Z_]+_(REST|PACE)\b/, say: '…_RETRY_INTERVAL, MIN_WRITE_INTERVAL' },
];

const files = new Map(
  [
    ...sourceFiles(
      'operator',
      'cli',
      'sandbox',
      'docs',
      'manifests',
      'deploy',
      'release',
      'bench',
      '__tests__',
      'samples',
      'main.ts',
      'Makefile',
      '*.md',
    ),
  ].filter(([name]) => !name.endsWith('vocabulary.test.ts')),
);

/**
 * The words of each text, computed once: splitting the lines of all files for each term would take seconds.
 */
const wordsByFile = new Map([...files].map(([file, text]) => [file, wordsOf(text)]));

/** No term spans several lines, so each line with the term is in one of these files. */
const filesThatSay = (avoid: RegExp) =>
  new Map([...files].filter(([file]) => avoid.test(wordsByFile.get(file)!)));

describe('vocabulary', () => {
  test.each(words)('no text says $avoid: it says $say', ({ avoid }) => {
    expect(linesThat(filesThatSay(avoid), (line) => avoid.test(wordsOf(line)))).toEqual([]);
  });

  test.each(identifiers)('no code names something $avoid: it says $say', ({ avoid }) => {
    expect(linesThat(files, (line) => avoid.test(line))).toEqual([]);
  });

  test('no file has a name of the old vocabulary', () => {
    const names = [...files.keys()].filter((name) => words.some(({ avoid }) => avoid.test(wordsOf(name))));
    expect(names).toEqual([]);
  });

  test('no file of the product is named after a word that says nothing of it', () => {
    const isVague = (name: string) =>
      /^(operator|cli|sandbox|deploy)\/(.*\/)?(outcomes|work|flow-work|difference|failure|memory|jobs)\.ts$/.test(
        name,
      );
    expect([...files.keys()].filter(isVague)).toEqual([]);
  });
});

function wordsOf(line: string): string {
  return line
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[-_/]/g, ' ')
    .toLowerCase();
}
