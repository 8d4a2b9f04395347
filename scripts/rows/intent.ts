import { type RowReader, readersIn } from './row-reader.ts';

const stores = 'fields that a run stores';
const together = 'all that one run can show';
const names = 'metadata.id, intent.summary and intent.changeType name the commit';
const mayGo = 'what the contract says may go';

/** Intent. */
export const readers: readonly RowReader[] = [
  ...readersIn('engine/plan/plan-tasks.ts', [
    ['intent.summary', 'title: summary,', "title: 'a task',", stores, together, 'intent.summary'],
    ['intent.changeType', 'goal: changeType,', "goal: 'unknown',", stores, together, 'intent.changeType'],
  ]),
  ...readersIn('engine/vcs/create-commit.ts', [
    ['intent.summary#commit', 'oneLine(message.summary)', "'A change'", names, 'subject'],
    ['intent.changeType#commit', "prefixes[message.changeType] ?? ''", "''", names, 'prefix'],
  ]),
  ...readersIn('engine/spec/profile.ts', [
    [
      'intent.changeType#gates',
      "changeType === 'docs' || changeType === 'chore'",
      'false',
      'the change type gives the default quality gates',
    ],
  ]),
  ...readersIn('engine/intent/seal-intent.ts', [
    [
      'intent.problemStatement',
      'prompt: intent.problemStatement,',
      'prompt: intent.summary,',
      stores,
      together,
      'intent.problemStatement, verbatim',
    ],
  ]),
  ...readersIn('engine/run/record/plan-objects.ts', [
    [
      'intent.objectives',
      'intent.objectives.map((objective) => {',
      'intent.objectives.slice(1).map((objective) => {',
      stores,
      together,
      'intent.objectives',
    ],
  ]),
  ...readersIn('engine/plan/decompose.ts', [
    [
      'intent.objectives#tasks',
      'return objectives.map((objective, index) => ({ objectives: [index], writes: predict(objective) }));',
      'return [wholeOf(work)];',
      'per-objective',
    ],
  ]),
  ...readersIn('core/contract/tests-may-go.ts', [
    ['intent.changeType=docs', "intent.changeType === 'docs'", 'false', mayGo, 'documentation alone'],
    [
      'intent.changeType=chore',
      "intent.changeType === 'chore'",
      'false',
      mayGo,
      'a chore in the documentation alone',
    ],
    ['intent.objectives#tests-kept', 'intent.objectives.some(', '[].some(', mayGo],
  ]),
  ...readersIn('engine/plan/scope.ts', [
    ['intent.inScope', 'intent.inScope.flatMap((entry) => pathTokensOf(entry, rootNames))', '[]'],
    ['intent.outOfScope', 'intent.outOfScope.flatMap((entry) => pathTokensOf(entry, rootNames))', '[]'],
    [
      'intent.touchHints.files',
      'intent.touchHints.files.flatMap((pattern) => normalisePattern(pattern.trim()) ?? [])',
      '[]',
      'intent.touchHints.files widen the scope',
    ],
  ]),
  ...readersIn('engine/run/judge/written-outside.ts', [
    [
      'intent.inScope#checks',
      "else if (!inScope(scope, path)) first.add({ path, was: 'added' });",
      '',
      'what stands outside the scope',
    ],
  ]),
  ...readersIn('engine/plan/task-constraints.ts', [
    [
      'intent.inScope#constraint',
      'intent.inScope.map(',
      '[].map(',
      stores,
      'intent.inScope',
      'intent.inScope',
    ],
    [
      'intent.outOfScope#constraint',
      'intent.outOfScope.map(',
      '[].map(',
      stores,
      'intent.outOfScope',
      'intent.outOfScope',
    ],
  ]),
  ...readersIn('engine/frame/expand-hints.ts', [
    [
      'intent.touchHints.files#context',
      'matchFiles(entries, distinct(patterns), root)',
      'matchFiles(entries, [], root)',
      'hints become File, Snippet and Url items',
    ],
    [
      'intent.touchHints.symbols',
      'findSymbols(objects, entries, distinct(symbols))',
      'findSymbols(objects, entries, [])',
      'hints become File, Snippet and Url items',
    ],
    [
      'intent.touchHints.apis',
      'findApis(objects, entries, distinct(apis))',
      'findApis(objects, entries, [])',
      'hints become File, Snippet and Url items',
    ],
    [
      'intent.touchHints#one-hop',
      'oneHop(objects, entries, hinted)',
      'oneHop(objects, entries, [])',
      'a hinted file brings what it imports',
    ],
  ]),
];
