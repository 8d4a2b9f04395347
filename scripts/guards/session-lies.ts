import { type Guard, within } from './guard.ts';

const undo = 'test/session/work/undo.test.ts';
const shell = 'test/session/work/shell.test.ts';
const capture = 'test/engine/tool/bounded-capture.test.ts';

/** What holds where a record, a clock, a name or a program that steers a session does not say the truth. */
export const guards: readonly Guard[] = [
  ...within('session/work/review/is-sealed-by.ts', undo, [
    [
      'the base of a record is that of its commit',
      "sealed.parents.join() === (baseCommit ?? '')",
      'sealed.parents.length > 0',
      'nothing is taken back',
    ],
    [
      'the contract of a record is that of its commit',
      'sealed.specDigest === canonicalDigest(value)',
      'canonicalDigest(value).length > 0',
      'nothing is taken back',
    ],
  ]),
  ...within('session/work/undo/find-undoable.ts', 'test/session/work/undo-task.test.ts', [
    [
      'what a task did is what was sealed',
      'if (refusal !== undefined)',
      'if (refusal === runId)',
      'one task of several',
    ],
  ]),
  ...within('session/work/undo/undo-step.ts', undo, [
    [
      'of a change that is held it is asked only where it is meant',
      "wanted === '' ? { view: held } : await runNamed(scope, named)",
      '{ view: held }',
      'of a change that is only held',
    ],
  ]),
  ...within('session/work/review/held-step.ts', 'test/session/work/held.test.ts', [
    [
      'a commit without its record is not kept',
      "if (view?.decision?.type !== 'commit' || view.decision.commitSha !== commit) return undefined;",
      'if (view === undefined) return undefined;',
      'a change that is reviewed',
    ],
  ]),
  ...within('session/work/review/take-out.ts', 'test/session/work/held.test.ts', [
    [
      'what is taken apart is what was reviewed',
      'if (sha256Hex(diff) !== patchset)',
      'if (diff.length === 0)',
      'what is rejected is in no commit',
    ],
  ]),
  ...within('engine/run/draft/undo-contract.ts', 'test/engine/run/draft/undo-contract.test.ts', [
    [
      'who names a file does not choose the checks',
      'gone.some((path) => isNamed(path, command))',
      'gone.some((path) => command.includes(path))',
      'the name of a file',
    ],
  ]),
  ...within('engine/tool/bounded-capture.ts', capture, [
    ['no word is cut before what is left out', 'upToSeam(head)', 'head', 'where something is left out'],
    ['no word is cut behind what is left out', 'behindSeam(tail)', 'tail', 'where something is left out'],
  ]),
  ...within('bin/code/keep-draft.ts', 'test/bin/code/keep-draft.test.ts', [
    [
      'no secret is kept with what was typed',
      'toText(masked(wanted(), mask))',
      'toText(wanted())',
      'a secret is kept as little',
    ],
  ]),
  ...within('session/channel/open-channel.ts', 'test/session/channel/open-channel.test.ts', [
    [
      'a clock that is set back makes no lease longer',
      ', dueMs: lease.expiresAtMs }',
      ' }',
      'a clock that is set back',
    ],
  ]),
  ...within('session/work/shell/run-in-copy.ts', shell, [
    [
      'a directory of which a copy has nothing is there',
      '  await mkdir(join(workspace, below), { recursive: true });\n',
      '',
      'it runs in the directory',
    ],
    ['a directory is no option of cd', '`./$', '`$', 'it runs in the directory'],
  ]),
  ...within('session/work/shell/shell-step.ts', shell, [
    [
      'a program is not called the person',
      'const whose = isPerson',
      'const whose = !isPerson',
      'whoever types it',
    ],
  ]),
  ...within('session/work/failed-reason.ts', 'test/session/work/failed-reason.test.ts', [
    [
      'a run that was under way is named',
      "pursuedGoal(state) === undefined ? stoppedWords(state) : ''",
      "''",
      'a turn that fails in the middle',
    ],
    [
      'a full disk has a name',
      'isFull(fault) ? `EVIDENCE',
      'fault === 0 ? `EVIDENCE',
      'a full disk is named',
    ],
  ]),
];
