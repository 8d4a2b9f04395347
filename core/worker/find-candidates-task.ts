import type { AnchorTest, CandidateSearch } from '../contract/rule.ts';
import { type AnchorSearch, createAnchorSearch } from '../scan/anchor-search.ts';
import { countAdded } from '../scan/count-added.ts';
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
export async function findCandidatesTask({ input, rules, options }: CandidateTask): Promise<Candidates> {
  const { asked, search } = await prepare(rules);
  const { diff, files } = input.patch;
  const inputs = asked.map(({ id }) => ({ ...input, options: options[id] ?? {} }));
  const chosen = asked.map((): number[] => []);
  const tests: (AnchorTest | undefined)[] = [];
  let open = 0;
  let index = 0;
  const found = (owner: number, offset: number): boolean => {
    if (tests[owner]?.(offset) !== true) return false;
    tests[owner] = undefined;
    chosen[owner]?.push(index);
    open -= 1;
    return open === 0;
  };
  for (; index < files.length; index += 1) {
    const file = files[index];
    if (!file) continue;
    open = 0;
    for (const [place, { candidates }] of asked.entries()) {
      const answer = candidates.begin(inputs[place] as (typeof inputs)[number], file);
      tests[place] = typeof answer === 'function' ? answer : undefined;
      if (answer === true) chosen[place]?.push(index);
      else if (answer !== false) open += 1;
    }
    if (open > 0) search.scan(diff, file.start, file.end, found);
  }
  return {
    files: Object.fromEntries(asked.map(({ id }, place) => [id, chosen[place] ?? []])),
    addedLines: countAdded(diff, files),
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
