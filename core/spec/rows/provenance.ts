import { inSection } from '../contract-row.ts';

export const provenanceRows = inSection('Provenance policy', [
  {
    id: 'provenance.requireSlsaProvenance',
    path: '/provenance/requireSlsaProvenance',
    rule: 'a commit gets a signed SLSA provenance statement; false: none',
    asks: ({ provenance }) => provenance.requireSlsaProvenance,
    enforcedBy: 'attest',
    test: 'fixtures/runs/a-run-without-provenance-has-none-and-commits',
  },
  {
    id: 'provenance.requireSbom',
    path: '/provenance/requireSbom',
    rule: '`sbom` is among the required artifacts',
    asks: ({ provenance }) => provenance.requireSbom,
    enforcedBy: 'core',
    test: 'test/core/spec/rules.test.ts',
  },
  {
    id: 'provenance.transparencyLog.mode=none',
    path: '/provenance/transparencyLog/mode',
    rule: 'nothing is logged',
    asks: ({ provenance }) => provenance.transparencyLog.mode === 'none',
    enforcedBy: 'attest',
    test: 'test/core/run/field-effects.test.ts',
  },
  {
    id: 'provenance.transparencyLog.mode=internal-ledger',
    path: '/provenance/transparencyLog/mode',
    rule: 'appended to a Merkle log of our own, with a proof that verifies offline',
    asks: ({ provenance }) => provenance.transparencyLog.mode === 'internal-ledger',
    enforcedBy: 'attest',
    test: 'test/core/run/field-effects.test.ts',
  },
  {
    id: 'provenance.transparencyLog.mode=public-log',
    path: '/provenance/transparencyLog/mode',
    rule: 'submitted to a public log, the inclusion proof kept',
    asks: ({ provenance }) => provenance.transparencyLog.mode === 'public-log',
    bringsIn: 'seal part',
  },
  {
    id: 'provenance.bindings.embedIntentSpecDigest',
    path: '/provenance/bindings/embedIntentSpecDigest',
    rule: 'the digest of the contract is an external parameter of the provenance',
    asks: ({ provenance }) => provenance.requireSlsaProvenance && provenance.bindings.embedIntentSpecDigest,
    enforcedBy: 'attest',
    test: 'test/core/run/field-effects.test.ts',
  },
  {
    id: 'provenance.bindings.embedEvidenceDigests',
    path: '/provenance/bindings/embedEvidenceDigests',
    rule: 'digests of all evidence are byproducts of the provenance',
    asks: ({ provenance }) => provenance.requireSlsaProvenance && provenance.bindings.embedEvidenceDigests,
    enforcedBy: 'attest',
    test: 'test/core/run/field-effects.test.ts',
  },
]);
