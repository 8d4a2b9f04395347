import type { Finding, Severity } from '../../core/interfaces/finding.ts';
import type { InventoryCase } from '../test-cases/test-inventory.ts';

/** What became of a case that ran at the base. */
export type CaseLoss =
  | 'TEST_GONE'
  | 'TEST_RENAMED'
  | 'TEST_SKIPPED'
  | 'TEST_MAY_BE_SKIPPED'
  | 'TEST_EMPTIED'
  | 'TEST_CUT_SHORT'
  | 'TEST_SWALLOWED'
  | 'TEST_SKIPPED_ELSEWHERE'
  | 'TEST_ASSERTS_LESS'
  | 'TEST_MERGED'
  | 'TEST_JUDGED_ELSEWHERE';

/** Losses outside cases. */
type FileLoss = 'TEST_FOCUSED' | 'HELPER_EMPTIED' | 'ASSERTIONS_STUBBED' | 'NEW_TEST_IDLE';

/** A loss in one file, of one case or of many. */
export interface ToldLoss {
  readonly code: CaseLoss | FileLoss;
  readonly severity: Severity;
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
  /** The case as its author wrote it. */
  readonly name?: string;
  /** Its new name. */
  readonly now?: string;
}

const rule = 'tests-kept';
const maxFindings = 100;
const maxNamed = 20;
/** What lets tests go. */
export const asksForRemoval =
  '; an objective of the contract that speaks of their removal would have to name them or their file';

const words: Readonly<Record<ToldLoss['code'], readonly [one: string, many: string]>> = {
  TEST_GONE: ['test case is gone', 'test cases are gone'],
  TEST_RENAMED: ['test case has another name', 'test cases have other names'],
  TEST_SKIPPED: ['test case is skipped', 'test cases are skipped'],
  TEST_MAY_BE_SKIPPED: ['new mark may leave tests out', 'new marks may leave tests out'],
  TEST_EMPTIED: ['test case asserts nothing any more', 'test cases assert nothing any more'],
  TEST_CUT_SHORT: ['test case returns before its assertions', 'test cases return before their assertions'],
  TEST_SWALLOWED: ['test case keeps its failures to itself', 'test cases keep their failures to themselves'],
  TEST_SKIPPED_ELSEWHERE: [
    'test case is left out on other platforms',
    'test cases are left out on other platforms',
  ],
  TEST_ASSERTS_LESS: ['test case asserts less than it did', 'test cases assert less than they did'],
  TEST_MERGED: [
    'test case is gone, and its assertions are in others',
    'test cases are gone, and their assertions are in others',
  ],
  TEST_JUDGED_ELSEWHERE: [
    'test case leaves its assertions to a helper that the change does not show',
    'test cases leave their assertions to helpers that the change does not show',
  ],
  HELPER_EMPTIED: ['helper of tests asserts nothing any more', 'helpers of tests assert nothing any more'],
  TEST_FOCUSED: ['mark leaves out all other tests', 'marks leave out all other tests'],
  ASSERTIONS_STUBBED: ['place keeps assertions from running', 'places keep assertions from running'],
  NEW_TEST_IDLE: [
    'new test case is skipped or asserts nothing',
    'new test cases are skipped or assert nothing',
  ],
};

/**
 * Findings for losses: one for each file, kind and severity, with the first 20 names; at most 100, errors first, the
 * rest counted.
 */
export function tellLosses(losses: readonly ToldLoss[]): readonly Finding[] {
  const groups = new Map<string, ToldLoss[]>();
  for (const loss of losses) {
    const key = [loss.severity, loss.path, loss.code].join('\0');
    const group = groups.get(key);
    if (group) group.push(loss);
    else groups.set(key, [loss]);
  }
  const found = [...groups.values()].map(toFinding);
  if (found.length <= maxFindings) return found;
  const errors = found.filter(({ severity }) => severity === 'error');
  const ordered = [...errors, ...found.filter(({ severity }) => severity !== 'error')];
  const message = `${maxFindings} of ${found.length} findings are listed`;
  return [
    ...ordered.slice(0, maxFindings),
    { rule, severity: errors.length > maxFindings ? 'error' : 'note', message },
  ];
}

function toFinding(group: readonly ToldLoss[]): Finding {
  const [first] = group as readonly [ToldLoss];
  const { code, severity, path, line, column } = first;
  const [one, many] = words[code];
  const named = group.flatMap(({ name, now }) => {
    if (name === undefined || name === '') return [];
    return [now === undefined ? `\`${name}\`` : `\`${name}\` is now \`${now}\``];
  });
  const asks =
    severity === 'error' && code !== 'ASSERTIONS_STUBBED' && code !== 'TEST_FOCUSED' ? asksForRemoval : '';
  return {
    rule,
    severity,
    message: `${group.length} ${group.length === 1 ? one : many}${listed(named)}${asks}`,
    path,
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
    detail: {
      code,
      count: group.length,
      ...(named.length === 0
        ? {}
        : {
            tests: group
              .slice(0, maxNamed)
              .map(({ name = '', now }) => (now === undefined ? name : [name, now])),
          }),
    },
  };
}

/** A loss found by test runs, with the first 20 of its tests. `asks`: the action to request. */
export function executedLoss(
  code: string,
  severity: Severity,
  message: string,
  tests: readonly string[],
  asks = '',
  more: Readonly<Record<string, unknown>> = {},
): Finding {
  const list = listed(tests.map((name) => `\`${name}\``));
  const detail = { code, count: tests.length, tests: tests.slice(0, maxNamed), ...more };
  return { rule, severity, message: `${message}${list}${asks}`, detail };
}

/** The first 20 names behind a colon, and how many more there are. */
function listed(names: readonly string[]): string {
  if (names.length === 0) return '';
  const more = names.length > maxNamed ? `, and ${names.length - maxNamed} more` : '';
  return `: ${names.slice(0, maxNamed).join(', ')}${more}`;
}

/** A case's name as text: sources are read as bytes. */
export function nameOf({ name }: Pick<InventoryCase, 'name'>): string {
  return Buffer.from(name, 'latin1').toString('utf8').slice(0, 200);
}
