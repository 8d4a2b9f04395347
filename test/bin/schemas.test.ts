import t from 'tap';
import { toRunData } from '../../api/run/run-data.ts';
import { outputSchemas } from '../../api/schemas/output-schemas.ts';
import { commands } from '../../bin/command-table.ts';
import { sampleSpec } from '../../testing.ts';
import { ajv, faultsOf } from './faults-of.ts';
import { runLine } from './host.ts';
import { abandoned, committed, hostile, huge } from './report/sample-view.ts';

t.test('every command has a schema, and every schema a command', async (t) => {
  t.strictSame(
    Object.keys(outputSchemas).sort(),
    [...commands.map((command) => command.name), 'version'].sort(),
  );
});

t.test('every schema is a valid JSON Schema 2020-12 that `writ schema` prints', async (t) => {
  for (const command of Object.keys(outputSchemas)) {
    const { code, out } = await runLine(['schema', ...command.split(' ')], commands);
    t.equal(code, 0);
    t.strictSame(JSON.parse(out), outputSchemas[command]);
    t.equal(JSON.parse(out).$schema, 'https://json-schema.org/draft/2020-12/schema');
    t.ok(ajv.validateSchema(JSON.parse(out)), command);
  }
  t.equal((await runLine(['schema', 'nothing'], commands)).code, 129);
  t.equal((await runLine(['schema', 'constructor'], commands)).code, 129);
});

t.test('the output of each command matches its schema', async (t) => {
  const stdin = JSON.stringify(sampleSpec);
  const lines: readonly (readonly string[])[] = [
    ['spec', 'new'],
    ['spec', 'validate', '-'],
    ['spec', 'digest', '-'],
    ['spec', 'canonical', '-'],
    ['spec', 'show', '-'],
    ['spec', 'schema'],
    ['schema', 'run'],
    ['--help'],
    ['--version'],
  ];
  for (const line of lines) {
    const { out } = await runLine(['--json', ...line], commands, { stdin });
    const { command, data } = JSON.parse(out);
    t.strictSame(faultsOf(command, data), [], line.join(' '));
  }
  const refused = await runLine(['--json', 'spec', 'validate', '-'], commands, { stdin: '{' });
  t.strictSame(faultsOf('spec validate', JSON.parse(refused.out).data), [], 'a refusal has the same shape');
});

t.test('the data of every kind of run matches the schemas of `run` and `show`', async (t) => {
  const { decision: _decision, patch: _patch, ...running } = committed;
  for (const view of [committed, abandoned, huge, { ...running, state: 'running' as const }]) {
    for (const command of ['run', 'show'])
      t.strictSame(faultsOf(command, JSON.parse(JSON.stringify(toRunData(view)))), []);
  }
  t.ok(faultsOf('run', toRunData(hostile)).length > 0, 'digests that are none are noticed');
});

t.test('the data of a run has the expected fields in snake_case', async (t) => {
  const data = JSON.parse(JSON.stringify(toRunData(committed)));
  t.match(data, {
    run_id: committed.runId,
    thread_id: committed.threadId,
    decision: { type: 'commit', rationale: String, commit_sha: String, decision_digest: String },
    provenance: { bundle: String, proof: String },
  });
  t.match(data.stages[0], { stage: 'fast', status: 'passed', expected: 2, ran: 2 });
  t.match(data.stages[0].checks[1], {
    id: 'unit',
    kind: 'testSuite',
    status: 'passed',
    required: true,
    exit_code: 0,
    duration_ms: 3120,
    timed_out: false,
    tests: { passed: 212, failed: 0, skipped: 3 },
    artifacts: [],
  });
  t.match(data.stages[1].findings, [{ rule: 'check-outcome', severity: 'warning', check_id: 'bench' }]);
  t.match(data.artifacts[1], {
    name: 'test-log',
    stage: 'fast',
    sha256: String,
    size_bytes: 48211,
    content_type: 'text/plain',
    redactions: 2,
  });
  t.notMatch(JSON.stringify(data), /"[a-z]+[A-Z]\w*":/, 'snake_case throughout');
});
