import t from 'tap';
import { canonicalDigest, canonicalize, sha256Hex } from '../../../core/base/canonical.ts';
import { decide } from '../../../engine/decide/decide.ts';
import { replayRun } from '../../../engine/decide/replay-run.ts';
import { type Json, readRecordFile, readStoredRecord, tamper, toRecordBytes } from './stored-record.ts';

const files = readStoredRecord('a-supplied-fix');
const runId = String(readRecordFile(files, 'run.json').object_id);
const tampered = (path: string, change: (value: never) => void) => tamper(files, path, change);

t.test('replaying an untouched record gives its decision byte for byte', async (t) => {
  const { equal, decision, firstDifference } = replayRun(files);
  t.equal(firstDifference, undefined);
  t.ok(equal);
  t.equal(`${canonicalize(decision)}\n`, String(files.get('decision-record.json')));
});

const changes: readonly (readonly [
  path: string,
  change: (value: never) => void,
  file: string,
  field: string,
])[] = [
  [
    'decision-input.json',
    (v: { runId: string }) => {
      v.runId = runId.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    },
    'decision-input.json',
    '/runId',
  ],
  [
    'decision-input.json',
    (v: { human: Json }) => {
      v.human.approved = 7;
    },
    'decision-record.json',
    '/inputDigest',
  ],
  [
    'decision-input.json',
    (v: { wallClock: Json }) => {
      v.wallClock.exceeded = true;
    },
    'decision-record.json',
    '/type',
  ],
  [
    'decision-input.json',
    (v: { refusals: Json[] }) => {
      v.refusals.push({ rule: 'x', severity: 'error' });
    },
    'decision-record.json',
    '/type',
  ],
  [
    'decision-input.json',
    (v: { stages: Json[] }) => {
      v.stages.reverse();
    },
    'decision-input.json',
    '/stages/0/stage',
  ],
  [
    'spec.json',
    (v: { intent: Json }) => {
      v.intent.summary = 'Something else';
    },
    'decision-input.json',
    '/specDigest',
  ],
  [
    'run.json',
    (v: Json) => {
      v.base_commit = 'a'.repeat(40);
    },
    'decision-input.json',
    '/baseCommit',
  ],
  [
    'decision-input.json',
    (v: Json) => {
      v.specId = '01890a5d-ac96-774b-bcce-b302099a8057';
    },
    'decision-input.json',
    '/specId',
  ],
  [
    'run.json',
    (v: Json) => {
      v.policy_commit = 'a'.repeat(40);
    },
    'decision-input.json',
    '/policyCommit',
  ],
  [
    'run.json',
    (v: Json) => {
      v.policy_ref = 'refs/heads/other';
    },
    'decision-input.json',
    '/policyRef',
  ],
  [
    'run.json',
    (v: Json) => {
      v.default_ref = 'refs/heads/other';
    },
    'decision-input.json',
    '/defaultRef',
  ],
  [
    'patchset.json',
    (v: Json) => {
      v.digest = 'a'.repeat(64);
    },
    'decision-input.json',
    '/patchDigest',
  ],
  [
    'patchset.json',
    (v: Json) => {
      v.candidate_tree = 'a'.repeat(40);
    },
    'decision-input.json',
    '/candidateTree',
  ],
  [
    'patchset.json',
    (v: { findings: Json[] }) => {
      v.findings.push({ rule: 'scope', severity: 'error', message: 'm' });
    },
    'decision-input.json',
    '/patchFindings',
  ],
  [
    'patchset.json',
    (v: { files: Json[] }) => {
      v.files.push({ ...v.files[0], path: 'x', old_path: '.writ/allowed_signers' });
    },
    'decision-input.json',
    '/touchesGoverning',
  ],
  [
    'gate-report.json',
    (v: Json) => {
      v.sandbox = 'none';
    },
    'decision-input.json',
    '/gateReportDigest',
  ],
  [
    'evidence/0001-unit.json',
    (v: Json) => {
      v.status = 'failed';
    },
    'decision-input.json',
    '/stages/0/checks',
  ],
  [
    'evidence/0001-unit.json',
    (v: Json) => {
      v.exit_code = 3;
    },
    'evidence/0001-unit.json',
    '/exit_code',
  ],
  [
    'evidence/0001-unit.json',
    (v: Json) => {
      v.reports = [];
    },
    'evidence/0001-unit.json',
    '/reports',
  ],
  [
    'evidence/0002-fast.json',
    (v: Json) => {
      v.asked = [{ name: 'never-asked', plugin: 'p', status: 'passed' }];
    },
    'evidence/0002-fast.json',
    '/asked',
  ],
  [
    'evidence/0002-fast.json',
    (v: Json) => {
      v.status = 'failed';
    },
    'decision-input.json',
    '/stages/0/status',
  ],
  [
    'effective.json',
    (v: { constraints: { resources: Json } }) => {
      v.constraints.resources.maxWallClockSeconds = 1;
    },
    'decision-input.json',
    '/wallClock/limitSeconds',
  ],
  [
    'effective.json',
    (v: { objmodel: { decisionPolicy: Json } }) => {
      v.objmodel.decisionPolicy.rollbackOnProvenanceFail = 'x';
    },
    'decision-input.json',
    '/policy/rollbackOnProvenanceFail',
  ],
  [
    'decision-record.json',
    (v: Json) => {
      v.type = 'abandon';
    },
    'decision-record.json',
    '/type',
  ],
  [
    'decision-record.json',
    (v: Json) => {
      v.extra = 1;
    },
    'decision-record.json',
    '',
  ],
  [
    'decision.json',
    (v: Json) => {
      v.type = 'abandon';
    },
    'decision.json',
    '/type',
  ],
  [
    'decision.json',
    (v: Json) => {
      v.reasons = ['none'];
    },
    'decision.json',
    '/reasons',
  ],
  [
    'decision.json',
    (v: Json) => {
      v.input_digest = 'a'.repeat(64);
    },
    'decision.json',
    '/input_digest',
  ],
  [
    'decision.json',
    (v: Json) => {
      v.decision_digest = 'a'.repeat(64);
    },
    'decision.json',
    '/decision_digest',
  ],
  [
    'decision.json',
    (v: Json) => {
      v.tree = 'a'.repeat(40);
    },
    'decision.json',
    '/tree',
  ],
  [
    'decision.json',
    (v: Json) => {
      v.unknown = 1;
    },
    'decision.json',
    '',
  ],
];

t.test('replay reports the first field that differs in a changed record', async (t) => {
  for (const [path, change, file, field] of changes) {
    const { equal, firstDifference } = replayRun(tampered(path, change));
    t.equal(equal, false);
    t.match(firstDifference, { file, field }, `${path}: ${field}`);
  }
});

t.test('replay reports each missing or unparsable file that the decision needs', async (t) => {
  for (const path of [
    'decision-input.json',
    'decision-record.json',
    'decision.json',
    'run.json',
    'patchset.json',
    'spec.json',
    'effective.json',
    'gate-report.json',
  ]) {
    const without = new Map(files);
    without.delete(path);
    t.match(replayRun(without), {
      equal: false,
      firstDifference: { file: path, field: '', found: 'nothing' },
    });
    const broken = new Map(files).set(path, Buffer.from('{"a":1,"a":2}'));
    t.match(replayRun(broken), { equal: false, firstDifference: { file: path, field: '' } });
  }
  const without = new Map([...files].filter(([path]) => !path.startsWith('evidence/')));
  t.match(replayRun(without), { equal: false, firstDifference: { field: '/stages/0/status' } });
});

t.test('replay reports added white space as a difference', async (t) => {
  for (const path of ['decision-input.json', 'decision-record.json']) {
    const spaced = new Map(files).set(path, Buffer.from(`${files.get(path)} `));
    t.match(replayRun(spaced), { equal: false, firstDifference: { file: path, field: '' } });
  }
});

t.test('replay compares files outside the decision with the digests in the provenance', async (t) => {
  const listed = new Map([...files].map(([path, bytes]) => [path, sha256Hex(bytes)]));
  t.ok(replayRun(files, listed).equal);
  const changed = tampered('plan.json', (v: Json) => {
    v.revision = 9;
  });
  t.ok(replayRun(changed).equal);
  t.match(replayRun(changed, listed), { equal: false, firstDifference: { file: 'plan.json', field: '' } });
});

/** The record as the first version of the input would have been decided and written down. */
function aged(change: (input: Json) => void): ReadonlyMap<string, Buffer> {
  const { citations: _, ...kept } = readRecordFile(files, 'decision-input.json');
  const input: Json = { ...kept, schema: 'urn:writ:decision-input:v1' };
  change(input);
  const decision = decide(input as never);
  const object = {
    ...readRecordFile(files, 'decision.json'),
    type: decision.type,
    reasons: decision.reasons,
    input_digest: decision.inputDigest,
    decision_digest: canonicalDigest(decision),
  };
  return new Map([
    ...files,
    ['decision-input.json', toRecordBytes(input)],
    ['decision-record.json', toRecordBytes(decision)],
    ['decision.json', toRecordBytes(object)],
  ]);
}

t.test('replay repeats the old decision of a v1 record without citations', async (t) => {
  const { equal, decision, firstDifference } = replayRun(aged(() => {}));
  t.equal(firstDifference, undefined);
  t.ok(equal);
  t.equal(decision?.type, 'commit');
  const wrong = { needed: 7, trusted: true };
  t.match(replayRun(aged((input) => Object.assign(input, { citations: wrong }))), {
    firstDifference: { file: 'decision-input.json', field: '/citations' },
  });
});

t.test('replay reports citations that were changed in or removed from a record', async (t) => {
  const without = tampered('decision-input.json', (v: Json) => {
    delete v.citations;
  });
  t.match(replayRun(without), { firstDifference: { file: 'decision-record.json', field: '/type' } });
  const fewer = tampered('decision-input.json', (v: { citations: Json }) => {
    v.citations.needed = 9;
  });
  t.match(replayRun(fewer), { firstDifference: { file: 'decision-input.json', field: '/citations' } });
  const listed = new Map([...files].map(([path, bytes]) => [path, sha256Hex(bytes)]));
  t.match(
    replayRun(
      aged(() => {}),
      listed,
    ),
    { equal: false, firstDifference: { file: 'decision-input.json', field: '' } },
  );
});

t.test('replay reports input that is not a decision input as a difference', async (t) => {
  for (const text of ['null', '[]', '{}', '{"stages":5,"human":null}', '"x"']) {
    const broken = new Map(files).set('decision-input.json', Buffer.from(`${text}\n`));
    t.equal(replayRun(broken).equal, false, text);
  }
});
