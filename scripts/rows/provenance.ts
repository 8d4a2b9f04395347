import { type RowReader, readersIn } from './row-reader.ts';

const bindings = 'bindings: spec digest and evidence digests';
const logs = 'transparencyLog: internal-ledger gives a proof';

/** Provenance policy. */
export const readers: readonly RowReader[] = [
  ...readersIn('engine/spec/is-attested.ts', [
    ['provenance.requireSlsaProvenance', 'provenance.requireSlsaProvenance ||', '', bindings],
    ['provenance.requireSlsaProvenance=false', 'provenance.requireSlsaProvenance ||', 'provenance ||'],
  ]),
  ...readersIn('engine/run/open/open-parties.ts', [
    [
      'provenance.transparencyLog.mode=none',
      'engine.slots.log.pick(mode)',
      "engine.slots.log.pick('internal-ledger')",
      logs,
    ],
    [
      'provenance.transparencyLog.mode=internal-ledger',
      'engine.slots.log.pick(mode)',
      "engine.slots.log.pick('none')",
      logs,
    ],
    [
      'provenance.transparencyLog.mode=public-log',
      'engine.slots.log.pick(mode)',
      "engine.slots.log.pick('none')",
      'a whole run is logged where its base says',
    ],
  ]),
  ...readersIn('engine/run/decide/decide-run.ts', [
    [
      'provenance.requireSlsaProvenance#context',
      '...contextDependencies(state), ',
      '',
      'what a snapshot found is kept as the contract says',
      'each item of the snapshot',
    ],
  ]),
  ...readersIn('engine/run/record/gate-report.ts', [
    [
      'provenance.transparencyLog.mode#unused',
      '...logWithoutUse(spec).map(',
      '...[].map(',
      'transparency-proof: where nothing is signed',
    ],
  ]),
  ...readersIn('engine/spec/rules/require-sbom.ts', [
    [
      'provenance.requireSbom',
      'if (spec.provenance?.requireSbom !== true || !required) return [];',
      'if (spec || !required) return [];',
      'every invalid fixture',
      'SEMANTIC_REQUIRE_SBOM-not-declared.json',
    ],
    [
      'provenance.requireSbom=false',
      'if (spec.provenance?.requireSbom !== true || !required) return [];',
      'if (!required) return [];',
      'every valid fixture is accepted without a remark',
    ],
  ]),
  ...readersIn('attest/statement/build-provenance.ts', [
    [
      'provenance.bindings.embedIntentSpecDigest',
      'input.embedIntentSpecDigest ? { intentspec_digest: input.specDigest } : {}',
      '{}',
      bindings,
    ],
    [
      'provenance.bindings.embedEvidenceDigests',
      'input.embedEvidenceDigests ? input.byproducts.map(toDescriptor) : []',
      '[]',
      bindings,
    ],
    [
      'provenance.bindings.embedIntentSpecDigest=false',
      'input.embedIntentSpecDigest ? { intentspec_digest: input.specDigest } : {}',
      '{ intentspec_digest: input.specDigest }',
      bindings,
    ],
    [
      'provenance.bindings.embedEvidenceDigests=false',
      'input.embedEvidenceDigests ? input.byproducts.map(toDescriptor) : []',
      'input.byproducts.map(toDescriptor)',
      bindings,
    ],
  ]),
];
