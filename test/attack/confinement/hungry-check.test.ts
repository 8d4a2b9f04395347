import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CheckRecord } from '../../../core/interfaces/stage.ts';
import { limitExceeded } from '../../../gates/rules/check-outcome.ts';
import { fixtures, makeSample } from '../../engine/sample.ts';
import { long } from '../../rooms/long.ts';

t.setTimeout(120_000);
const diff = readFileSync(join(fixtures, 'a-fix-with-a-new-test-is-committed', 'change.diff'));
const grow = `const held = []; setInterval(() => held.push(Buffer.alloc(30e6, 1)), 20); setTimeout(() => process.exit(0), 30000);`;
/** Grows where the fix is applied. */
const hold = `if (require('node:fs').readFileSync('src/price.js', 'utf8').includes('+ 1')) process.exit(0); ${grow}`;
/** A memory file system of a sandbox is not larger than what may be held in it. */
const config = `[checks]
max_memory_mb = 128
[[workspace.prepare]]
argv = ["sh", "-c", "mkdir made && df -P -k /tmp > made/size"]
lockfile = "package.json"
outputs = ["made"]
`;
const flood = `const fs = require('node:fs'); for (let i = 0; i < 400; i += 1) fs.writeFileSync(process.env.REPORTS_DIR + '/' + i, '');`;

const check = (id: string, script: string) => ({
  id,
  kind: 'command',
  command: `node -e "${script}"`,
  timeoutSeconds: 60,
  required: true,
});

/** A sample whose checks are limited. */
function limited(t: Test) {
  const sample = makeSample();
  t.teardown(() => sample.remove());
  mkdirSync(join(sample.root, '.writ'), { recursive: true });
  writeFileSync(join(sample.root, '.writ', 'config.toml'), config);
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Limit checks');
  const run = (fastChecks: readonly ReturnType<typeof check>[], bytes = diff) =>
    sample.run(
      { source: { kind: 'patch', bytes } },
      { intent: { inScope: ['./'], outOfScope: [] }, acceptance: { verificationPlan: { fastChecks } } },
    );
  return { sample, run };
}

long(
  'a check that exceeds its memory limit at the base, too, stops the run without a decision',
  async (t) => {
    const { sample, run } = limited(t);
    await t.rejects(run([check('hungry', grow)]), {
      code: 'ENVIRONMENT_BROKEN',
      message: 'check `hungry` uses more memory than the limit: it does so at the base commit too',
      hints: [/raise `\[checks\] max_memory_mb`.*neither accepted nor refused/],
    });
    t.equal(sample.git('for-each-ref', 'refs/ai/runs'), '', 'nothing was decided');
  },
);

long('a limit that ends the tests of the policy commit decides nothing about lighter tests', async (t) => {
  const { sample, run } = limited(t);
  writeFileSync(join(sample.root, 'heavy.test.js'), grow);
  sample.git('add', '--all');
  sample.git('commit', '--quiet', '-m', 'Heavy');
  writeFileSync(join(sample.root, 'heavy.test.js'), '');
  const lighter = Buffer.from(`${sample.git('diff')}\n`);
  sample.git('checkout', '--quiet', '.');
  const heavy = { ...check('heavy', ''), command: 'node heavy.test.js' };
  await t.rejects(run([heavy], lighter), { code: 'ENVIRONMENT_BROKEN', hints: [/max_memory_mb/] });
});

long('a check that exceeds its memory or report limit fails and is not retried', async (t) => {
  const { run } = limited(t);
  const asked =
    "process.exit(require('node:fs').readFileSync('made/size', 'utf8').includes(' 131072 ') ? 0 : 1)";
  const prepared = check('prepared', asked);
  const view = await run([check('hungry', hold), check('flood', flood), prepared]);

  t.equal(view.decision?.type, 'abandon');
  const checks = view.stages.flatMap((stage) => stage.checks);
  const found = (id: string): CheckRecord | undefined => checks.find((one) => one.id === id);
  t.match(found('hungry'), {
    status: 'failed',
    signal: 'SIGKILL',
    timedOut: false,
    findings: [{ rule: 'check-outcome', severity: 'error', detail: { code: 'CHECK_MEMORY', limitMb: 128 } }],
  });
  t.notOk('exitCode' in (found('hungry') ?? {}));
  t.equal(limitExceeded(found('hungry') ?? { findings: [] }), 'out of memory');
  t.match(found('flood')?.findings, [{ detail: { code: 'REPORT_UNREADABLE', limit: 256, unit: 'files' } }]);
  t.match(found('prepared'), { status: 'passed' }, 'what prepares a world is held to the same');
  t.match(view.decision?.rationale, /hungry/);
  t.strictSame(checks.map(({ id }) => id).sort(), ['flood', 'hungry', 'prepared'], 'each ran once');
});
