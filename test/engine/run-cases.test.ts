import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../core/base/clock.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { importAdvisories } from '../../plugins/supply-chain/advisories/import-advisories.ts';
import { advisoryDir } from '../../plugins/supply-chain/advisories/open-advisory-database.ts';
import { inventedSecrets } from '../readers/sensitive/secrets/invented-secrets.ts';
import { everyThird } from '../rooms/long.ts';
import { fixtures, type Json, makeSample, type Sample } from './sample.ts';

/** `case.json` of a folder in `fixtures/runs/`; only what is named is compared. */
interface Case {
  readonly spec: Json;
  /** A file of `fixtures/advisories/` that the user has imported. */
  readonly advisories?: string;
  readonly expect: {
    /** The decision; absent where the contract is refused before there is a run. */
    readonly type?: string;
    /** Code of the error that refuses the contract, and codes of the issues in it. */
    readonly error?: string;
    readonly issues?: readonly string[];
    /** Rules that gave an error, all of them. */
    readonly rules?: readonly string[];
    /** Rules that warned of the patch. */
    readonly warnings?: readonly string[];
    readonly stages?: Readonly<Record<string, string>>;
    readonly notStarted?: readonly string[];
    readonly checks?: Readonly<Record<string, string>>;
    readonly artifacts?: readonly string[];
    readonly provenance?: boolean;
    readonly reason?: string;
  };
}

const folders = everyThird(everyThird(readdirSync(fixtures).filter((name) => !name.startsWith('_'))));

t.test('fixture runs reach their expected decisions', { jobs: 2, timeout: 2_000_000 }, async (t) => {
  for (const folder of folders) {
    t.test(folder.replaceAll('-', ' '), { timeout: 600_000 }, async (t) => {
      const { spec, advisories, expect } = JSON.parse(
        readFileSync(join(fixtures, folder, 'case.json'), 'utf8'),
      ) as Case;
      const sample = makeSample();
      t.teardown(() => sample.remove());
      const before = sample.state();
      const base = sample.git('rev-parse', 'main');
      if (advisories !== undefined) await takeIn(sample, advisories);
      const source = { kind: 'patch', bytes: readDiff(folder) } as const;
      if (expect.error !== undefined) {
        const { issues } = expect;
        const detail =
          issues === undefined ? {} : { issues: issues.map((code) => ({ code, severity: 'error' })) };
        await t.rejects(sample.run({ source }, spec), { code: expect.error, detail });
        t.equal(sample.state(), before, 'refs, index and working tree are as they were');
        return;
      }
      const view = await sample.run({ source }, spec);

      t.equal(view.decision?.type, expect.type, view.decision?.rationale ?? '');
      if (expect.rules) t.strictSame(errorRules(view), [...expect.rules].sort());
      if (expect.warnings)
        t.strictSame(
          view.findings.filter(({ severity }) => severity === 'warning').map(({ rule }) => rule),
          expect.warnings,
        );
      for (const [stage, status] of Object.entries(expect.stages ?? {}))
        t.equal(view.stages.find((one) => one.stage === stage)?.status, status, stage);
      for (const stage of expect.notStarted ?? [])
        t.equal(view.stages.find((one) => one.stage === stage)?.ran ?? 0, 0, stage);
      const checks = view.stages.flatMap((stage) => stage.checks);
      for (const [id, status] of Object.entries(expect.checks ?? {}))
        t.equal(checks.find((check) => check.id === id)?.status, status, id);
      if (expect.artifacts)
        t.strictSame(view.artifacts.map(({ name }) => name).sort(), [...expect.artifacts].sort());
      if (expect.provenance !== undefined) t.equal(view.provenance?.bundle !== undefined, expect.provenance);
      if (expect.reason !== undefined) t.match(view.decision?.rationale, expect.reason);

      if (expect.type === 'commit') {
        t.equal(sample.git('rev-parse', 'main'), view.decision?.commitSha);
        t.equal(sample.git('rev-parse', 'main^'), base);
        t.equal(sample.git('rev-parse', 'main^{tree}'), view.patch?.candidateTree);
        t.equal(sample.git('status', '--porcelain'), '', 'index and working tree follow');
        t.match(sample.git('log', '-1', '--format=%(trailers:key=Run-Id,valueonly)', 'main'), view.runId);
      } else {
        t.equal(sample.state(), before, 'refs, index and working tree are as they were');
      }
    });
  }
});

async function takeIn({ env }: Sample, name: string): Promise<void> {
  const path = join(fixtures, '../advisories', name);
  const signal = new AbortController().signal;
  await importAdvisories({ root: advisoryDir(env), path, clock: systemClock, signal });
}

/** The diff of a case; `{invented:<rule>}` becomes a value of that format, which no file of the repository holds. */
function readDiff(folder: string): Buffer {
  const diff = readFileSync(join(fixtures, folder, 'change.diff'));
  if (!diff.includes('{invented:')) return diff;
  const filled = diff.toString('latin1').replace(/\{invented:([a-z-]+)\}/g, (_, wanted) => {
    return inventedSecrets.find(([rule]) => rule === wanted)?.[1] ?? '';
  });
  return Buffer.from(filled, 'latin1');
}

function errorRules(view: RunView): readonly string[] {
  const findings = [
    ...view.findings,
    ...view.stages.flatMap((stage) => [
      ...stage.findings,
      ...stage.checks.flatMap((check) => check.findings),
    ]),
  ];
  const rules = findings.filter(({ severity }) => severity === 'error').map(({ rule }) => rule);
  return [...new Set(rules)].sort();
}
