/* Ledger rows of the sections `evidence` and `provenance`. */
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { type ContractRow, inSection, withModel, withWeb } from '../contract-row.ts';
import { isAttested } from '../facts.ts';

export const evidenceRows = inSection('Evidence policy', [
  strategyRow('repo-first', 'what the repository holds comes before any page, whatever the order of tiers'),
  strategyRow('pinned-official', 'a page of a host that `allowedDomains` does not name enters no snapshot'),
  strategyRow('open-web', 'every page that the domain rules let in enters, in the order of its tier'),
  {
    id: 'evidence.strategy#retrieval',
    path: '/evidence/strategy',
    rule: 'selects what a model looks up by itself',
    asks: withWeb,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.trustTiers',
    path: '/evidence/trustTiers',
    rule: 'context items are tagged `trust_tier` and ranked',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.trustTiers#unlisted',
    path: '/evidence/trustTiers',
    rule: 'an item of a tier that is not listed does not enter',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.domainAllowlistMode',
    path: '/evidence/domainAllowlistMode',
    rule: 'whether unlisted domains may be read',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.allowedDomains',
    path: '/evidence/allowedDomains',
    rule: 'checked first, before a Url item is enqueued',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.allowedDomains#redirects',
    path: '/evidence/allowedDomains',
    rule: 'checked again at every redirect of a page that is read',
    asks: withWeb,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.blockedDomains',
    path: '/evidence/blockedDomains',
    rule: 'taken from what is not allowed; blocked items never enter the pipeline',
    asks: withModel,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.minCitationsPerDecision=0',
    path: '/evidence/minCitationsPerDecision',
    rule: 'nothing has to be cited, whatever tiers are trusted',
    asks: ({ evidence }) => evidence.minCitationsPerDecision === 0,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.minCitationsPerDecision',
    path: '/evidence/minCitationsPerDecision',
    rule: 'the final Decision cites so many checks that passed; they count where the tier `repo` is trusted',
    asks: ({ evidence }) => evidence.minCitationsPerDecision > 0,
    enforcedBy: 'core',
  },
  {
    id: 'evidence.minCitationsPerDecision#model',
    path: '/evidence/minCitationsPerDecision',
    rule: 'distinct sources counted for every step of a plan and every choice that a model records',
    asks: (spec, { model }) => model && spec.evidence.minCitationsPerDecision > 0,
    enforcedBy: 'core',
  },
]);

/** Of the snapshot that an attempt of any worker starts from. */
function strategyRow(
  strategy: EffectiveIntentSpec['evidence']['strategy'],
  rule: string,
): Omit<ContractRow, 'section'> {
  return {
    id: `evidence.strategy=${strategy}`,
    path: '/evidence/strategy',
    rule,
    asks: ({ evidence }) => evidence.strategy === strategy,
    enforcedBy: 'evidence',
  };
}

export const provenanceRows = inSection('Provenance policy', [
  {
    id: 'provenance.requireSlsaProvenance',
    path: '/provenance/requireSlsaProvenance',
    rule: 'a commit gets a signed SLSA provenance statement',
    asks: ({ provenance }) => provenance.requireSlsaProvenance,
    enforcedBy: 'attest',
  },
  {
    id: 'provenance.requireSlsaProvenance#context',
    path: '/provenance/requireSlsaProvenance',
    rule: 'uri and digest of each item of a context snapshot are resolved dependencies of the provenance',
    asks: ({ provenance }, { model }) => model && provenance.requireSlsaProvenance,
    enforcedBy: 'core',
  },
  {
    id: 'provenance.requireSlsaProvenance=false',
    path: '/provenance/requireSlsaProvenance',
    rule: 'nothing is signed or logged, unless `provenance-attestation` is a required artifact',
    asks: ({ provenance }) => !provenance.requireSlsaProvenance,
    enforcedBy: 'core',
  },
  {
    id: 'provenance.requireSbom',
    path: '/provenance/requireSbom',
    rule: '`sbom` is among the required artifacts',
    asks: ({ provenance }) => provenance.requireSbom,
    enforcedBy: 'core',
  },
  {
    id: 'provenance.requireSbom=false',
    path: '/provenance/requireSbom',
    rule: 'no `sbom` is demanded',
    asks: ({ provenance }) => !provenance.requireSbom,
    enforcedBy: 'core',
  },
  {
    id: 'provenance.transparencyLog.mode=none',
    path: '/provenance/transparencyLog/mode',
    rule: 'nothing is logged',
    asks: ({ provenance }) => provenance.transparencyLog.mode === 'none',
    enforcedBy: 'attest',
  },
  {
    id: 'provenance.transparencyLog.mode=internal-ledger',
    path: '/provenance/transparencyLog/mode',
    rule: 'appended to a Merkle log of our own, with a proof that verifies offline',
    asks: ({ provenance }) => provenance.transparencyLog.mode === 'internal-ledger',
    enforcedBy: 'attest',
  },
  {
    id: 'provenance.transparencyLog.mode=public-log',
    path: '/provenance/transparencyLog/mode',
    rule: 'submitted to a public log, the inclusion proof kept',
    asks: ({ provenance }) => provenance.transparencyLog.mode === 'public-log',
    enforcedBy: 'attest',
  },
  {
    id: 'provenance.transparencyLog.mode#unused',
    path: '/provenance/transparencyLog/mode',
    rule: 'a log without anything to log is reported (`LOG_UNUSED`), and gives no proof',
    asks: (spec) => spec.provenance.transparencyLog.mode !== 'none' && !isAttested(spec),
    enforcedBy: 'core',
  },
  {
    id: 'provenance.bindings.embedIntentSpecDigest',
    path: '/provenance/bindings/embedIntentSpecDigest',
    rule: 'the digest of the contract is an external parameter of the provenance',
    asks: ({ provenance }) => provenance.requireSlsaProvenance && provenance.bindings.embedIntentSpecDigest,
    enforcedBy: 'attest',
  },
  {
    id: 'provenance.bindings.embedEvidenceDigests',
    path: '/provenance/bindings/embedEvidenceDigests',
    rule: 'digests of all evidence are byproducts of the provenance',
    asks: ({ provenance }) => provenance.requireSlsaProvenance && provenance.bindings.embedEvidenceDigests,
    enforcedBy: 'attest',
  },
  {
    id: 'provenance.bindings.embedIntentSpecDigest=false',
    path: '/provenance/bindings/embedIntentSpecDigest',
    rule: 'the provenance does not name the digest of the contract',
    asks: ({ provenance }) => provenance.requireSlsaProvenance && !provenance.bindings.embedIntentSpecDigest,
    enforcedBy: 'attest',
  },
  {
    id: 'provenance.bindings.embedEvidenceDigests=false',
    path: '/provenance/bindings/embedEvidenceDigests',
    rule: 'the provenance lists no evidence',
    asks: ({ provenance }) => provenance.requireSlsaProvenance && !provenance.bindings.embedEvidenceDigests,
    enforcedBy: 'attest',
  },
]);
