/* The kinds of plugins that `writ plugin new` creates. */
import type { PartKind } from '../../plugins/third-party/part-kinds.ts';

/** What `writ plugin new` makes, by kind: a rule, or a part. */
export type NewKind = 'gate' | PartKind;

/** What each is, for people. */
export const kindWords: Readonly<Record<NewKind, string>> = {
  gate: 'a reason that a change is refused for',
  provider: 'a model backend',
  log: 'a transparency log',
  'stage-check': 'what a gate stage demands beside its checks, asking others perhaps',
  artifact: 'a document that is made of every change',
  evidence: 'what may count as evidence',
};
