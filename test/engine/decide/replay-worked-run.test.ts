import t from 'tap';
import { sha256Hex } from '../../../core/base/canonical.ts';
import { replayRun } from '../../../engine/decide/replay-run.ts';
import { type Json, type RecordFiles, readStoredRecord, tamper } from './stored-record.ts';

const cites = readStoredRecord('work-that-cites');
const blamed = readStoredRecord('two-tasks-one-of-them-blamed');

/** A change to one file of a record, and the first difference that replaying it reports. */
interface Lie {
  readonly name: string;
  readonly path: string;
  readonly change: (value: never) => void;
  readonly file: string;
  readonly field: string;
}

const attempt = 'task-1/revision-1/attempt-1';
const candidate = 'candidate-2';
const lie = (name: string, path: string, change: Lie['change'], file: string, field: string): Lie => ({
  name,
  path,
  change,
  file,
  field,
});

const liesOfCitations: readonly Lie[] = [
  lie(
    'the number of sources that an attempt needed',
    `${attempt}/citations.json`,
    (v: Json) => {
      v.needed = 1;
    },
    `${attempt}/citations.json`,
    '/needed',
  ),
  lie(
    'a source that did not count',
    `${attempt}/citations.json`,
    (v: { first: { sources: Json[] }[] }) => {
      for (const source of v.first[0]?.sources ?? []) source.counts = false;
    },
    `${attempt}/patchset.json`,
    '/findings',
  ),
  lie(
    'no decision at all',
    `${attempt}/citations.json`,
    (v: Json) => {
      v.first = [];
      v.count = 0;
    },
    `${attempt}/patchset.json`,
    '/findings',
  ),
  lie(
    'citations of another form',
    `${attempt}/citations.json`,
    (v: Json) => {
      v.schema = 'urn:writ:citations:v2';
    },
    `${attempt}/citations.json`,
    '',
  ),
  lie(
    'a use of a tool more',
    'tool-uses.json',
    (v: Json) => {
      v.count = 5;
    },
    'tool-uses.json',
    '',
  ),
  lie(
    'a denied use of a tool as done',
    `${attempt}/tools/worker/0001.json`,
    (v: Json) => {
      v.outcome = 'denied';
    },
    'tool-uses.json',
    '',
  ),
  lie(
    'a use of a tool of another run',
    `${attempt}/tools/worker/0001.json`,
    (v: Json) => {
      v.run = '01a21fae-ed9b-7851-b693-d07b9b89754e';
    },
    `${attempt}/tools/worker/0001.json`,
    '/run',
  ),
  lie(
    'a use of a tool in another form',
    `${attempt}/tools/worker/0001.json`,
    (v: Json) => {
      delete v.tool;
    },
    'tool-uses.json',
    '',
  ),
  lie(
    'the trust in the tier of the repository',
    'effective.json',
    (v: { evidence: Json }) => {
      v.evidence.trustTiers = ['user-provided'];
    },
    'decision-input.json',
    '/citations',
  ),
  lie(
    'a tier that is no list',
    'effective.json',
    (v: { evidence: Json }) => {
      v.evidence.trustTiers = 'repo';
    },
    'decision-input.json',
    '/citations',
  ),
  lie(
    'a lower cap on cost',
    'effective.json',
    (v: { constraints: { resources: Json } }) => {
      v.constraints.resources.maxCostUnits = 7;
    },
    'decision-input.json',
    '/cost/limitUnits',
  ),
  lie(
    'approval that the contract asks for',
    'effective.json',
    (v: { risk: { humanInLoop: Json } }) => {
      v.risk.humanInLoop.required = true;
    },
    'decision-input.json',
    '/human/required',
  ),
  lie(
    'a trigger that the contract enables',
    'effective.json',
    (v: { execution: { replan: Json } }) => {
      v.execution.replan.triggers = ['scope-creep'];
    },
    'decision-input.json',
    '/triggers/enabled',
  ),
  lie(
    'a run of its own for an attempt',
    `${attempt}/run.json`,
    (v: Json) => {
      delete v.attempt_of;
    },
    `${attempt}/decision-input.json`,
    '/runId',
  ),
];

const liesOfBlame: readonly Lie[] = [
  lie(
    'an attempt that the candidate was merged from',
    `${candidate}/decision-input.json`,
    (v: { blame: { merged: string[] } }) => {
      v.blame.merged.shift();
    },
    `${candidate}/decision-input.json`,
    '/blame',
  ),
  lie(
    'no blame',
    `${candidate}/decision-input.json`,
    (v: Json) => {
      delete v.blame;
    },
    `${candidate}/decision-input.json`,
    '/blame',
  ),
  lie(
    'another task to try again',
    `${candidate}/decision-input.json`,
    (v: { task: Json }) => {
      v.task.id = 'task-2';
    },
    `${candidate}/decision-input.json`,
    '/task/id',
  ),
  lie(
    'more retries',
    'effective.json',
    (v: { execution: { retry: Json } }) => {
      v.execution.retry.maxRetries = 9;
    },
    `${candidate}/decision-input.json`,
    '/blame',
  ),
  lie(
    'a finding in another file',
    `${candidate}/evidence/0005-sast.json`,
    (v: { findings: Json[] }) => {
      for (const finding of v.findings) finding.path = 'src/two.js';
    },
    `${candidate}/decision-input.json`,
    '/blame',
  ),
  lie(
    'blame where nothing was refused for a file',
    'decision-input.json',
    (v: Json) => {
      v.blame = { merged: [], tasks: [], unwritten: { count: 0, first: [] } };
    },
    'decision-input.json',
    '/blame',
  ),
  lie(
    'an attempt that was sent back as merged',
    'parts.json',
    (v: { parts: Json[] }) => {
      Object.assign(v.parts[0] ?? {}, { attempt });
    },
    'parts.json',
    '/parts/0/attempt',
  ),
  lie(
    'parts of another form',
    'parts.json',
    (v: Json) => {
      v.schema = 'urn:writ:parts:v2';
    },
    'parts.json',
    '',
  ),
  lie(
    'parts of another tree',
    'parts.json',
    (v: Json) => {
      v.candidate_tree = 'a'.repeat(40);
    },
    'parts.json',
    '/candidate_tree',
  ),
  lie(
    'a decision of an attempt',
    `${attempt}/decision.json`,
    (v: Json) => {
      v.reasons = [];
    },
    `${attempt}/decision.json`,
    '/reasons',
  ),
  lie(
    'the tree of an attempt',
    `${attempt}/patchset.json`,
    (v: Json) => {
      v.candidate_tree = 'a'.repeat(40);
    },
    `${attempt}/decision-input.json`,
    '/candidateTree',
  ),
  lie(
    'where a finding of an attempt is',
    `${attempt}/patchset.json`,
    (v: { findings: Json[] }) => {
      Object.assign(v.findings[0] ?? {}, { line: 9 });
    },
    `${attempt}/decision-input.json`,
    '/patchFindings',
  ),
  lie(
    'the file of a finding of an attempt',
    `${attempt}/patchset.json`,
    (v: { findings: Json[] }) => {
      delete v.findings[0]?.path;
    },
    `${attempt}/decision-input.json`,
    '/patchFindings',
  ),
  lie(
    'what a check wrote outside',
    'evidence/0003-sum.json',
    (v: Json) => {
      delete v.wrote_outside;
    },
    'evidence/0003-sum.json',
    '/wrote_outside',
  ),
];

for (const [name, record, lies] of [
  ['work that cites its sources', cites, liesOfCitations],
  ['work of two tasks, one of them blamed', blamed, liesOfBlame],
] as const)
  t.test(name, async (t) => {
    t.test('replaying the record leads to its decision', async (t) => {
      t.match(replayRun(record), { equal: true, firstDifference: undefined, decision: { type: 'commit' } });
    });
    t.test('replay reports the first difference of a changed record', async (t) => {
      for (const { name, path, change, file, field } of lies)
        t.match(
          replayRun(tamper(record, path, change)),
          { equal: false, firstDifference: { file, field } },
          name,
        );
    });
  });

t.test('replay compares parts with the digests that the provenance lists', async (t) => {
  const listed = (digest: string) => new Map([['task-1/revision-1/attempt-3/artifacts/part.diff', digest]]);
  const { parts } = JSON.parse(String(blamed.get('parts.json'))) as { parts: { digest: string }[] };
  t.equal(replayRun(blamed, listed(parts[0]?.digest ?? '')).firstDifference, undefined);
  t.match(replayRun(blamed, listed('a'.repeat(64))), {
    firstDifference: { file: 'parts.json', field: '/parts/0/digest' },
  });
});

t.test('replay accepts a raised cost cap and reports a lowered one', async (t) => {
  const capped = (cap: number, limit: number): RecordFiles => {
    const effective = tamper(cites, 'effective.json', (v: { constraints: { resources: Json } }) => {
      v.constraints.resources.maxCostUnits = cap;
    });
    return tamper(effective, 'decision-input.json', (v: { cost: Json }) => {
      v.cost.limitUnits = limit;
    });
  };
  // The decision record binds the input, so it differs last.
  const fieldOf = (files: RecordFiles) => replayRun(files).firstDifference?.field;
  t.equal(fieldOf(capped(5, 6)), '/inputDigest');
  t.equal(fieldOf(capped(5, 4)), '/cost/limitUnits');
  t.equal(fieldOf(capped(0, 4)), '/cost/limitUnits', 'none is not raised');
});

t.test('replay reports at most 300 characters of each side of a difference', async (t) => {
  const long = tamper(cites, 'decision.json', (v: Json) => {
    v.reasons = ['x'.repeat(400)];
  });
  const { firstDifference } = replayRun(long);
  t.equal(firstDifference?.found, `${JSON.stringify(['x'.repeat(400)]).slice(0, 300)}…`);
  t.equal(firstDifference?.expected, '[]');
});

t.test('replay accepts a `rollback.json` beside a commit only for the same reasons', async (t) => {
  const decision = JSON.parse(String(cites.get('decision.json'))) as Json;
  const beside = (more: Json): RecordFiles =>
    new Map(cites).set('rollback.json', Buffer.from(`${JSON.stringify({ ...decision, ...more })}\n`));
  t.match(replayRun(beside({})), { firstDifference: { file: 'rollback.json', field: '/type' } });
  t.match(replayRun(beside({ type: 'rollback', reasons: ['none'] })), {
    firstDifference: { file: 'rollback.json', field: '/reasons' },
  });
  t.equal(replayRun(beside({ type: 'rollback' })).equal, true);
});

t.test('replay ignores a listed file that is missing and names a listed file that differs', async (t) => {
  const listed = new Map([['plan.json', sha256Hex(cites.get('plan.json') ?? Buffer.alloc(0))]]);
  t.equal(replayRun(cites, listed.set('gone.json', 'a'.repeat(64))).equal, true);
  const { equal, decision, firstDifference } = replayRun(cites, listed.set('plan.json', 'a'.repeat(64)));
  t.equal(equal, false);
  t.equal(decision?.type, 'commit', 'what was decided is reported beside the difference');
  t.match(firstDifference, { file: 'plan.json', field: '' });
});
