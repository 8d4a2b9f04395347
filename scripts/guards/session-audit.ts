import { type Guard, within } from './guard.ts';

const log = 'test/session/audit/open-audit.test.ts';
const kept = 'test/session/audit/keep-audit.test.ts';
const behind = 'what was done to a log';

/** The account of who did what to a session. */
export const guards: readonly Guard[] = [
  ...within('session/audit/judge-audit.ts', log, [
    ['each line in its place', 'if (line.seq !== expected.seq)', 'if (line.seq === -1)', behind],
    ['a chain', 'line.prev !== expected.prev)', 'line.prev === "")', behind],
    ['the very line that was known', 'reached.digest !== digest)', 'reached.digest === "")', behind],
    ['no cut tail', 'reached.records > end.seq && !isBroken)', 'reached.records < 0)', behind],
    ['no file gone', 'oldest > keptFrom)', 'oldest < 0)', 'a log grows in files'],
    [
      'its user’s own',
      'const isVouched = read.last === undefined || isVouchedLine(read.last, known);',
      'const isVouched = true;',
      'a log that somebody else wrote',
    ],
  ]),
  ...within('session/audit/audit-files.ts', log, [
    ['no link', ' | constants.O_NOFOLLOW', '', behind],
    ['nobody else’s rights', 'if ((status.mode & 0o077) !== 0)', 'if (status.mode < 0)', behind],
  ]),
  ...within('session/audit/open-audit.ts', log, [
    [
      'half a line is cut off',
      'if (!isTidy) await file.truncate(size);',
      '',
      'what a kill leaves is no damage',
    ],
    ['behind all that there was', 'reached?.records ?? 0,', '', behind],
  ]),
  ...within('session/channel/open-channel.ts', kept, [
    [
      'on paper before it happens',
      'await audit?.accepted(command, before, facts);',
      'void audit?.accepted(command, before, facts).catch(() => {});',
      'what cannot be written down',
    ],
    [
      'what did not happen',
      'await audit?.failed(command, before, fault);',
      '',
      'what was accepted and could not',
    ],
  ]),
  ...within('session/open-session.ts', 'test/session/work/turns.test.ts', [
    [
      'every session keeps one',
      'audit: keepAudit(log, clock),',
      '',
      'a question is answered: the model looks',
    ],
  ]),
  ...within('session/audit/keep-audit.ts', kept, [
    ['so many refusals', 'if (at.length >= mostFailures)', 'if (at.length < 0)', 'refusals are told'],
  ]),
  ...within('session/audit/summarise.ts', kept, [
    [
      'no secret of a message',
      '{ remove: sensitiveClasses, words: {} }',
      '{ remove: [], words: {} }',
      'who did what stands',
    ],
    [
      'no control character',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the code itself
      'return printable(isCut ? `${cut}…` : cut);',
      'return cut;',
      'who did what stands',
    ],
  ]),
];
