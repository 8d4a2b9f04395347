import { resolve } from 'node:path';
import t from 'tap';
import {
  type CommandContext,
  type CommandSpec,
  type RunCommand,
  refused,
  succeeded,
} from '../../bin/command-parts/command.ts';
import { WritError } from '../../core/base/errors.ts';
import { runLine } from './host.ts';

const hostile = '\x1b[2J\u202e<script>';

function table(run: RunCommand): readonly CommandSpec[] {
  return [
    {
      name: 'try',
      summary: 'try it',
      arguments: [{ name: 'WORD', about: 'a word', optional: true }],
      options: [{ name: 'level', value: 'N', about: 'how much' }],
      examples: [{ line: 'writ try', about: 'an example' }],
      load: () => Promise.resolve(run),
    },
  ];
}

const yes = table(async ({ args }) =>
  succeeded({ some_field: args }, (printer) => printer.line('yes ', ...args)),
);
const no = table(async () =>
  refused(
    new WritError('DECISION_ABANDON', {
      message: `no ${hostile}`,
      detail: { expected: 'a', found: hostile },
      hints: ['try again'],
    }),
    { some_field: hostile },
    (printer) => printer.line('no'),
  ),
);

t.test('a success exits 0 with text or one JSON envelope with `data` on stdout', async (t) => {
  t.strictSame(await runLine(['try', 'x'], yes), { code: 0, out: 'yes x\n', err: '' });
  const { code, out, err } = await runLine(['--json', 'try', 'x'], yes);
  t.equal(code, 0);
  t.equal(err, '');
  t.strictSame(JSON.parse(out), { ok: true, command: 'try', data: { some_field: ['x'] } });
});

t.test('a refusal keeps its `data`, has `ok` false and exits with the catalogued code', async (t) => {
  const { code, out, err } = await runLine(['try', '--json'], no);
  t.equal(code, 1);
  t.equal(err, '');
  t.strictSame(JSON.parse(out), {
    ok: false,
    command: 'try',
    data: { some_field: hostile },
    error: {
      code: 'DECISION_ABANDON',
      message: `no ${hostile}`,
      details: { expected: 'a', found: hostile },
      hints: ['try again'],
    },
  });
  t.notMatch(out, /[\x1b\u202e]/, 'nothing in the document acts on a terminal');
});

t.test('an error is printed to stderr as code, message, details and hints, without a stack', async (t) => {
  const { out, err } = await runLine(['try'], no);
  t.equal(out, 'no\n');
  t.equal(
    err,
    'writ: DECISION_ABANDON: no \\e[2J\\u{202e}<script>\n  expected: a\n  found: \\e[2J\\u{202e}<script>\n  hint: try again\n',
  );
  const coloured = await runLine(['try'], no, { terminal: true });
  t.match(coloured.err, '\x1b[31mDECISION_ABANDON\x1b[39m');
  t.notMatch(coloured.err, /\x1b\[2J/);
  t.notMatch((await runLine(['try', '--no-color'], no, { terminal: true })).err, /\x1b/);
});

t.test(
  'an uncatalogued error is INTERNAL with exit code 70, and a stack under WRIT_DEBUG=1 only',
  async (t) => {
    const broken = table(async () => {
      throw new TypeError('secret\nplace');
    });
    const { code, out, err } = await runLine(['try'], broken);
    t.equal(code, 70);
    t.equal(out, '');
    t.match(err, /^writ: INTERNAL: secret\\nplace\n {2}hint: /);
    t.notMatch(err, /\bat /);
    t.match(
      (await runLine(['try'], broken, { env: { WRIT_DEBUG: '1' } })).err,
      /TypeError: secret.*\n(.|\n)*\bat /,
    );
    t.match(JSON.parse((await runLine(['try', '--json'], broken)).out), {
      ok: false,
      command: 'try',
      error: { code: 'INTERNAL' },
    });
    for (const thrown of ['text', undefined, null, 7]) {
      const odd = table(async () => {
        throw thrown;
      });
      t.equal((await runLine(['try'], odd)).code, 70, String(thrown));
    }
    const unprintable = table(async () => succeeded({ n: 1n }, () => {}));
    t.match(JSON.parse((await runLine(['try', '--json'], unprintable)).out), {
      ok: false,
      error: { code: 'INTERNAL' },
    });
  },
);

t.test('a command that cannot be loaded fails with exit code 70', async (t) => {
  const missing = yes.map((command) => ({
    ...command,
    load: () => Promise.reject(new Error('cannot load')),
  }));
  t.equal((await runLine(['try'], missing)).code, 70);
});

t.test('a usage error exits 129 and names its command, also in JSON', async (t) => {
  t.equal((await runLine(['try', '--lvel', '1'], yes)).code, 129);
  t.match(JSON.parse((await runLine(['try', '--lvel', '1', '--json'], yes)).out), {
    ok: false,
    command: 'try',
    error: { code: 'USAGE', hints: ['did you mean `--level`?'] },
  });
  t.match(JSON.parse((await runLine(['tri', '--json'], yes)).out), {
    ok: false,
    command: '',
    error: { code: 'USAGE' },
  });
  t.match(
    (await runLine(['try', '--', '--json'], yes)).out,
    'yes --json',
    'after a double dash it is a word',
  );
});

t.test('an interrupted command exits 130 for both kinds of abort error', async (t) => {
  for (const wording of ['reason', 'AbortError']) {
    const abort = new AbortController();
    const waiting = table(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () =>
            reject(wording === 'reason' ? signal.reason : new DOMException('aborted', 'AbortError')),
          );
          abort.abort(new WritError('RUN_INTERRUPTED'));
        }),
    );
    const { code, err } = await runLine(['try'], waiting, { signal: abort.signal });
    t.equal(code, 130, wording);
    t.match(err, 'writ: RUN_INTERRUPTED');
  }
});

t.test('a result or another error after an interrupt keeps its exit code', async (t) => {
  const abort = new AbortController();
  abort.abort(new WritError('RUN_INTERRUPTED'));
  t.equal((await runLine(['try'], yes, { signal: abort.signal })).code, 0);
  const other = table(async () => {
    throw new WritError('GIT_FAILED');
  });
  t.equal((await runLine(['try'], other, { signal: abort.signal })).code, 128);
});

t.test('a command receives its environment through the context', async (t) => {
  let seen: CommandContext | undefined;
  const look = table(async (context) => {
    seen = context;
    return succeeded({}, () => {});
  });
  await runLine(['--repo', 'sub', 'try', '-q'], look, { cwd: '/tmp', env: { A: '1' } });
  t.match(seen, { cwd: '/tmp', env: { A: '1' }, quiet: true, json: false, repoPath: resolve('/tmp/sub') });
  await runLine(['try'], look, { cwd: '/tmp' });
  t.equal(seen !== undefined && 'repoPath' in seen, false);
});

t.test('help goes to stdout at every level and shows arguments, options and examples', async (t) => {
  const { code, out, err } = await runLine(['try', '--help'], yes);
  t.equal(code, 0);
  t.equal(err, '');
  for (const part of [
    'Usage: writ try [WORD] [options]',
    '--level N',
    'how much',
    'writ try',
    'an example',
    '--json',
    'writ schema try',
  ]) {
    t.match(out, part);
  }
  t.match((await runLine(['--help'], yes)).out, /\n {2}other {2}try\n/);
  t.match(JSON.parse((await runLine(['--help', '--json'], yes)).out), { ok: true, command: 'help' });
  t.match(JSON.parse((await runLine(['--version', '--json'], yes)).out), {
    ok: true,
    command: 'version',
    data: { version: String },
  });
});

t.test('progress is shown on a terminal only', async (t) => {
  const busy = table(async ({ progress, print }) => {
    progress.update('working');
    print.note('noted');
    return succeeded({}, () => {});
  });
  t.equal((await runLine(['try'], busy)).err, 'noted\n');
  t.equal((await runLine(['try'], busy, { terminal: true })).err, '\r\x1b[2Kworking\r\x1b[2Knoted\n');
  t.equal((await runLine(['try', '--quiet'], busy, { terminal: true })).err, '');
  t.equal((await runLine(['try', '--json'], busy, { terminal: true })).err, 'noted\n');
});
