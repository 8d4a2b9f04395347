import { type Guard, within } from './guard.ts';

const shell = 'test/session/work/shell.test.ts';
const copy = 'test/engine/vcs/copy-work-tree.test.ts';
const whileChanged = 'test/engine/vcs/copy-while-changed.test.ts';
const renewed = 'a copy that is renewed';
const sees = 'a command of the person sees';
const isModels = 'it is what a command of a model is';
const typed = 'whoever types it has approved it';

/** What holds of a command that a person runs in a session himself. */
export const guards: readonly Guard[] = [
  ...within('engine/vcs/copy-work-tree.ts', copy, [
    [
      'tokens and journals of writ are in no copy',
      'return !/^\\.writ(?:\\/|$)/i.test(text) || ownFiles.test(text);',
      'return true;',
      'a copy holds what is on disk',
    ],
    [
      'no link is followed on the way to a file',
      'if (found?.isDirectory() !== true) return false;',
      'if (found === undefined) return false;',
      'a copy holds what is on disk',
    ],
    [
      'what a command has changed is copied again',
      'if (made.states.get(path)?.state !== state) return false;',
      '',
      renewed,
    ],
    [
      'what has changed in the work tree is copied again',
      'return source !== undefined && sources.get(path) === toState(source).state;',
      'return true;',
      renewed,
    ],
    [
      'a directory that leads elsewhere now is none',
      'if (isDirectory) return source?.isDirectory() === true;',
      'if (isDirectory) return true;',
      'a directory that leads elsewhere',
    ],
    [
      'what belongs to the work tree no more goes',
      'if (name === undefined && !isAbove) return false;',
      '',
      renewed,
    ],
    [
      'a change within a tick of the clock is seen',
      'ctimeNs + tickNs < copy.ctimeNs',
      'ctimeNs < copy.ctimeNs',
      'what was changed shortly before',
    ],
  ]),
  ...within('engine/vcs/copy-work-tree.ts', whileChanged, [
    [
      'a git directory of another name is no part of the work tree',
      'isShown(name) && !isOwn(name)',
      'isShown(name)',
      'a git directory of another name',
    ],
    [
      'rights that were given to the copy itself are not kept',
      ' || root !== made.root',
      '',
      'rights that a command has given',
    ],
    [
      'what nobody can copy keeps nothing else from being copied',
      'if (!ofOneFile.has(Object(fault).code)) throw fault;',
      'throw fault;',
      'what cannot be copied is left out',
    ],
    [
      'after a fault nobody works on',
      'await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, work))',
      '[]; await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work))',
      'whoever is told that it went wrong',
    ],
    [
      'where a write may leave no trace nothing is kept',
      'isTold && (await ticksAfter(to, newestOf(made)))',
      'true',
      'in memory, where a write',
    ],
  ]),
  ...within('engine/vcs/copy-entry.ts', whileChanged, [
    [
      'no directory that leads elsewhere meanwhile is followed',
      "if (opened && !readlinkSync(opened, { encoding: 'buffer' }).equals(source)) return undefined;",
      '',
      'a directory that leads elsewhere since',
    ],
    [
      'no copy is written through a link',
      'constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE',
      'constants.COPYFILE_FICLONE',
      'what is put in the place of a file',
    ],
    [
      'no copy of a directory is a link',
      'if (lstatSync(copy, { throwIfNoEntry: false })?.isDirectory() === true) return;',
      'if (statSync(copy, { throwIfNoEntry: false })?.isDirectory() === true) return;',
      'a link that was kept',
    ],
  ]),
  ...within('engine/vcs/shows-writes.ts', whileChanged, [
    [
      'no clock is waited for without end',
      'if (systemClock.monotonic() > ends) return false;',
      'if (systemClock.monotonic() > ends) return true;',
      'a clock that does not tick',
    ],
  ]),
  ...within('engine/vcs/copied-states.ts', whileChanged, [
    [
      'what is looked through has an end',
      'states.size >= most.entries || octets > most.octets',
      'states.size >= most.entries',
      'so much is looked through',
    ],
    ['of what was not looked at nothing has gone', ' || !after.isWhole', '', 'so much is looked through'],
  ]),
  ...within('engine/vcs/copied-states.ts', copy, [
    ['a write that leaves the size is told', 'size, ctimeNs];', 'size];', 'what becomes of a copy is told'],
  ]),
  ...within('session/work/open-work.ts', shell, [
    [
      'a copy goes with its session',
      '      await copy[Symbol.asyncDispose]();\n',
      '',
      'what a killed process ran',
    ],
  ]),
  ...within('session/state/begin-deed.ts', shell, [
    ['one command after the other', '  requireIdle(state);\n', '', 'a command that is stopped'],
    [
      'what only reads runs nothing else',
      "if (judged === 'safe') return;",
      "if (judged !== 'dangerous') return;",
      'what only reads runs',
    ],
  ]),
  ...within('session/state/slash/is-no-note.ts', shell, [
    ['a command is no note', '!|', '', 'a note is no command'],
  ]),
  ...within('session/work/shell/shell-step.ts', shell, [
    [
      'no network where a command could approve itself',
      "if (networkAccess === 'allow') requireApart('allow', await setting.selfTest.result());",
      '',
      'a network is opened to it',
    ],
    [
      'a program is asked',
      "const isPerson = by.kind !== 'automation';",
      'const isPerson = by.kind.length > 0;',
      typed,
    ],
    [
      'where nothing confines it a person is asked',
      'isPerson && ground.backend !== undefined',
      'isPerson',
      'where nothing confines it',
    ],
    [
      'what it printed is data to a model',
      'untrustedText(effective.security.promptInjection, cut)',
      'cut',
      'what it printed',
    ],
  ]),
  ...within('session/work/ask-consent.ts', shell, [
    [
      'what the policy refuses is refused',
      "if (verdict.verdict === 'refuse')",
      "if (verdict.verdict === 'refuse' && !isOwnWord)",
      typed,
    ],
  ]),
  ...within('session/work/shell/require-confined.ts', shell, [
    [
      'a closed network is not pretended',
      "if (!unconfined || networkAccess === 'allow') return;",
      'return;',
      'where nothing confines it',
    ],
  ]),
  ...within('session/work/shell/run-in-copy.ts', shell, [
    [
      'no version control, whatever a text hides',
      'isWithheld: isVersionControl,',
      'isWithheld: () => false,',
      isModels,
    ],
    [
      'what nothing confines is not gone on with',
      'if (!backend.unconfined) copy.keep(copied);',
      'copy.keep(copied);',
      'where nothing confines it',
    ],
  ]),
  ...within('session/work/shell/keep-copy.ts', shell, [
    [
      'it runs on a copy',
      'await copyWorkTree(repository, workspace, signal, how)',
      '{ changed: async () => [] }',
      sees,
    ],
  ]),
  ...within('session/work/shell/live-text.ts', shell, [
    [
      'it is told as it comes',
      'clock.sleep(everyMs, signal).then(show, () => undefined);',
      '',
      'a command that is stopped',
    ],
  ]),
  ...within('session/work/tell-ran.ts', shell, [
    ['it is told once', 'filter(({ isTold }) => !isTold)', 'filter(() => true)', 'what it printed'],
  ]),
  ...within('session/state/slash/verify.ts', 'test/session/work/verify.test.ts', [
    ['a path is never verified', '/^[0-9A-Za-z][\\w-]{2,99}$/', '/./', 'what was not sealed'],
  ]),
  ...within('session/work/verify/verify-step.ts', 'test/session/work/verify.test.ts', [
    [
      'what is not verified has failed',
      "status: refusal === undefined ? 'completed' : 'failed',",
      "status: 'completed',",
      'what was not sealed',
    ],
    [
      'of several the last that committed is meant',
      "view.decision?.type === 'commit') return runId;",
      "view.decision?.type === 'abandon') return runId;",
      'what a session sealed',
    ],
  ]),
  ...within('session/open-session.ts', 'test/session/work/sweep-copies.test.ts', [
    [
      'a session sweeps what killed ones left',
      'sweepCopies(repository, threadId)',
      'Promise.resolve(sweepCopies)',
      'a session takes away',
    ],
  ]),
  ...within('session/work/shell/sweep-copies.ts', 'test/session/work/sweep-copies.test.ts', [
    [
      'no copy of a session at work is swept',
      "const lock = await acquireProcessLock(join(directory, 'lock'), {\n    busy: () => new WritError('THREAD_BUSY'),\n  });",
      'const lock = { release: async () => {} };',
      'copies of threads that nobody writes',
    ],
    ['no session sweeps its own', 'if (id !== own) ', '', 'copies of threads that nobody writes'],
  ]),
  ...within('session/open-session.ts', 'test/session/tui/shell-in-terminal.test.ts', [
    ['a killed command leaves no copy', '    await removeTree(place);\n', '', 'what a killed terminal ran'],
  ]),
];
