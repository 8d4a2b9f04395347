/* Tests the promises of an evidence policy. */
import assert from 'node:assert/strict';
import type {
  EvidencePolicy,
  EvidenceSource,
  RetrievalSoFar,
  TrustTier,
} from '../../core/interfaces/privacy.ts';
import { type CaseRunner, type Promises, runCases } from './run-cases.ts';

/** A source, or what was done before something is looked up, and what has to come of it. */
export interface EvidenceCase {
  readonly name: string;
  /** Of what is left out: a file of the repository. */
  readonly source?: Partial<EvidenceSource>;
  /** Instead of a source: whether something may be looked up yet. */
  readonly soFar?: RetrievalSoFar;
  /** What the policy is opened with. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly expect: {
    /** Words of the reason why not; absent: it is let in. */
    readonly refuse?: string;
    /** Position within its tier; default: first. */
    readonly order?: number;
  };
}

/** An evidence policy under test, and its cases. */
export interface EvidenceSubject {
  /** The name in the slot. */
  readonly name: string;
  /** With the options of a case. */
  open(options: NonNullable<EvidenceCase['options']>): Promise<EvidencePolicy>;
  /** At least one in which a source is let in. */
  readonly cases: readonly EvidenceCase[];
}

const tiers: readonly TrustTier[] = ['standards', 'repo', 'web', 'vendor-doc', 'user-provided'];
const maxReason = 1000;

/**
 * Runs a policy through what every evidence policy promises; rejects with an AssertionError that names the promise that
 * is not kept.
 */
export async function evidenceTester(
  runner: CaseRunner | undefined,
  subject: EvidenceSubject,
): Promise<void> {
  await runCases(runner, 'evidence', subject.name, promisesOf(subject));
}

function promisesOf({ open, cases }: EvidenceSubject): Promises {
  const ofCases = cases.map((one) => [
    `case ${one.name}`,
    async () => requireExpected(one, await answerOf(await open(one.options ?? {}), one)),
  ]);
  return {
    'there is a source that it lets in': async () => {
      const isIn = ({ soFar, expect }: EvidenceCase): boolean =>
        soFar === undefined && expect.refuse === undefined;
      assert.ok(cases.some(isIn), 'expected a case of a source without `refuse`');
    },
    ...Object.fromEntries(ofCases),
    'tiers are ranked: each that it names is one of the spec, and there once': async () => {
      const policy = await open({});
      for (const some of [tiers, tiers.slice(0, 2), ['web'] as const]) {
        const ranked = policy.rank(some);
        assert.deepEqual([...new Set(ranked)], [...ranked], 'a tier is there twice');
        // The repository is always a tier: a spec that does not trust it admits no source from it.
        const added = ranked.filter((tier) => tier !== 'repo' && !some.includes(tier));
        assert.deepEqual(added, [], 'a tier is added');
      }
    },
    'of the same question it answers the same, side by side as well': async () => {
      for (const one of cases) {
        const policy = await open(one.options ?? {});
        const [first, ...others] = await Promise.all([1, 2, 3].map(() => answerOf(policy, one)));
        for (const other of others) assert.deepEqual(other, first, one.name);
      }
    },
    'a reason is a few words': async () => {
      for (const one of cases) {
        const { refuse } = await answerOf(await open(one.options ?? {}), one);
        if (refuse === undefined) continue;
        assert.equal(typeof refuse, 'string');
        assert.ok(refuse.length > 0 && refuse.length <= maxReason, `it has ${refuse.length} characters`);
      }
    },
    'names that are meant to break out are evaluated like any other': async () => {
      const policy = await open({});
      const names = ['__proto__', 'a\n`b`\u202e', '../../etc/passwd', 'x'.repeat(4000)];
      for (const name of names) await answerOf(policy, { source: { name } });
      const url = 'https://a.example/%00?q=<script>#__proto__';
      await answerOf(policy, { source: { name: url, url, trustTier: 'web' } });
    },
  };
}

interface Answer {
  readonly refuse: string | undefined;
  readonly order: number;
}

async function answerOf(
  policy: EvidencePolicy,
  { source, soFar }: Pick<EvidenceCase, 'source' | 'soFar'>,
): Promise<Answer> {
  if (soFar !== undefined)
    return { refuse: await policy.refuseRetrieval(Object.freeze({ ...soFar })), order: 0 };
  const asked = Object.freeze({
    name: 'src/a.js',
    trustTier: 'repo',
    isAllowedHost: false,
    ...source,
  } as const);
  return { refuse: await policy.refuse(asked), order: (await policy.order?.(asked)) ?? 0 };
}

function requireExpected({ expect }: EvidenceCase, { refuse, order }: Answer): void {
  if (expect.refuse === undefined) assert.equal(refuse, undefined, `it was refused: ${refuse}`);
  else
    assert.ok(
      refuse?.includes(expect.refuse),
      `expected \`${expect.refuse}\`, found ${refuse === undefined ? 'that it was let in' : refuse}`,
    );
  assert.equal(order, expect.order ?? 0, 'it is at another place');
}
