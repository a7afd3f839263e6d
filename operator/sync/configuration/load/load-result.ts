export type LoadResult =
  /** The hub has loaded the content, but for what `pending` names. */
  | { readonly type: 'loaded'; readonly pending: readonly string[] }
  /** Nothing was loaded: these files are linked when the pod starts. */
  | { readonly type: 'new-files'; readonly names: readonly string[] }
  /** The named sections need a restart, which is published unless the Hub cannot begin with one. */
  | { readonly type: 'restart'; readonly because: readonly string[] }
  /** The hub rejected the content; the one before is back. */
  | { readonly type: 'rejected'; readonly problem: string }
  /** A service failed and only a restart is left, which the strategy does not allow. */
  | { readonly type: 'failed'; readonly sections: readonly string[]; readonly message: string }
  /** In this start, the hub does not read the files that its pod mounts. */
  | { readonly type: 'unseen' };
