import { type Guard, within } from './guard.ts';

const markdown = 'test/session/screen/markdown/markdown-lines.test.ts';
const hostile = 'test/session/screen/markdown/hostile.test.ts';
const hrefs = 'test/session/screen/markdown/safe-href.test.ts';
const diffs = 'test/session/screen/diff/read-diff.test.ts';
const seen = 'test/session/screen/visible.test.ts';
const costs = 'test/session/screen/step-costs.test.ts';
const leads = 'a link leads into the web';
const hidden = 'nothing of a diff is hidden';

/** What both screens show of anybody: text alone, all of it, in time that grows with it. */
export const guards: readonly Guard[] = [
  ...within('session/screen/markdown/safe-href.ts', hrefs, [
    [
      'a link has a scheme that is known',
      'scheme === undefined || schemes.includes(scheme.toLowerCase()) ? target : undefined',
      'target || scheme',
      leads,
    ],
    ['schemes are read as browsers read them', 'scheme.toLowerCase()', 'scheme', leads],
    [
      'a link is read by a browser as by a person',
      "if (target === '' || /[\\x00-\\x20\\x7f\\\\]|^\\/\\//.test(target)) return undefined;",
      '',
      leads,
    ],
  ]),
  ...within('session/screen/markdown/read-markdown.ts', hostile, [
    [
      'emphasis is bounded',
      ' || part.split(/[*_~]/, mostSigns + 2).length > mostSigns + 1',
      '',
      '256 KiB of anything is read in time',
    ],
  ]),
  ...within('session/screen/markdown/to-inlines.ts', markdown, [
    [
      'words are made safe',
      'const shown = visible(part);',
      'const shown = part;',
      'nothing of a text is hidden',
    ],
  ]),
  ...within('session/screen/diff/read-diff.ts', diffs, [
    ['paths are made safe', '    path: visible(path),', '    path,', hidden],
  ]),
  ...within('session/screen/diff/read-hunk.ts', diffs, [
    ['lines are made safe', 'visible(isWindows ? line.text.slice(0, -1) : line.text)', 'line.text', hidden],
  ]),
  ...within('session/screen/visible.ts', seen, [
    [
      'sequences are gone',
      'if (sequence !== undefined) continue;',
      'if (sequence !== undefined) shown += sequence;',
      'what a terminal would obey',
    ],
    [
      'what hides is written out',
      'else shown += escapeOf(found[0]);',
      'else shown += found[0];',
      'what hides',
    ],
  ]),
  ...within('session/screen/words/step-costs.ts', costs, [
    ['a guess is called one', "from === 0 ? 'assumed' : ", '', 'before a yes stands'],
  ]),
  ...within('session/screen/question/option-letters.ts', 'test/session/web/seen.test.ts', [
    [
      'every command wants a capital letter',
      "  allow_all_commands: 'A',",
      "  allow_all_commands: 'a',",
      'keys choose options by place',
    ],
  ]),
  ...within('session/state/transcript.ts', 'test/session/state/gates.test.ts', [
    [
      'a stage has one last word',
      '[...gates.filter(({ stage }) => stage !== gate.stage), gate]',
      '[...gates, gate]',
      'gates are those of the run',
    ],
  ]),
  ...within('session/state/reduce.ts', 'test/session/state/gates.test.ts', [
    [
      'another run has other gates',
      '        gates: [],\n        run: fact.runId,',
      '        run: fact.runId,',
      'gates are',
    ],
  ]),
  ...within('session/tui/show/undo-offers.ts', 'test/session/tui/undo-offers.test.ts', [
    [
      'no key of a message looks through the transcript',
      "begun.startsWith('/') ? undoOffers(snapshot) : []",
      'undoOffers(snapshot)',
      'a transcript is looked through only where',
    ],
    [
      'what was discarded is not offered to be undone',
      'runs.delete(outcome.runId)',
      'runs.size',
      'what was discarded in its review',
    ],
  ]),
  ...within('session/tui/show/transcript-text.ts', 'test/session/tui/transcript-text.test.ts', [
    [
      'nothing ends the code that it stands in',
      "'`'.repeat(Math.max(2, longestOf(text)) + 1)",
      "'`'.repeat(3)",
      'nothing that was run ends the code',
    ],
  ]),
];
