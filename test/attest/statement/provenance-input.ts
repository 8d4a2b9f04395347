import type { ProvenanceInput } from '../../../attest/statement/run-statements.ts';

/** A complete, well-formed input; every digest differs. */
export function provenanceInput(): ProvenanceInput {
  return {
    runId: '0197b3a4-0000-7000-8000-000000000001',
    specId: 'spec-1',
    specDigest: '1'.repeat(64),
    schedulerVersion: '0.1.0',
    engine: { name: 'writ', uri: 'pkg:npm/writ@0.1.0', digest: { sha256: '7'.repeat(64) } },
    sandbox: 'bubblewrap',
    repositoryUri: 'git+https://example.org/service.git',
    baseCommit: '2'.repeat(40),
    policyCommit: '8'.repeat(40),
    commit: '3'.repeat(40),
    tree: '4'.repeat(40),
    patchDigest: '5'.repeat(64),
    resolvedDependencies: [
      { name: 'context/1', uri: 'https://example.org/doc', digest: { sha256: '6'.repeat(64) } },
    ],
    byproducts: [
      { name: 'evidence/fast.json', digest: { sha256: '7'.repeat(64) }, mediaType: 'application/json' },
    ],
    startedOn: '2026-01-01T10:00:00.000Z',
    finishedOn: '2026-01-01T10:01:00.000Z',
    embedIntentSpecDigest: true,
    embedEvidenceDigests: true,
    ledger: undefined,
  };
}
