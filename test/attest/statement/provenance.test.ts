import t from 'tap';
import { buildProvenance, type ProvenanceInput } from '../../../attest/statement/run-statements.ts';
import { readProvenance } from '../../../attest/verify/provenance-claims.ts';
import { canonicalize } from '../../../core/base/canonical.ts';
import { provenanceInput } from './provenance-input.ts';

t.test('a provenance has the members that SLSA v1 and the spec require', async (t) => {
  const input = provenanceInput();
  const statement = buildProvenance(input);
  t.same(statement, {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: 'commit', digest: { gitCommit: input.commit } },
      { name: 'tree', digest: { gitTree: input.tree } },
      { name: 'patchset.diff', digest: { sha256: input.patchDigest } },
    ],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:writ:build-type:sealed-change:v1',
        externalParameters: { intentspec_id: input.specId, intentspec_digest: input.specDigest },
        internalParameters: { scheduler_version: '0.1.0', writ_sandbox: 'bubblewrap' },
        resolvedDependencies: [
          {
            name: 'base',
            uri: `${input.repositoryUri}@${input.baseCommit}`,
            digest: { gitCommit: input.baseCommit },
          },
          {
            name: 'policy',
            uri: `${input.repositoryUri}@${input.policyCommit}`,
            digest: { gitCommit: input.policyCommit },
          },
          { name: 'intentspec', uri: 'urn:writ:intentspec', digest: { sha256: input.specDigest } },
          ...input.resolvedDependencies,
        ],
      },
      runDetails: {
        builder: {
          id: 'urn:writ:builder:scheduler:v1',
          version: { writ: '0.1.0' },
          builderDependencies: [
            { name: 'writ', uri: 'pkg:npm/writ@0.1.0', digest: { sha256: '7'.repeat(64) } },
          ],
        },
        metadata: { invocationId: input.runId, startedOn: input.startedOn, finishedOn: input.finishedOn },
        byproducts: input.byproducts,
      },
    },
  });
  const claims = readProvenance(Buffer.from(canonicalize(statement)));
  t.match(claims, {
    commit: input.commit,
    tree: input.tree,
    patchset: input.patchDigest,
    runId: input.runId,
  });
});

t.test('options of the spec leave out the spec digest and the evidence digests', async (t) => {
  const noSpec = JSON.stringify(buildProvenance({ ...provenanceInput(), embedIntentSpecDigest: false }));
  t.notMatch(noSpec, new RegExp(provenanceInput().specDigest));
  t.match(noSpec, /intentspec_id/);
  const noEvidence = buildProvenance({ ...provenanceInput(), embedEvidenceDigests: false });
  t.same(noEvidence.predicate.runDetails.byproducts, []);
});

t.test('a base that does not exist yet is not listed as a dependency', async (t) => {
  const { predicate } = buildProvenance({ ...provenanceInput(), baseCommit: undefined });
  t.notOk(predicate.buildDefinition.resolvedDependencies.some(({ name }) => name === 'base'));
});

t.test('a provenance with malformed values is never built', async (t) => {
  const thing = (digest: Record<string, string>, name = 'x') => ({ name, digest });
  const changes: Readonly<Record<string, Partial<ProvenanceInput>>> = {
    'a short commit': { commit: 'abc' },
    'upper case': { patchDigest: 'A'.repeat(64) },
    'a spec digest with its algorithm': { specDigest: `sha256:${'a'.repeat(64)}` },
    'a local time': { startedOn: '2026-01-01 10:00' },
    'a run id with a line break': { runId: 'a\nb' },
    'no run id': { runId: '' },
    'an unknown digest algorithm': { byproducts: [thing({ md5: 'a'.repeat(32) })] },
    'no digest': { resolvedDependencies: [thing({})] },
    'no name': { byproducts: [thing({ sha256: 'a'.repeat(64) }, '')] },
    'a name twice': { byproducts: [thing({ sha256: 'a'.repeat(64) }), thing({ sha256: 'b'.repeat(64) })] },
  };
  for (const [name, change] of Object.entries(changes)) {
    t.throws(() => buildProvenance({ ...provenanceInput(), ...change }), { code: 'INTERNAL' }, name);
  }
});
