import { type Guard, within } from './guard.ts';

const forged = 'test/attack/journal/forged-journal.test.ts';
const refs = 'test/attack/journal/forged-refs.test.ts';
const waiting = 'test/attest/verify/waiting-run.test.ts';

/** What a run that goes on believes. */
export const guards: readonly Guard[] = [
  ...within('engine/store/is-authentic.ts', forged, [
    [
      'the last line is vouched for',
      ' && isVouchedLine(lastLine, witness);',
      ';',
      'a journal of another run, and lines',
    ],
    [
      'a journal reaches as far as it did, over the same records',
      'return found === reached.digest && ',
      'return ',
      'an older journal of the same run',
    ],
  ]),
  ...within('engine/run/open/open-journal.ts', forged, [
    [
      'only an authentic journal is gone on from',
      'if (journal.isAuthentic) return journal;',
      'return journal;',
      'a forged decision seals nothing',
    ],
  ]),
  ...within('engine/run/open/require-stated-target.ts', 'test/attack/journal/forged-target.test.ts', [
    [
      'a claimed branch is confirmed',
      'if (!isClaimed) return;',
      'if (runId) return;',
      'a branch that only a forged record',
    ],
  ]),
  ...within('engine/run/record/claimed-run.ts', forged, [
    [
      'a decided run is not begun anew',
      "if (stored.has('decision.json')) {",
      'if (stored.size > 100) {',
      'a record of a decided run',
    ],
    [
      'a journal of another run is none of this',
      'if (started.runId !== runId) {',
      "if (started.runId === '') {",
      'a journal of another run',
    ],
  ]),
  ...within('engine/run/state/record-box.ts', forged, [
    [
      'a part of the record is what was put there',
      'if (memory && sha256Hex(bytes) !== expected) throw corrupt(path);',
      '',
      'what was kept beside the journal',
    ],
  ]),
  ...within('attest/verify/verify-waiting-run.ts', waiting, [
    [
      'the runner signed this very journal',
      'signed.get(name) === sha256Hex(bytes)',
      'signed.has(name)',
      'other files under the same names',
    ],
    [
      'the runner signed for this run',
      ' || predicate.run_id !== runId) return false;',
      ') return false;',
      'a signature over the same files for another run',
    ],
  ]),
  ...within('engine/run/open/adopt-journal.ts', refs, [
    [
      'a runner is named, and signed',
      'return attestor.isWaitingSignedBy(',
      'return true || attestor.isWaitingSignedBy(',
      'a runner whom the policy commit names',
    ],
    [
      'a policy on no branch here names nobody',
      'if (ground.policy.ref === undefined) return false;',
      '',
      'a run that brings its own policy',
    ],
  ]),
  ...within('engine/store/record/find-run.ts', refs, [
    [
      'a run stands under the prefix of its contract',
      'if (own !== undefined) return own;',
      '',
      'a record under another prefix',
    ],
  ]),
  ...within('engine/run/open/begin-anew.ts', refs, [
    [
      'a contract is not written through a link',
      "for (const part of ['content', 'record', specFile])",
      "for (const part of ['content', 'record'])",
      'a link in the place of a run',
    ],
  ]),
  ...within('engine/store/own-place.ts', refs, [
    [
      'a run has a directory of its own',
      "if (!found.isDirectory()) throw foreign(directory, 'a directory of its own');",
      '',
      'a link in the place of a run',
    ],
  ]),
  ...within('engine/vcs/import-objects.ts', 'test/engine/vcs/take-up-scratch.test.ts', [
    [
      'packed objects of an earlier process are hashed again',
      "['index-pack', '--verify', ",
      "['version', ",
      'an object that was changed',
    ],
  ]),
  ...within('engine/vcs/take-up-scratch.ts', 'test/engine/vcs/take-up-scratch.test.ts', [
    [
      'nothing of an earlier scratch but its objects',
      'else if (await exists(dir)) await rename(dir, before);',
      '',
      'nothing but objects is taken over',
    ],
  ]),
];
