import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../core/base/clock.ts';
import { builtInTypes } from '../../service/run-publisher.ts';
import { launcherOptions, writProgram as program } from '../starter/program.ts';
import { makeServed } from './started-service.ts';

const page = readFileSync(new URL('../../docs/reference/service.md', import.meta.url), 'utf8');
/** A command of the page, what it prints there, and the exit code that is told where it is not 0. */
interface Step {
  readonly line: string;
  readonly code: number;
  readonly expected: readonly string[];
}

const steps: readonly Step[] = [...page.matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(
  ([, block = '']) =>
    block.split(/^(?=\$ )/m).map((step) => {
      const [first = '', ...expected] = step.split('\n').slice(0, -1);
      const [, line = '', code = '0'] = /^\$ (.*?)(?: +# exit (\d+))?$/.exec(first) ?? [];
      return { line, code: Number(code), expected };
    }),
);

/** `…` stands for anything on the line. */
function formOf(expected: readonly string[]): RegExp {
  const quoted = expected.map((line) => line.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('…', '.*'));
  return new RegExp(`^${quoted.map((line) => `${line}\n`).join('')}$`);
}

interface Shell {
  /** What the line printed and its exit code; output that comes later is waited for until it `fits`. */
  run(
    line: string,
    fits: (output: string) => boolean,
  ): Promise<{ readonly code: number; readonly output: string }>;
}

const patienceMs = 120_000;
/** What bash says of its own when a job is killed. */
const jobNotice = /^bash: line \d+: +\d+ Killed .*\n/m;

/** One bash for all of the page, as a person has one terminal. */
function openShell(t: Test, cwd: string, env: Readonly<Record<string, string>>): Shell {
  // Its own process group, so that what it left in the background ends with it.
  const shell = spawn('bash', ['--norc', '--noprofile'], { cwd, env, detached: true });
  t.teardown(() => {
    if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
  });
  let text = '';
  shell.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  shell.stdin.write('exec 2>&1\n');
  const ends = /\n?<<end (\d+)>>\n/;
  return {
    async run(line, fits) {
      const deadline = systemClock.monotonic() + patienceMs;
      const repeats = /^(?:cat|tail) /.test(line);
      text = '';
      shell.stdin.write(`${line}\nprintf '\\n<<end %s>>\\n' $?\n`);
      for (;;) {
        const [mark, code] = ends.exec(text) ?? [];
        const output = (mark === undefined ? text : text.replace(mark, '')).replace(jobNotice, '');
        const isOver = systemClock.monotonic() > deadline;
        if (code !== undefined && (fits(output) || isOver)) return { code: Number(code), output };
        if (isOver) throw new Error(`no end of: ${line}\n${text}`);
        if (code !== undefined && repeats) {
          text = '';
          shell.stdin.write(`${line}\nprintf '\\n<<end %s>>\\n' $?\n`);
        }
        await systemClock.sleep(30);
      }
    },
  };
}

t.test('every command of docs/reference/service.md prints what the page says', async (t) => {
  const place = makeServed(t);
  const [project, programs] = [join(place.box, 'project'), join(place.box, 'bin')];
  place.git('clone', '-q', place.cwd, project);
  mkdirSync(programs);
  writeFileSync(
    join(programs, 'writ'),
    `#!/bin/sh\nexec '${process.execPath}' ${launcherOptions.join(' ')} '${program}' "$@"\n`,
    {
      mode: 0o755,
    },
  );
  const env = { ...place.env, PATH: `${programs}:${place.env.PATH}` };
  const shell = openShell(t, project, env);
  t.ok(steps.length >= 25, `${steps.length} commands`);
  for (const { line, code, expected } of steps) {
    const form = formOf(expected);
    const ran = await shell.run(line, (output) => form.test(output));
    t.equal(ran.code, code, line);
    t.match(ran.output, form, line);
  }
});

t.test('the table of docs/reference/service.md lists exactly the events', async (t) => {
  const [, events = ''] = page.split('\n## Events\n');
  const types = [...(events.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, type]) => type);
  t.same(types.sort(), [...builtInTypes].sort());
});
