import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { draftFromProfile } from '../../../spec/profile.ts';
import { fixtures, type Json, merge } from '../sample.ts';

type Fields = { readonly [key: string]: Json };

/** Makes another contract of one; `at` and `pick` draw. */
type Mutation = (pick: <T>(from: readonly T[]) => T) => Fields;

/** One field, given as a path, with one of these values. */
function field(path: string, ...values: readonly Json[]): Mutation {
  return (pick) =>
    path.split('.').reduceRight<Json>((value, name) => ({ [name]: value }), pick(values)) as Fields;
}

const check = (command: string, more: Fields = {}): Json => ({
  id: 'more',
  kind: 'command',
  command,
  timeoutSeconds: 60,
  expectedExitCode: 0,
  required: true,
  artifactsProduced: [],
  ...more,
});
const command = (constraints: Fields): Json => [
  { tool: 'workspace.command', actions: ['execute'], constraints },
];

/** What makes a contract one that is refused somewhere, or nearly. */
const mutations: readonly Mutation[] = [
  field('apiVersion', 'intentspec.io/v1', 'intentspec.io/v2beta1', 'intentspec.io'),
  field('lifecycle.status', 'draft', 'closed', 'deprecated', 'active'),
  field('metadata.id', 'closed-intent-0001', 'known-intent-0001', 'line\nbreak-0001'),
  field(
    'metadata.target.baseRef',
    'nowhere',
    'misspelt-rule',
    'same-id',
    'broken-config',
    'untrusted-plugin',
    'HEAD~1',
    '-x',
  ),
  field(
    'metadata.target.repo',
    { type: 'local', locator: '/nowhere' },
    { type: 'monorepo', locator: '//src' },
  ),
  field('metadata.target.labels', { token: 'x'.repeat(200) }, { [`ghp_${'a1B2'.repeat(9)}`]: 'here' }),
  field(
    'intent.problemStatement',
    `It says ghp_${'Zq7w'.repeat(9)} in the log.`,
    'Every price is one cent too high.',
  ),
  field('intent.objectives', ['do it', 'do  it'], ['change src/price.js', 'tidy src/'], []),
  field('intent.summary', 'Prices', 'x', 'Two\nlines of it'),
  field('intent.changeType', 'docs', 'chore', 'feature', 'magic'),
  field(
    'acceptance.verificationPlan.fastChecks',
    [check('make all')],
    [check('node -e 1'), check('true')],
    [check('true', { id: 'always' })],
  ),
  field('acceptance.verificationPlan.fastChecks', [
    check('sh -c "exit 1"', { artifactsProduced: ['build-log'] }),
  ]),
  field('constraints.security.networkPolicy', 'allow', 'deny', 'perhaps'),
  field('constraints.platform.languageRuntime', 'node>=18', 'node>=99', 'the newest', 'cobol>=3', 'node'),
  field('constraints.platform.supportedOS', ['windows'], ['linux', 'darwin', 'windows'], []),
  field('constraints.licensing.allowedSpdx', ['No-Such'], ['MIT']),
  field('constraints.resources', { maxWallClockSeconds: 0 }, { maxCostUnits: 5 }),
  field('risk.factors', ['payments'], ['audit']),
  field('risk.humanInLoop', { required: true, minApprovers: 1 }, { required: true, minApprovers: 0 }),
  field('evidence.strategy', 'open-web', 'pinned-official', 'repo-first'),
  field('evidence.minCitationsPerDecision', 0, 2, 21),
  field('evidence.allowedDomains', ['docs.example.com'], ['https://x/']),
  field('security.secrets.policy', 'read-only-scoped', 'allow-scoped'),
  field('security.outputHandling.encodingPolicy', 'strict-json', 'none'),
  field(
    'security.toolAcl.allow',
    command({ writeRoots: ['src'], allowCommands: ['node', 'true'] }),
    command({ denyPaths: ['.git'] }),
  ),
  field(
    'security.toolAcl.allow',
    command({ maxWriteBytes: 5 }),
    command({ colour: 'red' }),
    command({ networkHosts: ['x.example'] }),
  ),
  field('execution.replan', { triggers: ['unknown-api'] }, { triggers: ['scope-creep'] }),
  field('artifacts.required', [{ name: 'patchset', stage: 'per-task', required: true }]),
  field('provenance.requireSlsaProvenance', false, true),
  field('provenance.transparencyLog.mode', 'none', 'public-log', 'internal-ledger'),
  field('objmodel.objectStore.backend', 'external-s3', 'external-local', 'git-native'),
  field('objmodel.objectStore.blobRetentionStrategy', 'custom-gc', 'keep-pack', 'orphan-commit'),
  field('objmodel.objectStore.aiRefPrefix', 'refs/heads/', 'refs/x-team/'),
  field('objmodel.planGeneration', { conflictResolution: 'fail-fast' }, { decompositionMode: 'single-task' }),
  field(
    'objmodel.runPolicy.metricsSchema',
    { cost_usd: { type: 'number' } },
    { cost_usd: { $ref: '#' } },
    { cost_usd: 7 },
  ),
  field('extensions', { plain: 1 }, { 'vendor/key': 1 }),
  field('lifecycle.schemaVersion', '1.1.0', '9.0.0', '1'),
];

const target: Fields = {
  repo: { type: 'git', locator: 'https://git.example.com/sample.git' },
  baseRef: 'main',
};

/** What contracts are made of: the drafts of every risk, the fixtures, and the sample of runs, all for one repository. */
export function baseContracts(): readonly Fields[] {
  const read = (path: string): Fields => JSON.parse(readFileSync(path, 'utf8')) as Fields;
  const specs = join(fixtures, '../specs');
  const files = ['valid', 'invalid'].flatMap((folder) =>
    readdirSync(join(specs, folder))
      .filter((name) => name.endsWith('.json') && name !== 'expected.json')
      .map((name) => read(join(specs, folder, name))),
  );
  const words: Fields = {
    intent: {
      problemStatement: 'Every price is one cent too high.',
      objectives: ['price(2, 100) is 200'],
      inScope: ['src/', 'test/'],
    },
    acceptance: { successCriteria: ['price(2, 100) is 200'] },
    risk: { rationale: 'One line of arithmetic.' },
    lifecycle: { status: 'active' },
  };
  const drafts = (['low', 'medium', 'high'] as const).map((risk) =>
    merge(
      draftFromProfile({
        risk,
        id: `draft-of-${risk}-0001`,
        createdAt: '2025-05-06T07:08:09Z',
        createdBy: { type: 'user', id: 'maintainer' },
        repo: { type: 'git', locator: 'https://git.example.com/sample.git' },
        baseRef: 'main',
        summary: 'Prices are exact',
      }) as unknown as Fields,
      words,
    ),
  );
  const sample = read(join(fixtures, '_sample.intent.json'));
  // What reaches a repository is worth more than what the schema refuses.
  const sound = Array.from({ length: 24 }, () => [...drafts, sample]).flat();
  return [...files, ...sound].map((one) => merge(one, { metadata: { target } }) as Fields);
}

/** So many contracts with up to two mutations each, the same ones for the same draws. */
export function mutatedContracts(count: number, random: () => number): readonly Fields[] {
  const bases = baseContracts();
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  return Array.from({ length: count }, () => {
    let made: Json = pick(bases);
    for (let left = Math.floor(random() * 3); left > 0; left -= 1) made = merge(made, pick(mutations)(pick));
    return made as Fields;
  });
}
