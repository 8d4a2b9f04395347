import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { canonicalDigest, canonicalize, sha256Hex } from '../../../core/base/canonical.ts';
import { readIntentSpec } from '../../../spec/read-intent-spec.ts';
import { sampleSpecWith } from '../../../testing.ts';
import { type Ran, runLine as runAnywhere } from '../host.ts';

/** Valid and without a warning. */
const sampleSpec = sampleSpecWith({ provenance: { transparencyLog: { mode: 'none' } } });
const good = JSON.stringify(sampleSpec, null, 1);
const { risk: _risk, ...withoutRisk } = sampleSpec;
const bad = JSON.stringify({ ...withoutRisk, extra: 1, intent: { ...sampleSpec.intent, summary: 'x' } });

const outside = mkdtempSync(join(tmpdir(), 'writ-spec-'));
t.teardown(() => rmSync(outside, { recursive: true, force: true }));
let directories = 0;

/** Files outside of any repository, so that a contract is judged by itself. */
function directoryOf(files: Readonly<Record<string, string>>): string {
  directories += 1;
  const path = join(outside, String(directories));
  mkdirSync(path);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
}

const runLine: typeof runAnywhere = (argv, table, given) =>
  runAnywhere(argv, table, { cwd: outside, ...given });

interface Data {
  readonly files: readonly {
    readonly path: string;
    readonly valid: boolean;
    readonly digest: string | null;
    readonly issues: readonly { readonly code: string; readonly path: string; readonly severity: string }[];
  }[];
  readonly path: string;
  readonly digest: string;
  readonly canonical: string;
  readonly spec: unknown;
}

interface Envelope {
  readonly ok: boolean;
  readonly command: string;
  readonly data: Data;
  readonly error?: { readonly code: string; readonly message: string };
}

async function json(
  argv: readonly string[],
  given: Parameters<typeof runLine>[2] = {},
): Promise<Envelope & { readonly code: number }> {
  const ran = await runLine(['--json', ...argv], commands, given);
  return { code: ran.code, ...(JSON.parse(ran.out) as Envelope) };
}

function plain(argv: readonly string[], given: Parameters<typeof runLine>[2] = {}): Promise<Ran> {
  return runLine(argv, commands, given);
}

t.test('`spec validate` checks every file and fails if any is invalid', async (t) => {
  const cwd = directoryOf({
    'good.json': good,
    'bad.json': bad,
    'cut.json': good.slice(0, -20),
    'empty.json': '',
  });
  const { code, ok, data, error } = await json(
    ['spec', 'validate', 'good.json', 'bad.json', 'cut.json', 'empty.json'],
    { cwd },
  );
  t.equal(code, 1);
  t.equal(ok, false);
  t.equal(error?.code, 'INTENTSPEC_INVALID');
  t.strictSame(
    data.files.map((file) => [file.path, file.valid]),
    [
      ['good.json', true],
      ['bad.json', false],
      ['cut.json', false],
      ['empty.json', false],
    ],
  );
  t.equal(data.files[0]?.digest, canonicalDigest(sampleSpec));
  t.strictSame(data.files[1]?.issues.map((issue) => [issue.code, issue.path, issue.severity]).sort(), [
    ['SCHEMA_ADDITIONAL_PROPERTIES', '/extra', 'error'],
    ['SCHEMA_MIN_LENGTH', '/intent/summary', 'error'],
    ['SCHEMA_REQUIRED', '', 'error'],
  ]);
  t.match(data.files[2], {
    digest: null,
    issues: [{ code: 'INTENTSPEC_MALFORMED', path: '', severity: 'error' }],
  });
});

t.test('`spec validate` exits 0 for a valid file or stdin, and reports warnings', async (t) => {
  t.match(await json(['spec', 'validate', '-'], { stdin: good }), {
    code: 0,
    ok: true,
    data: { files: [{ path: '-', valid: true, issues: [] }] },
  });
  const slow = sampleSpecWith({
    acceptance: {
      verificationPlan: {
        fastChecks: [
          {
            id: 'slow',
            kind: 'command',
            command: 'true',
            timeoutSeconds: 9000,
            expectedExitCode: 0,
            required: true,
            artifactsProduced: [],
          },
        ],
      },
    },
  });
  const ran = await json(['spec', 'validate', '-'], { stdin: JSON.stringify(slow) });
  t.equal(ran.code, 0);
  t.ok((ran.data.files[0]?.issues.length ?? 0) > 0);
  t.ok(ran.data.files[0]?.issues.every((issue) => issue.severity === 'warning'));
});

t.test(
  '`spec validate` prints file, issue, path and message, and with `--quiet` only failures',
  async (t) => {
    const cwd = directoryOf({ 'good.json': good, 'bad.json': bad });
    const { code, out, err } = await plain(['spec', 'validate', 'good.json', 'bad.json'], { cwd });
    t.equal(code, 1);
    t.match(out, /^valid {2}good\.json {2}sha256:[0-9a-f]{64}\ninvalid {2}bad\.json/);
    t.match(out, /error {2}SCHEMA_MIN_LENGTH +\/intent\/summary {2}expected/);
    t.match(err, 'writ: INTENTSPEC_INVALID: 1 of 2 files is invalid');
    t.notMatch((await plain(['spec', 'validate', '-q', 'good.json', 'bad.json'], { cwd })).out, 'good.json');
  },
);

t.test('malformed specs are INTENTSPEC_MALFORMED, unreadable files INPUT_UNREADABLE', async (t) => {
  const cwd = directoryOf({ 'big.json': `"${'x'.repeat(4 * 1024 * 1024)}"` });
  for (const text of [
    '',
    '{"a":1,"a":2}',
    '\ufeff{}',
    '{} {}',
    '[NaN]',
    '['.repeat(65) + ']'.repeat(65),
    '"\\ud800"',
    '1e999',
  ]) {
    for (const command of ['validate', 'digest', 'canonical', 'show']) {
      t.match(
        await json(['spec', command, '-'], { stdin: text }),
        { code: 1, error: { code: 'INTENTSPEC_MALFORMED' } },
        `${command} ${text.slice(0, 10)}`,
      );
    }
  }
  t.match(await json(['spec', 'validate', 'big.json'], { cwd }), {
    code: 1,
    error: { code: 'INTENTSPEC_MALFORMED' },
  });
  t.match(await json(['spec', 'digest', 'big.json'], { cwd }), {
    code: 1,
    error: { code: 'INTENTSPEC_MALFORMED' },
  });
  mkdirSync(join(cwd, 'dir'));
  for (const path of ['dir', 'missing']) {
    t.match(await json(['spec', 'validate', path], { cwd }), {
      code: 129,
      error: { code: 'INPUT_UNREADABLE' },
    });
  }
});

t.test('`spec digest` and `spec canonical` agree for every spelling of a spec', async (t) => {
  const respelled = JSON.stringify(Object.fromEntries(Object.entries(sampleSpec).reverse()));
  const digest = canonicalDigest(sampleSpec);
  for (const stdin of [good, respelled]) {
    t.strictSame(await plain(['spec', 'digest', '-'], { stdin }), { code: 0, out: `${digest}\n`, err: '' });
    const { out } = await plain(['spec', 'canonical', '-'], { stdin });
    t.equal(out, canonicalize(sampleSpec));
    t.equal(sha256Hex(out), digest);
    t.match(await json(['spec', 'canonical', '-'], { stdin }), { data: { digest, canonical: out } });
  }
});

t.test(
  '`spec show` renders a valid spec for review and refuses an invalid one with its issues',
  async (t) => {
    const { code, out } = await plain(['spec', 'show', '-'], { stdin: good });
    t.equal(code, 0);
    t.match(out, `# ${sampleSpec.intent.summary}`);
    t.match(out, canonicalDigest(sampleSpec));
    const hostile = sampleSpecWith({
      intent: { problemStatement: '\x1b[2J\u202e<script>alert(1)</script> and more' },
    });
    t.notMatch(
      (await plain(['spec', 'show', '-'], { stdin: JSON.stringify(hostile) })).out,
      /\x1b|\u202e|<script>/,
    );
    const refusal = await json(['spec', 'show', '-'], { stdin: bad });
    t.match(refusal, { code: 1, error: { code: 'INTENTSPEC_INVALID', details: { issues: Array } } });
  },
);

t.test('`spec schema` prints the IntentSpec schema', async (t) => {
  const { out } = await plain(['spec', 'schema']);
  const file = new URL('../../../spec/intentspec.v1.schema.json', import.meta.url);
  t.strictSame(JSON.parse(out), JSON.parse(readFileSync(file, 'utf8')));
  t.equal(JSON.parse(out).$id, 'urn:writ:intentspec:v1');
});

t.test('`spec new` creates a valid draft for each risk level and change type', async (t) => {
  const cwd = directoryOf({});
  for (const risk of ['low', 'medium', 'high']) {
    for (const changeType of ['bugfix', 'unknown']) {
      const { code, out } = await plain(
        ['spec', 'new', '--risk', risk, '--change-type', changeType, '--summary', 'Do what is asked'],
        { cwd },
      );
      t.equal(code, 0);
      const judged = readIntentSpec(Buffer.from(out));
      t.ok(judged.ok);
      if (judged.ok)
        t.match(judged.document, {
          risk: { level: risk },
          intent: { changeType, summary: 'Do what is asked' },
          lifecycle: { status: 'draft' },
        });
    }
  }
  const { data } = await json(['spec', 'new'], { cwd });
  t.equal(data.path, '-');
  t.equal(data.digest, canonicalDigest(data.spec));
});

t.test('`spec new` refuses to overwrite a file', async (t) => {
  const cwd = directoryOf({ 'taken.json': 'mine' });
  const { code, data } = await json(['spec', 'new', '-o', 'a.json'], { cwd });
  t.equal(code, 0);
  t.equal(data.path, join(cwd, 'a.json'));
  t.ok(readIntentSpec(readFileSync(join(cwd, 'a.json'))).ok);
  t.match(await json(['spec', 'new', '-o', 'taken.json'], { cwd }), {
    code: 129,
    error: { code: 'OUTPUT_EXISTS' },
  });
  t.equal(readFileSync(join(cwd, 'taken.json'), 'utf8'), 'mine');
  t.match(await json(['spec', 'new', '-o', 'no/such/dir.json'], { cwd }), {
    code: 128,
    error: { code: 'OUTPUT_FAILED' },
  });
});

t.test('`spec new` refuses invalid option values as usage errors', async (t) => {
  for (const summary of ['x', 'x'.repeat(257), 'two\nlines here']) {
    t.match(await json(['spec', 'new', '--summary', summary]), { code: 129, error: { code: 'USAGE' } });
  }
  t.match(await json(['spec', 'new', '--risk', 'hgih']), {
    code: 129,
    error: { code: 'USAGE', hints: ['did you mean `high`?'] },
  });
});

t.test('`spec new` names the place of a word that no spec can hold', async (t) => {
  const words = ['--summary', 'Reject expired tokens', '--scope', 'src/', '--check', 'x'.repeat(4001)];
  const { code, error } = await json(['spec', 'new', ...words]);
  t.match({ code, error }, { code: 1, error: { code: 'INTENTSPEC_INVALID', message: /at `\/acceptance/ } });
});

t.test('a secret in a spec is refused by every command and never printed', async (t) => {
  const token = `ghp_${'Zq7wK2'.repeat(6)}`;
  const key = `-----BEGIN PRIVATE KEY-----\n${'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7c3Vd\n'.repeat(4)}-----END PRIVATE KEY-----\n`;
  const where = [
    [
      '/intent/problemStatement',
      { intent: { problemStatement: `The log shows ${token}, which it must not.` } },
    ],
    ['/risk/rationale', { risk: { rationale: `It is\n${key}` } }],
    ['/metadata/target/labels', { metadata: { target: { labels: { [token]: 'a name' } } } }],
    ['/metadata/target/labels', { metadata: { target: { labels: { [token]: token } } } }],
    ['/extensions/vendor~1key/0', { extensions: { 'vendor/key': [`Bearer ${token}`] } }],
  ] as const;
  for (const [path, more] of where) {
    const stdin = JSON.stringify(sampleSpecWith(more));
    for (const command of [['spec', 'validate'], ['spec', 'show'], ['plan']]) {
      const { code, out, err } = await plain(['--json', ...command, '-'], { stdin });
      t.equal(code, 1, command.join(' '));
      t.match(`${out}${err}`.replaceAll(/\s/g, ''), `"code":"SEMANTIC_SECRET","path":"${path}"`);
      t.notMatch(`${out}${err}`, token.slice(0, 12));
      t.notMatch(`${out}${err}`, 'MIGHAgEA');
    }
  }
  // Whatever else is wrong with it is told without it.
  const plan = { fastChecks: [{ id: 'a', kind: 'command', command: `curl -H ${token}`, required: true }] };
  const both = { ...sampleSpecWith({ acceptance: { verificationPlan: plan as never } }), [token]: 1 };
  const { out } = await plain(['spec', 'validate', '-'], { stdin: JSON.stringify(both) });
  t.match(out, 'SEMANTIC_SECRET');
  t.notMatch(out, token.slice(0, 8));
  const shown = 'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx';
  const standIn = JSON.stringify(
    sampleSpecWith({ intent: { problemStatement: `A token such as ${shown}.` } }),
  );
  t.equal(
    (await plain(['spec', 'validate', '-'], { stdin: standIn })).code,
    0,
    'what stands for one is none',
  );
});

t.test('`spec validate` warns about spec fields that a run would refuse or ignore', async (t) => {
  const { data, code } = await json(['spec', 'validate', '-'], {
    stdin: JSON.stringify(
      sampleSpecWith({
        apiVersion: 'intentspec.io/v1',
        intent: { objectives: ['do it', 'do  it'] },
        provenance: { requireSlsaProvenance: false, transparencyLog: { mode: 'public-log' } },
        lifecycle: { status: 'closed' },
        objmodel: {
          runPolicy: { metricsSchema: { cost_usd: 7 } },
        },
      }),
    ),
  });
  t.equal(code, 0);
  t.strictSame(data.files[0]?.issues.map((issue) => [issue.code, issue.path, issue.severity]).sort(), [
    ['INTENTSPEC_UNSUPPORTED_VERSION', '/apiVersion', 'warning'],
    ['LIFECYCLE_NOT_ACTIVE', '/lifecycle/status', 'warning'],
    ['LOG_UNUSED', '/provenance/transparencyLog/mode', 'warning'],
    ['METRICS_SCHEMA_INVALID', '/objmodel/runPolicy/metricsSchema', 'warning'],
    ['PLAN_DUPLICATE_OBJECTIVE', '/intent/objectives', 'warning'],
  ]);
});
