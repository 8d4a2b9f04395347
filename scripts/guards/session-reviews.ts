import { type Guard, within } from './guard.ts';

const reviews = 'test/session/work/reviews.test.ts';
const without = 'test/engine/patch/patch-without.test.ts';
const held = 'test/session/work/held.test.ts';
const heldState = 'test/session/state/held.test.ts';
const heldChange = 'test/engine/run/held-change.test.ts';
const resumed = 'test/session/work/held-resumed.test.ts';
const undo = 'test/session/work/undo.test.ts';
const undoWords = 'test/engine/run/draft/undo-contract.test.ts';
const walk = 'test/session/state/walk.test.ts';

/** What holds of hunks that people review. */
export const guards: readonly Guard[] = [
  ...within('session/state/review.ts', walk, [
    [
      'what is committed is kept',
      "if (shown.status === 'accepted')",
      'if (shown.status === null)',
      'seven commands',
    ],
  ]),
  ...within('session/tui/show/change-lines.ts', 'test/session/tui/local-commands.test.ts', [
    [
      'a number is of the change that was told',
      'held?.patchset ?? told.patchset',
      'held?.patchset',
      'hunks of the newest change',
    ],
  ]),
  ...within('session/state/review.ts', reviews, [
    [
      'a hunk that is not there is not reviewed',
      'if (change.hunks?.some(({ id }) => id === hunk) !== true)',
      'if (change.hunks?.length === -1)',
      'what a run made',
    ],
    [
      'a comment holds nothing that steers a terminal',
      '!/(?!\\n)\\p{Cc}/u.test(text)',
      'true',
      'what a run made',
    ],
  ]),
  ...within('session/work/plan-step.ts', reviews, [
    [
      'what was rejected is told with the next plan',
      '...(reviewed === undefined ? [] : [reviewed.text]),',
      '',
      'what is said of hunks',
    ],
  ]),
  ...within('session/work/tell-reviews.ts', reviews, [
    ['it is told once', 'return !isTold && ', 'return isTold !== null && ', 'what a run made'],
  ]),
  ...within('engine/patch/patch-without.ts', without, [
    [
      'hunks behind one that is gone are found where they stand',
      'newLine: newLine - gone',
      'newLine',
      'any hunks',
    ],
    [
      'a file of which nothing is left is not touched',
      'if (hunks.length === 0 ? rejected.has(id) : left.length === 0) continue;',
      'if (rejected.has(id)) continue;',
      'what has no lines',
    ],
  ]),
  ...within('engine/patch/hunk-ids.ts', without, [
    [
      'hunks that are alike are told apart',
      'const times = seen.get(digest) ?? 0;',
      'const times = 0;',
      'any hunks',
    ],
  ]),
  ...within('session/channel/mask-words.ts', 'test/session/work/canaries.test.ts', [
    [
      'comments are masked',
      'return comment === undefined ? command : { ...command, comment: mask(comment) };',
      'return command;',
      'no byte that',
    ],
  ]),
  ...within('session/work/run-step.ts', held, [
    [
      'what is reviewed is sealed on a branch of its own',
      '{ onto: held.branch, heldFor: held.target.ref }',
      '{ heldFor: held.target.ref }',
      'a change that is reviewed',
    ],
  ]),
  ...within('session/work/review/take-out.ts', held, [
    [
      'what is rejected is taken out',
      'patchWithout(diff, new Set(rejected))',
      'patchWithout(diff, new Set(rejected.slice(1)))',
      'what is rejected is in no commit',
    ],
    [
      'what is left is an intent of its own',
      'withOwnId(await contractOf(scope, held.runId), scope.newId())',
      'await contractOf(scope, held.runId)',
      'what is rejected is in no commit',
    ],
  ]),
  ...within('session/work/review/held-step.ts', held, [
    [
      'the model is told once what was rejected',
      "ids: said?.ids ?? [] }, 'talk')",
      "ids: [] }, 'talk')",
      'what is rejected is in no commit',
    ],
    [
      'the branch that held a change goes',
      'await dropHeld(repository, held).catch(messageOf)',
      'await Promise.resolve(repository.root.slice(0, 0) || undefined).catch(() => messageOf(held))',
      'a change that is reviewed',
    ],
  ]),
  ...within('session/state/after-kill.ts', heldState, [
    [
      'whoever was killed in a review is asked again',
      'if (held !== undefined && !state.isCancelling) {',
      "if (held?.runId === '') {",
      'whoever was killed',
    ],
  ]),
  ...within('session/state/held/judge-held-answer.ts', heldState, [
    [
      'what is rejected is not kept',
      "if (choice === 'keep' && rejected > 0)",
      "if (choice === 'keep' && rejected < 0)",
      'what is held is answered',
    ],
    [
      'a session that only reads moves no branch',
      "if (context === 'dev') return;",
      "if (context !== 'research') return;",
      'what is held is answered',
    ],
  ]),
  ...within('session/state/held/require-held.ts', heldState, [
    [
      'nothing is begun beside a change that is held',
      "if (held === undefined || settings.context !== 'dev') return;",
      "if (held?.runId !== '' || settings.context !== 'dev') return;",
      'nothing is begun',
    ],
    [
      'no goal is begun where changes are reviewed',
      'if (state.settings.review === undefined) return;',
      'if (state.settings.model === undefined) return;',
      'a review is set',
    ],
  ]),
  ...within('session/state/settings/change-settings.ts', heldState, [
    [
      'a goal that is pursued is not reviewed',
      "if (review === 'on' && goal !== undefined && isOpenGoal(goal))",
      "if (review === 'on' && goal !== undefined && !isOpenGoal(goal))",
      'a review is set',
    ],
  ]),
  ...within('engine/run/seal/held-change.ts', heldChange, [
    [
      'a branch that somebody works on stays',
      '(await readHead(repository)).branch === branch',
      "(await readHead(repository)).branch === ''",
      'a branch that somebody works on',
    ],
    [
      'what is taken away makes way',
      "? ('delete' as const)",
      "? ('modify' as const)",
      'a file that makes way',
    ],
    [
      'files that did not follow are brought along',
      '(await readRef(repository, target.ref)) === commit;',
      "(await readRef(repository, target.ref)) === '';",
      'files that an earlier process',
    ],
  ]),
  ...within('engine/run/open/choose-landing.ts', heldChange, [
    [
      'the branch that a change is for is the one whose policy counts',
      'request.heldFor === undefined ? target',
      'request.heldFor !== null ? target',
      'where a branch only holds',
    ],
  ]),
  ...within('session/work/undo/find-undoable.ts', undo, [
    [
      'files that were changed by hand are not run over',
      'if (dirty.length > 0)',
      'if (dirty.length > 1000)',
      'what was changed by hand',
    ],
    [
      'what later commits changed is not taken back',
      'if (undoing.conflicts !== undefined)',
      'if (undoing.conflicts?.length === 0)',
      'what was changed by hand',
    ],
    [
      'what undoes is not what is undone next',
      'if (over.has(runId)) continue;',
      'if (over.size < 0) continue;',
      'what taking back a run',
    ],
    [
      'what was undone is not undone again',
      'if (!(await isTakenBack(scope, runId))) return found;',
      'return found;',
      'what taking back a run',
    ],
  ]),
  ...within('engine/run/draft/undo-contract.ts', undoWords, [
    [
      'checks of files that go are not asked',
      'namingOf([check], gone).length === 0',
      'namingOf([check], gone).length < 9',
      'a check that names',
    ],
    ['one fast check is left', 'isBare || namingOf', 'namingOf', 'where no fast check'],
    [
      'tests of what is taken back may go',
      '`remove what it added to $',
      '`keep what it added to $',
      'the contract of a run',
    ],
  ]),
  ...within('session/state/held/require-held.ts', heldState, [
    [
      'nothing is taken back where nothing is written',
      "if (settings.context !== 'dev')\n    throw",
      'if (settings.context === undefined)\n    throw',
      'nothing is taken back',
    ],
  ]),
  ...within('session/work/review/held-step.ts', resumed, [
    [
      'a branch that has moved is not said to stand',
      '  if (hasMoved && (await recordOf(scope, held)) !== undefined) return keep(scope, held);\n',
      '',
      'a branch that a killed process has moved',
    ],
    [
      'what is committed already is found',
      "if (landed?.decision?.type === 'commit')",
      "if (landed?.decision?.type === 'rollback')",
      'what was left and is committed',
    ],
  ]),
  ...within('session/work/review/take-out.ts', resumed, [
    [
      'what was left is not judged twice',
      "if (begun !== undefined && begun.view.state !== 'decided')",
      "if (begun?.view.runId === '')",
      'what was left goes on',
    ],
  ]),
  ...within('session/work/review/review-step.ts', resumed, [
    [
      'a run that made nothing is asked about no more',
      "await scope.tell({ type: 'review-ended', end: 'discarded' });",
      '',
      'a run that has made nothing',
    ],
  ]),
  ...within('session/work/tell-outcome.ts', 'test/session/work/held.test.ts', [
    [
      'what is held is not told as committed',
      'const isHeld = waiting === undefined && isHeldRun({ state }, view);',
      'const isHeld = false;',
      'a change that is reviewed is on no branch',
    ],
  ]),
];
