import { type AnchorSearch, createAnchorSearch } from '../../../gates/scan/anchor-search.ts';
import { countAdded } from '../../../gates/scan/count-added.ts';
import { findUnread } from '../../../gates/scan/find-unread.ts';
import { markLines } from '../../../gates/scan/mark-lines.ts';
import { readFiles } from '../../../gates/scan/read-files.ts';
import type { PatchFile } from '../../contract/patch-set.ts';
import type { AnchorTest, CandidateSearch } from '../../contract/rule.ts';
import { loadRuleModule } from './load-rule-module.ts';
import type { Candidates, CandidateTask } from './task-map.ts';

interface Asked {
  readonly id: string;
  readonly candidates: CandidateSearch;
}

/** A thread is asked about one set of rules after the other, and compiling its anchors takes as long as a piece. */
let last:
  | { readonly key: string; readonly asked: readonly Asked[]; readonly search: AnchorSearch<number> }
  | undefined;

/** Reads the bytes of every file once, for all rules that say what to look for. */
export async function findCandidatesTask(task: CandidateTask): Promise<Candidates> {
  const { rules, options, needsAll, readsFiles } = task;
  const { asked, search } = await prepare(rules);
  const { diff } = task.input.patch;
  const marks = markLines(diff);
  const files = readsFiles ? readFiles(diff, marks) : task.input.patch.files;
  const patch = { ...task.input.patch, files };
  const inputs = asked.map(({ id }) => ({ ...task.input, patch, options: options[id] ?? {} }));
  const chosen = asked.map((): number[] => []);
  const tests: (AnchorTest | undefined)[] = [];
  const needed: PatchFile[] = [];
  const isAll = needsAll || asked.length < rules.length;
  let open = 0;
  let isNeeded = isAll;
  const choose = (owner: number): void => {
    chosen[owner]?.push(needed.length);
    isNeeded = true;
  };
  const found = (owner: number, offset: number): boolean => {
    if (tests[owner]?.(offset) !== true) return false;
    tests[owner] = undefined;
    choose(owner);
    open -= 1;
    return open === 0;
  };
  for (const file of files) {
    open = 0;
    isNeeded = isAll;
    for (const [place, { candidates }] of asked.entries()) {
      const answer = candidates.begin(inputs[place] as (typeof inputs)[number], file);
      tests[place] = typeof answer === 'function' ? answer : undefined;
      if (answer === true) choose(place);
      else if (answer !== false) open += 1;
    }
    if (open > 0) search.scan(diff, file.start, file.end, found);
    if (isNeeded) needed.push(file);
  }
  return {
    files: needed,
    chosen: Object.fromEntries(asked.map(({ id }, place) => [id, chosen[place] ?? []])),
    fileCount: files.length,
    addedLines: countAdded(diff, files, marks),
    unread: readsFiles ? findUnread(diff, files, marks, task.isCut) : [],
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
