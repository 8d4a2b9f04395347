import { type Guard, within } from './guard.ts';

const kept = 'test/gates/rules/tests-kept.test.ts';
const edits = 'labelled edits';

/** Guards of test cases as they are written. */
export const guards: readonly Guard[] = [
  ...within('gates/tests-kept/judge-case.ts', kept, [
    ['failures that nobody hears are a loss', 'candidate.swallowed > base.swallowed ||', '', edits],
    [
      'other platforms are told',
      "if (candidate.elsewhere > base.elsewhere) return 'TEST_SKIPPED_ELSEWHERE';",
      '',
      edits,
    ],
    ['fewer assertions are told', "? 'TEST_ASSERTS_LESS'", '? undefined', edits],
  ]),
  ...within('gates/tests-kept/dead-spans.ts', kept, [
    ['what stands behind a return is dead', 'spans.push(...leftBlocks(code, shape));', '', edits],
    ['so in languages without braces', 'spans.push(...leftLines(code, language, shape));', '', edits],
    ['what is never called is dead', 'spans.push(...uncalledSpans(code, language, shape));', '', edits],
    ['a here-document is data', "if (language === 'shell') spans.push(...hereDocuments(code));", '', edits],
  ]),
  ...within('gates/rules/tests-kept.ts', kept, [
    ['helpers are looked after', '...emptiedHelpers(changes, mayGo),', '', edits],
    ['rows are looked after', '...lostRows(changes, mayGo),', '', edits],
    ['registrations are looked after', '...lostRegistrations(changes, mayGo),', '', edits],
    ['so is where a library comes from', '...exchangedIn(input, changes, mayGo),', '', edits],
    [
      'a name may hide a file from runners',
      'wasTest && isOutOfSight(oldPath, file.path, after)',
      'false',
      edits,
    ],
  ]),
  ...within('gates/tests-kept/dead-spans.ts', kept, [
    [
      'a constant that is false is a condition that never holds',
      'for (const { index } of offByName(code)) spans.push([index, shape.endOf(index)]);',
      '',
      edits,
    ],
  ]),
  ...within('gates/tests-kept/stubs-in-file.ts', kept, [
    [
      'a file in place of a library is a stub',
      'if (shadowsTestLibrary(path)) return [stubbed({})];',
      '',
      'labelled changes of every language',
    ],

    [
      'a library is watched under every name',
      "language === 'javascript' ? libraryStubs(",
      'false ? libraryStubs(',
      edits,
    ],
  ]),
  ...within('gates/tests-kept/lost-cases.ts', kept, [
    ['cases that merge are no loss', "found === 'TEST_GONE' && merged.has(matched.base)", 'false', edits],
  ]),
  ...within('gates/tests-kept/merged-cases.ts', kept, [
    [
      'no more merge than there is room for',
      'merged.size >= room ||',
      '',
      'labelled changes of every language',
    ],
  ]),
];
