/** Where the seals of a run stand in its tree (`docs/decisions/0006-evidence-set.md`). */
export const sealPaths = {
  decision: 'statements/decision.sigstore.json',
  equivalence: 'statements/approval-equivalence.sigstore.json',
  bundle: 'provenance.sigstore.json',
  proof: 'transparency-proof.tlog-proof',
  /** The same two, if the log entry was made again (`docs/ledger.md`, Machines without state). */
  renewedBundle: 'renewed/provenance.sigstore.json',
  renewedProof: 'renewed/transparency-proof.tlog-proof',
  summary: 'statements/vsa.sigstore.json',
  manifest: 'evidence-manifest.sigstore.json',
  revocation: 'revocation.sigstore.json',
  rollback: 'rollback.json',
} as const;
