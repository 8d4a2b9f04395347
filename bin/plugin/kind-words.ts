/* The kinds of plugins that `writ plugin new` creates. */
import type { PartKind } from '../../plugins/third-party/part-kinds.ts';

/** What `writ plugin new` makes, by kind: a rule, or a part. */
export type NewKind = 'gate' | PartKind;

/** What each is, for people. */
export const kindWords: Readonly<Record<NewKind, string>> = {
  gate: 'a rule that refuses changes',
  provider: 'a model provider',
  log: 'a transparency log',
  'stage-check': 'a check of a stage that may call other services',
  artifact: 'a document that writ creates for each change',
  evidence: 'a kind of evidence',
};
