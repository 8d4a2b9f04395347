/* The thread task that selects the files that rules must evaluate. */
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { AnchorTest, CandidateSearch } from '../../core/interfaces/rule.ts';
import type { RuleInput } from '../../core/interfaces/rule-input.ts';
import { loadRuleModule } from '../../core/kernel/worker/evaluate-here.ts';
import type { RuleTask } from '../../core/kernel/worker/evaluate-rule-in-thread.ts';
import { type AnchorSearch, createAnchorSearch } from '../../readers/anchors/anchor-search.ts';
import type { Unscanned } from './cut-diff.ts';
import { readPiece } from './read-piece.ts';

/** Selects the changed files that each rule must evaluate. */
export interface CandidateTask {
  /** The input of every rule, without the rule's own options. */
  readonly input: Omit<RuleInput, 'options'>;
  /** The files of the patch are not known: they are read from its diff. */
  readonly readsFiles: boolean;
  /** The diff's last file goes on elsewhere. */
  readonly isCut: boolean;
  /** A component beside `rules` needs every file. */
  readonly needsAll: boolean;
  readonly rules: readonly Pick<RuleTask, 'id' | 'module'>[];
  readonly options: Readonly<Record<string, RuleInput['options']>>;
}

export interface Candidates {
  /** All files that at least one rule must evaluate, in the order of the patch. */
  readonly files: readonly PatchFile[];
  /**
   * By rule id: indexes in `files`, in order. A rule without a candidate search is absent and must evaluate all
   * files.
   */
  readonly chosen: Readonly<Record<string, readonly number[]>>;
  /** In the patch. */
  readonly fileCount: number;
  readonly addedLines: number;
  /** Parts of a diff of somebody else's that no reader of hunks sees. */
  readonly unread: readonly Unscanned[];
}

interface Asked {
  readonly id: string;
  readonly candidates: CandidateSearch;
}

/** A thread usually serves the same set of rules again, and compiling its anchors costs as much as one piece. */
let last:
  | { readonly key: string; readonly asked: readonly Asked[]; readonly search: AnchorSearch<number> }
  | undefined;

/** Reads the bytes of every file once, for all rules with a candidate search. */
export async function run(task: CandidateTask): Promise<Candidates> {
  const { rules, options, needsAll, readsFiles } = task;
  const { asked, search } = await prepare(rules);
  const { diff } = task.input.patch;
  const { files, addedLines, unread } = readPiece(
    diff,
    readsFiles ? undefined : task.input.patch.files,
    task.isCut,
  );
  const patch = { ...task.input.patch, files };
  const inputs = asked.map(({ id }) => ({ ...task.input, patch, options: options[id] ?? {} }));
  const chosen = asked.map((): number[] => []);
  const tests: (AnchorTest | undefined)[] = [];
  const needed: PatchFile[] = [];
  const isAll = needsAll || asked.length < rules.length;
  let isNeeded = isAll;
  const choose = (owner: number): void => {
    chosen[owner]?.push(needed.length);
    isNeeded = true;
  };
  let next = 0;
  let start = 0;
  let end = 0;
  const finish = (): void => {
    if (isNeeded) needed.push(files[next - 1] as PatchFile);
  };
  const beginNext = (): void => {
    const file = files[next++] as PatchFile;
    start = file.start;
    end = file.end;
    isNeeded = isAll;
    for (const [place, { candidates }] of asked.entries()) {
      const answer = candidates.begin(inputs[place] as (typeof inputs)[number], file);
      tests[place] = typeof answer === 'function' ? answer : undefined;
      if (answer === true) choose(place);
    }
  };
  // All files in one pass; anchors of one file come before those of the next.
  const found = (owner: number, offset: number): boolean => {
    while (offset >= end) {
      if (next > 0) finish();
      if (next === files.length) return true;
      beginNext();
    }
    if (offset >= start && tests[owner]?.(offset) === true) {
      tests[owner] = undefined;
      choose(owner);
    }
    return false;
  };
  search.scan(diff, files[0]?.start ?? 0, files.at(-1)?.end ?? 0, found);
  found(-1, Number.POSITIVE_INFINITY);
  return {
    files: needed,
    chosen: Object.fromEntries(asked.map(({ id }, place) => [id, chosen[place] ?? []])),
    fileCount: files.length,
    addedLines,
    unread,
  };
}

async function prepare(rules: CandidateTask['rules']): Promise<NonNullable<typeof last>> {
  const key = JSON.stringify(rules);
  if (last?.key === key) return last;
  const asked: Asked[] = [];
  for (const { id, module } of rules) {
    const { candidates } = await loadRuleModule(module);
    if (candidates) asked.push({ id, candidates });
  }
  const search = createAnchorSearch(
    asked.flatMap(({ candidates }, place) =>
      [...new Set(candidates.anchors)].map((anchor) => [place, anchor] as const),
    ),
  );
  last = { key, asked, search };
  return last;
}
