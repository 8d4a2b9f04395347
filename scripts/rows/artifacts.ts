import { type RowReader, readersIn } from './row-reader.ts';

const retention = 'retention: the lower number counts';

/** Artifacts. */
export const readers: readonly RowReader[] = [
  ...readersIn('gates/rules/artifact-present.ts', [
    [
      'artifacts.required.stage',
      '(entry) => lookedForAt(spec, entry) === stage.name && !sealed.has(entry.name)',
      '({ name }) => !sealed.has(name)',
    ],
    [
      'artifacts.required.stage#producer',
      'lookedForAt(spec, entry) === stage.name',
      "(entry.stage === 'per-task' ? 'fast' : entry.stage) === stage.name",
    ],
    ['artifacts.required.required', 'severity: entry.required ?', 'severity: entry === undefined ?'],
    [
      'artifacts.required.required=false',
      'severity: entry.required ?',
      'severity: entry ?',
      'artifact-present: what is listed and not required is reported',
    ],
  ]),
  ...readersIn('gates/rules/artifact-format.ts', [
    [
      'artifacts.required.format',
      'const mismatch = format ? await matchesFormat(format, content.bytes) : undefined;',
      'const mismatch = undefined;',
    ],
  ]),
  ...readersIn('engine/run/state/artifact-box.ts', [
    [
      'artifacts.required.format#content-type',
      'declared.get(request.name) || request.contentType',
      'request.contentType',
      'build-log: the output of the check that produces it',
    ],
  ]),
  ...readersIn('plugins/artifacts/plugin.ts', [
    ['artifacts.required.name=patchset', "slots.artifact.add('patchset', patchsetProducer);", ''],
    [
      'artifacts.required.name=release-notes',
      "slots.artifact.add('release-notes', releaseNotesProducer);",
      '',
    ],
  ]),
  ...readersIn('engine/run/judge/collect-artifacts.ts', [
    ['artifacts.required.name=test-log', "new Set(['test-log', 'build-log'])", "new Set(['build-log'])"],
    [
      'artifacts.required.name=build-log',
      "new Set(['test-log', 'build-log'])",
      "new Set(['test-log'])",
      'build-log: the output of the check that produces it',
    ],
  ]),
  ...readersIn('gates/plugin.ts', [
    [
      'artifacts.required.name=sast-report',
      "artifact.addLazy('sast-report', async () => (await import('./sast-report.ts')).sastReportProducer);",
      'void artifact;',
    ],
  ]),
  ...readersIn('gates/rules/sca.meta.ts', [
    [
      'artifacts.required.name=sca-report#judged',
      "requiresByStage(spec, 'sca-report', 'security')",
      'spec === undefined',
    ],
  ]),
  ...readersIn('plugins/supply-chain/plugin.ts', [
    [
      'artifacts.required.name=sca-report',
      "slots.artifact.add('sca-report', createScaReportProducer({ env, clock }));",
      '',
    ],
    ['artifacts.required.name=sbom', "slots.artifact.add('sbom', sbomProducer);", ''],
  ]),
  ...readersIn('engine/spec/is-attested.ts', [
    [
      'artifacts.required.name=provenance-attestation',
      "required && name === 'provenance-attestation'",
      'required && name === undefined',
      'provenance-attestation: a contract that requires it gets it',
    ],
  ]),
  ...readersIn('engine/run/decide/decide-run.ts', [
    ['artifacts.required.name=transparency-proof', '...unsealable(spec),', ''],
  ]),
  ...readersIn('engine/run/state/retention.ts', [
    [
      'artifacts.retention.days',
      'Math.min(spec.artifacts.retention.days, spec.constraints.privacy.retentionDays)',
      'spec.constraints.privacy.retentionDays',
      retention,
    ],
    ['artifacts.retention.days=0', 'keepsContent: days > 0', 'keepsContent: days >= 0', retention],
  ]),
  ...readersIn('engine/spec/rules/artifact-minimum.ts', [
    [
      'artifacts.required#minimum',
      'if (!required) return [];',
      'if (!required || minimum) return [];',
      'every invalid fixture',
      'SEMANTIC_ARTIFACT_MINIMUM-no-test-log.json',
    ],
  ]),
];
