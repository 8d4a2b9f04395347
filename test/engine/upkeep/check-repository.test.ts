import { execFileSync } from 'node:child_process';
import { createHash, createPublicKey } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findUserLedgerKey } from '../../../attest/keys/key-signer.ts';
import { checkLedger, rebuildLedger } from '../../../attest/log/check-ledger.ts';
import { openCheckpointMemory } from '../../../attest/log/checkpoint-memory.ts';
import { ledgerPath } from '../../../attest/log/ledger-files.ts';
import { ledgerKeyFor } from '../../../attest/log/note.ts';
import { readFrom } from '../../../attest/log/tiles.ts';
import { readUnverifiedManifest } from '../../../attest/verify/predicates/run-statements.ts';
import { type Clock, systemClock } from '../../../core/base/clock.ts';
import { checkRepository } from '../../../engine/upkeep/check-repository.ts';
import { collectGarbage } from '../../../engine/upkeep/collect-garbage.ts';
import { rebuild } from '../../../engine/upkeep/rebuild.ts';
import { builtInStores } from '../../../plugins/store/built-in-stores.ts';
import type { Problem } from '../../../store/stored-object.ts';
import { long } from '../../rooms/long.ts';
import { looseObject } from '../../workspace/git/loose-object.ts';
import { startedChildren } from '../../workspace/git/started-children.ts';
import { daysLater, finishedRun, type Spoilable } from './finished-run.ts';

const spoilable = await finishedRun({}, 1);

function directoryOf(one: Spoilable): string {
  return one.inGit(ledgerPath);
}

async function check(one: Spoilable, clock: Clock = systemClock) {
  return checkRepository({
    repository: one.repository,
    clock,
    readManifest: readUnverifiedManifest,
    ledger: () =>
      checkLedger(readFrom(directoryOf(one)), {
        memory: openCheckpointMemory(join(one.home, '.config', 'writ', 'trust', 'checkpoints')),
        async keyFor(origin) {
          const signer = await findUserLedgerKey(one.env);
          return signer && ledgerKeyFor(origin, createPublicKey(signer.publicKeyPem));
        },
      }),
  });
}

async function mend(one: Spoilable, problems: readonly Problem[]): Promise<readonly string[]> {
  return rebuild({
    stores: builtInStores,
    repository: one.repository,
    clock: systemClock,
    problems,
    rebuildLedger: () => rebuildLedger(directoryOf(one), systemClock),
    rebuildThreads: async () => [],
  });
}

/** File of a loose object, writable. */
function loose(one: Spoilable, object: string): string {
  return looseObject(one.inGit(), object);
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 0x01;
  writeFileSync(path, bytes);
}

const runRef = ({ runId }: Spoilable): string => `refs/ai/runs/${runId}`;
const contentRef = ({ runId }: Spoilable): string => `refs/ai/content/${runId}`;

/** What rests on the run that committed. */
function dependants(one: Spoilable): readonly string[] {
  const { object_id: decision } = JSON.parse(
    one.show(`${one.git('rev-parse', runRef(one))}`, 'decision.json'),
  );
  return [`run:${one.runId}`, `decision:${decision}`, `commit:${one.commit}`];
}

t.test('the records of a run pass the check before and after their content expires', async (t) => {
  const one = await spoilable();
  const { problems, checked } = await check(one);
  t.strictSame(problems, []);
  t.ok(checked.objects > 40, String(checked.objects));
  t.match(checked, { journals: 2, entries: 1 });
  const later = daysLater(400);
  await collectGarbage({
    stores: builtInStores,
    repository: one.repository,
    clock: later,
    dryRun: false,
    temporary: one.home,
  });
  t.strictSame((await check(one, later)).problems, []);
  t.strictSame(
    [...new Set((await check(one)).problems.map(({ code }) => code))],
    ['content-missing'],
    'gone too early',
  );
});

t.test('a check starts a few processes, however many records there are', async (t) => {
  const one = await spoilable();
  using children = startedChildren();
  t.strictSame((await check(one)).problems, []);
  const gits = children.gits();
  t.ok(gits.length > 0 && gits.length <= 6, gits.join(' '));
  t.strictSame(children.running(), [], 'none of them is left');
});

long('a damaged or missing loose object is reported with every place that needs it', async (t) => {
  const places = [
    [runRef, 'evidence/0001-unit.json', 'blob'],
    [runRef, 'evidence', 'tree'],
    [runRef, '', 'commit'],
    [contentRef, 'artifacts/fast/unit/test-log.log', 'blob'],
    [runRef, 'decision.json', 'blob'],
  ] as const;
  for (const [code, spoil, some] of [
    ['object-corrupt', (path: string) => flip(path, readFileSync(path).length - 3), places],
    ['object-corrupt', (path: string) => writeFileSync(path, ''), places.slice(0, 1)],
    ['object-missing', (path: string) => rmSync(path), places.slice(0, 3)],
  ] as const) {
    for (const [ref, path, type] of some) {
      const one = await spoilable();
      const expected = dependants(one);
      const object = one.git('rev-parse', path === '' ? ref(one) : `${ref(one)}:${path}`);
      spoil(loose(one, object));
      const { problems } = await check(one);
      const found = problems.find((problem) => problem.object === object);
      t.match(found, { code, what: new RegExp(`^${type} ${object} `) }, `${code} of ${type} ${path}`);
      t.ok(found?.where.startsWith(ref(one)));
      t.ok(found?.dependsOn.includes(`run:${one.runId}`));
      t.ok(found?.dependsOn.includes(`commit:${one.commit}`), 'also where the decision cannot be read');
      if (path.startsWith('evidence')) t.strictSame(found?.dependsOn, expected);
      t.ok(
        problems.every(({ code: other }) => other.startsWith('object-')),
        `nothing else is made of it: ${JSON.stringify(problems)}`,
      );
    }
  }
});

t.test('an object under the wrong name is found by its hash', async (t) => {
  const one = await spoilable();
  const object = one.git('rev-parse', `${runRef(one)}:spec.json`);
  const other = one.git('rev-parse', `${runRef(one)}:plan.json`);
  writeFileSync(loose(one, object), readFileSync(loose(one, other)));
  const { problems } = await check(one);
  t.match(problems, [{ code: 'object-corrupt', object }]);
});

long('objects in packs are checked too', async (t) => {
  const one = await spoilable();
  one.git('gc', '--quiet');
  t.strictSame((await check(one)).problems, []);
  const pack = readdirSync(one.inGit('objects', 'pack')).find((name) => name.endsWith('.pack')) ?? '';
  const path = one.inGit('objects', 'pack', pack);
  chmodSync(path, 0o644);
  const bytes = readFileSync(path);
  bytes.fill(0, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 40);
  writeFileSync(path, bytes);
  const { problems } = await check(one);
  t.ok(problems.length > 0);
  t.ok(problems.every(({ code }) => code.startsWith('object-')));
});

long('a damaged older version of a record is reported', async (t) => {
  const one = await spoilable();
  one.rewrite(runRef(one), { 'notes.txt': 'x' });
  const old = one.git('rev-parse', `${runRef(one)}:notes.txt`);
  one.rewrite(runRef(one), { 'notes.txt': 'y' });
  t.strictSame((await check(one)).problems, []);
  rmSync(loose(one, old));
  t.match((await check(one)).problems, [{ code: 'object-missing', object: old, where: runRef(one) }]);
  rmSync(loose(one, one.git('rev-parse', `${runRef(one)}~1`)));
  t.ok(
    (await check(one)).problems.some(({ code, where }) => code === 'object-missing' && where === runRef(one)),
  );
});

t.test('altered copies of a spec, of a plan and of retrieved content are reported', async (t) => {
  const one = await spoilable();
  const plan = one.git('for-each-ref', '--format=%(refname)', 'refs/ai/plans').split('\n')[0] ?? '';
  const intent = one.git('for-each-ref', '--format=%(refname)', 'refs/ai/intents');
  const context = `refs/ai/context/${one.runId}`;
  one.git('update-ref', context, contentRef(one));
  const [right, wrong] = ['right', 'wrong'].map((text) => createHash('sha256').update(text).digest('hex'));
  one.rewrite(context, { [`${right}`]: 'right', [`${wrong}`]: 'altered' });
  const task = one.git('ls-tree', '--name-only', plan, 'tasks/').split('\n')[0] ?? '';
  const altered = (ref: string, path: string): string => one.show(ref, path).replace(/cent/i, 'euro');
  one.rewrite(plan, {
    'plan.json': one.show(plan, 'plan.json').replace('"created_at":"2', '"created_at":"3'),
    [task]: undefined,
  });
  one.rewrite(intent, { 'spec.json': altered(intent, 'spec.json') });
  const { problems } = await check(one);
  t.strictSame(problems.map(({ code, where }) => `${code} ${where}`).sort(), [
    `digest-mismatch ${context}:${wrong}`,
    `digest-mismatch ${intent}:spec.json`,
    `digest-mismatch ${plan}:plan.json`,
    `reference-missing ${plan}:${task}`,
  ]);
  const other = JSON.parse(one.show(intent, 'intent.json'));
  const spec = problems.find(({ where }) => where.endsWith(':spec.json'))?.what.slice(-64);
  one.rewrite(intent, { 'intent.json': JSON.stringify({ ...other, intentspec_digest: spec }) });
  t.match(
    (await check(one)).problems.filter(({ where }) => where.startsWith(intent)),
    [{ where: `${intent}:intent.json`, what: 'no event of the intent names the digest of its spec' }],
    'both files altered alike',
  );
});

t.test('a ref that git cannot read is reported', async (t) => {
  const one = await spoilable();
  writeFileSync(one.inGit(runRef(one)), 'nonsense\n');
  const { problems } = await check(one);
  t.ok(
    problems.some(({ code, where }) => code === 'ref-broken' && where === runRef(one)),
    JSON.stringify(problems),
  );
});

type Json = { [key: string]: never };
const changed = (one: Spoilable, path: string, change: (value: Json) => void, ref = runRef(one)): void => {
  const value = JSON.parse(one.show(ref, path));
  change(value);
  one.rewrite(ref, { [path]: JSON.stringify(value) });
};
const set = (name: string, value: unknown) => (json: Json) => {
  json[name] = value as never;
};

long('records with a wrong shape, wrong digests or missing references are reported by code', async (t) => {
  const other = '0198c1e2-7a5d-7b1c-9d51-0c5a3f1f7e11';
  const cases: readonly (readonly [code: Problem['code'], path: string, spoil: (one: Spoilable) => void])[] =
    [
      [
        'object-malformed',
        'evidence/0001-unit.json',
        (one) => changed(one, 'evidence/0001-unit.json', set('extra', 1)),
      ],
      ['object-malformed', 'decision.json', (one) => one.rewrite(runRef(one), { 'decision.json': '{}' })],
      ['object-malformed', 'spec.json', (one) => one.rewrite(runRef(one), { 'spec.json': '{"a":1,"a":2}' })],
      [
        'object-malformed',
        'journal.jsonl',
        (one) => one.rewrite(runRef(one), { 'journal.jsonl': '{"seq":7}\n' }),
      ],
      ['reference-missing', 'run.json', (one) => changed(one, 'run.json', set('object_id', other))],
      ['reference-missing', 'run.json', (one) => changed(one, 'run.json', set('plan', other))],
      ['reference-missing', 'run.json', (one) => changed(one, 'run.json', set('task', other))],
      [
        'reference-missing',
        'evidence/0001-unit.json',
        (one) => changed(one, 'evidence/0001-unit.json', set('patchset', other)),
      ],
      [
        'reference-missing',
        'decision.json',
        (one) => changed(one, 'decision.json', set('evidence', [other])),
      ],
      ['reference-missing', 'intent.json', (one) => one.rewrite(runRef(one), { 'intent.json': undefined })],
      ...['provenance.sigstore.json', 'transparency-proof.tlog-proof'].map(
        (path) =>
          [
            'reference-missing',
            path,
            (one: Spoilable) => one.rewrite(runRef(one), { [path]: undefined }),
          ] as const,
      ),
      ['digest-mismatch', 'spec.json', (one) => changed(one, 'spec.json', set('kind', 'Other'))],
      [
        'digest-mismatch',
        'gate-report.json',
        (one) => changed(one, 'gate-report.json', set('sandbox', 'none')),
      ],
      [
        'digest-mismatch',
        'decision-input.json',
        (one) => changed(one, 'decision-input.json', set('specId', 'x')),
      ],
      [
        'digest-mismatch',
        'decision-record.json',
        (one) => changed(one, 'decision-record.json', set('rationale', 'x')),
      ],
      [
        'digest-mismatch',
        'patchset.json',
        (one) => changed(one, 'patchset.json', set('digest', 'a'.repeat(64))),
      ],
      [
        'object-missing',
        'decision.json',
        (one) => changed(one, 'decision.json', set('commit_sha', 'a'.repeat(40))),
      ],
    ];
  for (const [code, path, spoil] of cases) {
    const one = await spoilable();
    spoil(one);
    const { problems } = await check(one);
    const found = problems.find(
      (problem) => problem.code === code && problem.where === `${runRef(one)}:${path}`,
    );
    t.ok(found, `${code} ${path}: ${JSON.stringify(problems.map(({ code: c, where }) => [c, where]))}`);
    t.ok(found?.dependsOn.includes(`run:${one.runId}`));
  }
});

t.test('content is verified against the digests in the evidence', async (t) => {
  const one = await spoilable();
  const path = 'artifacts/fast/unit/test-log.log';
  one.rewrite(contentRef(one), { [path]: 'all tests passed' });
  t.match((await check(one)).problems, [
    { code: 'digest-mismatch', where: `${contentRef(one)}:${path}`, dependsOn: dependants(one) },
  ]);
  one.rewrite(contentRef(one), { [path]: undefined });
  t.match((await check(one)).problems, [{ code: 'content-missing', where: `${contentRef(one)}:${path}` }]);
  const two = await spoilable();
  two.rewrite(contentRef(two), { 'patchset.diff': 'another' });
  t.match((await check(two)).problems, [
    { code: 'digest-mismatch', where: `${contentRef(two)}:patchset.diff` },
  ]);
});

t.test('missing refs that other records name are reported', async (t) => {
  const one = await spoilable();
  const { plan } = JSON.parse(one.show(runRef(one), 'run.json'));
  one.git('update-ref', '-d', `refs/ai/plans/${plan}`);
  one.git('update-ref', 'refs/ai/approvals/nobody/1', runRef(one));
  const { problems } = await check(one);
  t.match(problems, [
    { code: 'reference-missing', where: `refs/ai/plans/${plan}`, dependsOn: dependants(one) },
    { code: 'reference-missing', where: 'refs/ai/runs/nobody' },
  ]);
  t.strictSame(await mend(one, problems), [`refs/ai/plans/${plan}`]);
  t.equal(JSON.parse(one.show(`refs/ai/plans/${plan}`, 'plan.json')).object_id, plan);
  one.git('update-ref', '-d', 'refs/ai/approvals/nobody/1');
  t.strictSame((await check(one)).problems, []);
  one.git('update-ref', '-d', runRef(one));
  t.ok(
    (await check(one)).problems.some(
      ({ code, where }) => code === 'reference-missing' && where.endsWith('journal.jsonl'),
    ),
  );
});

t.test('a changed or cut journal is reported, and one torn by a kill is not', async (t) => {
  const one = await spoilable();
  const path = one.inGit('writ', 'runs', one.runId, 'journal.jsonl');
  const whole = readFileSync(path, 'utf8');
  const lines = whole.trimEnd().split('\n');
  appendFileSync(path, '{"seq":');
  t.strictSame((await check(one)).problems, []);
  writeFileSync(path, whole.replace(/"at":"20/, '"at":"19'));
  t.match((await check(one)).problems, [
    { code: 'journal-corrupt', where: path, dependsOn: dependants(one) },
  ]);
  writeFileSync(path, [...lines.slice(0, 3), ...lines.slice(4), ''].join('\n'));
  t.match((await check(one)).problems, [{ code: 'journal-corrupt' }]);
  writeFileSync(path, `${lines.slice(0, 4).join('\n')}\n`);
  t.match((await check(one)).problems, [{ code: 'journal-cut', where: path, dependsOn: dependants(one) }]);
});

long(
  'changes to checkpoint, tiles or entries of a ledger are reported, and only tiles are restored',
  async (t) => {
    const spoilt = async (file: string, spoil: (path: string) => void) => {
      const one = await spoilable();
      spoil(join(directoryOf(one), file));
      const { problems } = await check(one);
      return { one, problems };
    };
    for (const spoil of [(path: string) => flip(path, 3), (path: string) => rmSync(path)]) {
      const { one, problems } = await spoilt('tile/0/000.p/1', spoil);
      t.match(problems, [
        { code: 'ledger-tile', where: 'ledger:tile/0/000.p/1', dependsOn: dependants(one) },
      ]);
      t.strictSame(await mend(one, problems), ['ledger:tile/0/000.p/1']);
      t.strictSame((await check(one)).problems, []);
    }
    for (const spoil of [(path: string) => flip(path, 9), (path: string) => rmSync(path)]) {
      const { one, problems } = await spoilt('tile/entries/000.p/1', spoil);
      t.match(problems, [
        { code: 'ledger-entry', where: 'ledger:tile/entries/000.p/1', dependsOn: dependants(one) },
      ]);
      t.strictSame(await mend(one, problems), []);
      t.equal((await check(one)).problems.length, 1);
    }
    const signature = await spoilt('checkpoint', (path) => {
      const text = readFileSync(path, 'utf8');
      writeFileSync(
        path,
        text.replace(/.{4}\n$/, (end) => (end.startsWith('AA') ? 'BBB=\n' : 'AAA=\n')),
      );
    });
    t.match(signature.problems, [{ code: 'ledger-checkpoint', dependsOn: dependants(signature.one) }]);
    const size = await spoilt('checkpoint', (path) =>
      writeFileSync(path, readFileSync(path, 'utf8').replace('\n1\n', '\n0\n')),
    );
    t.ok(size.problems.length > 0 && size.problems.every(({ code }) => code === 'ledger-checkpoint'));
    t.match((await spoilt('checkpoint', (path) => writeFileSync(path, 'x'))).problems, [
      { code: 'ledger-checkpoint' },
    ]);
    t.match((await spoilt('checkpoint', (path) => rmSync(path))).problems, [{ code: 'ledger-checkpoint' }]);
    const both = await spoilt('', (path) => {
      flip(join(path, 'tile/0/000.p/1'), 3);
      flip(join(path, 'tile/entries/000.p/1'), 9);
    });
    t.ok(
      both.problems.some(({ code }) => code === 'ledger-checkpoint'),
      'nothing leads to the root any more',
    );
    t.strictSame(await mend(both.one, both.problems), []);
  },
);

long('derived records are restored byte for byte, and other ones are only reported', async (t) => {
  for (const spoil of [(path: string) => flip(path, 12), (path: string) => rmSync(path)]) {
    for (const [ref, path] of [
      [runRef, 'decision-record.json'],
      [runRef, 'effective.json'],
      [contentRef, 'patchset.diff'],
    ] as const) {
      const one = await spoilable();
      const text = one.show(ref(one), path);
      spoil(loose(one, one.git('rev-parse', `${ref(one)}:${path}`)));
      const { problems } = await check(one);
      const restored = await mend(one, problems);
      t.ok(restored.length > 0, path);
      t.equal(one.show(ref(one), path), text);
      t.strictSame((await check(one)).problems, []);
    }
  }
  const one = await spoilable();
  const object = one.git('rev-parse', `${runRef(one)}:gate-report.json`);
  const path = loose(one, object);
  renameSync(path, `${path}.away`);
  const { problems } = await check(one);
  t.strictSame(await mend(one, problems), []);
  t.notOk(existsSync(path));
  t.match((await check(one)).problems, [{ code: 'object-missing', object }]);
});

long('twenty thousand files and versions are checked without a process for each', async (t) => {
  const one = await spoilable();
  const count = 10_000;
  const lines: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const text = `entry ${index}`;
    lines.push(`commit refs/ai/other/${index}\ncommitter a <a@b> 0 +0000\ndata 0\n`);
    lines.push(`M 100644 inline file\ndata ${text.length}\n${text}\n`);
  }
  execFileSync('git', ['fast-import', '--quiet'], { cwd: one.root, env: one.env, input: lines.join('') });
  const { problems, checked } = await check(one);
  t.strictSame(problems, []);
  t.ok(checked.objects > 2 * count);
});

long('a decision without its inputs and a malformed report are reported', async (t) => {
  const one = await spoilable();
  for (const path of ['gate-report.json', 'decision-input.json', 'decision-record.json']) {
    const whole = one.git('rev-parse', runRef(one));
    one.rewrite(runRef(one), { [path]: undefined });
    const { problems } = await check(one);
    t.match(problems, [{ code: 'reference-missing', where: `${runRef(one)}:${path}` }], path);
    one.git('update-ref', runRef(one), whole);
  }
  one.rewrite(runRef(one), { 'gate-report.json': '[]' });
  t.match((await check(one)).problems, [{ code: 'object-malformed' }]);
});

t.test('a sealed file that is not what the evidence manifest lists is reported', async (t) => {
  const one = await spoilable();
  const whole = one.git('rev-parse', runRef(one));
  for (const path of ['provenance.sigstore.json', 'run.json', 'events/0001-started.json']) {
    const text = one.show(runRef(one), path);
    // The last octet is a newline, or white space may follow: the document itself is the same.
    one.rewrite(runRef(one), { [path]: `${text.trimEnd()} ` });
    const where = `${runRef(one)}:${path}`;
    t.match((await check(one)).problems, [{ code: 'digest-mismatch', where }], path);
    one.rewrite(runRef(one), { [path]: undefined });
    t.match((await check(one)).problems, [{ code: 'reference-missing', where }], path);
    one.git('update-ref', runRef(one), whole);
  }
  const manifest = 'evidence-manifest.sigstore.json';
  const text = one.show(runRef(one), manifest);
  one.rewrite(runRef(one), { [manifest]: text.replace('"payload":"', '"payload":"A') });
  t.match((await check(one)).problems, [{ code: 'object-malformed', where: `${runRef(one)}:${manifest}` }]);
});

long('an altered history of an intent is reported', async (t) => {
  const one = await spoilable();
  const ref = one.git('for-each-ref', '--format=%(refname)', 'refs/ai/intents/');
  const whole = one.git('rev-parse', ref);
  const history = '{"events":1,"sha256":"0"}';
  for (const [files, code] of [
    [{ 'events/000001.json': undefined }, /digest-mismatch|reference-missing/],
    [{ 'history.json': history }, 'digest-mismatch'],
    [{ 'history.json': undefined }, 'digest-mismatch'],
    [{ 'spec.json': undefined }, 'reference-missing'],
  ] as const) {
    one.rewrite(ref, files);
    t.match((await check(one)).problems, [{ code }], Object.keys(files).join());
    one.git('update-ref', ref, whole);
  }
});
