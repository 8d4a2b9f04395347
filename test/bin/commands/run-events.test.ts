import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { lineSchemas } from '../../../api/schemas/output-schemas.ts';
import { commands } from '../../../bin/command-table.ts';
import { makeSample } from '../../engine/sample.ts';
import { launcherOptions, writProgram } from '../../starter/program.ts';
import { ajv } from '../faults-of.ts';
import { runLine } from '../host.ts';

interface Line {
  readonly type?: string;
  readonly ok?: boolean;
  readonly data?: { readonly run_id?: string; readonly stage?: string };
}

function scene(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  writeFileSync(join(sample.root, 'notes.md'), 'a note\n');
  sample.git('add', 'notes.md');
  const env = { ...sample.env, CI: '' };
  const events = async (...argv: readonly string[]) => {
    const { code, out, err } = await runLine([...argv, '--events'], commands, { cwd: sample.root, env });
    return {
      code,
      err,
      lines: out
        .trimEnd()
        .split('\n')
        .map((line): Line => JSON.parse(line)),
    };
  };
  return { ...sample, events };
}

function faultsOf(command: string, lines: readonly Line[]): readonly string[] {
  const id = `urn:writ:line:${command}`;
  const validate = ajv.getSchema(id) ?? ajv.compile(lineSchemas[command] ?? false);
  return lines.flatMap((line) =>
    validate(line) ? [] : [`${JSON.stringify(line)}: ${ajv.errorsText(validate.errors)}`],
  );
}

const typesOf = (lines: readonly Line[]) => lines.map(({ type, ok }) => type ?? `ok ${ok}`);

t.test('`--events` prints a line for each step, and the result last', async (t) => {
  const { events } = scene(t);
  const { code, lines } = await events('seal', '-m', 'docs: a note', '--check', 'true');
  t.equal(code, 0);
  t.strictSame(
    [...new Set(typesOf(lines))],
    ['run_started', 'tool_settled', 'stage_settled', 'decision_made', 'ok true'],
  );
  t.equal(lines.filter(({ type }) => type === 'stage_settled').length, 4);
  t.strictSame(faultsOf('seal', lines), []);
  const run = lines[0]?.data?.run_id ?? '';
  t.strictSame(new Set(lines.map(({ data }) => data?.run_id)), new Set([run]));
  const again = await events('resume', run);
  t.strictSame(
    [typesOf(again.lines), faultsOf('resume', again.lines)],
    [['ok true'], []],
    'nothing is left to do',
  );
});

t.test('a refusal and bad input are a last line, too', async (t) => {
  const { events } = scene(t);
  const refused = await events('seal', '-m', 'docs: a note', '--check', 'false', '--no-seal');
  t.equal(refused.code, 1);
  t.equal(typesOf(refused.lines).at(-1), 'ok false');
  t.strictSame(faultsOf('seal', refused.lines), []);
  const missing = await events('run', 'absent.json', '--range', 'main..main');
  t.strictSame(
    [missing.code, typesOf(missing.lines), faultsOf('run', missing.lines)],
    [129, ['ok false'], []],
  );
});

t.test('`writ schema --events` prints the schema of a line', async (t) => {
  const { code, out } = await runLine(['schema', 'run', '--events'], commands);
  t.strictSame([code, JSON.parse(out)], [0, lineSchemas.run]);
  t.equal((await runLine(['schema', 'scan', '--events'], commands)).code, 129);
});

t.test('a reader that goes away does not stop the run', async (t) => {
  const { root, env, git } = scene(t);
  const argv = ['seal', '-m', 'docs: a note', '--check', 'sleep 1', '--events'];
  const child = spawn(process.execPath, [...launcherOptions, writProgram, ...argv], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.once('data', () => child.stdout.destroy());
  let err = '';
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  t.equal(await new Promise((resolve) => child.on('close', resolve)), 0, err);
  t.match(git('log', '-1', '--format=%s'), 'docs: a note');
});
