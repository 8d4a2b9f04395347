import { type Guard, within } from './guard.ts';

const artifacts = 'test/engine/plugin-trust/parts/hostile-artifact.test.ts';
const artifactRuns = 'test/engine/plugin-trust/parts/artifact-runs.test.ts';
const evidence = 'test/engine/plugin-trust/parts/hostile-evidence.test.ts';
const evidenceRuns = 'test/engine/plugin-trust/parts/evidence-runs.test.ts';

/** What artifacts and evidence policies of plugins may do to a run: add what it must not lack, and take away. */
export const guards: readonly Guard[] = [
  ...within('engine/plugin-trust/parts/outside-artifact.ts', artifacts, [
    [
      'artifacts of another form than declared',
      '  if (isJson) requireJson(bytes);',
      '  if (isJson) void bytes;',
      'a producer that makes JSON that is none has made nothing',
    ],
    [
      'artifacts beyond their bound',
      '  if (bytes.length === 0 || bytes.length > maxArtifactBytes)',
      '  if (bytes.length === 0)',
      'a producer that makes more than it may has made nothing',
    ],
    [
      'answers in several ways',
      '  if (Object.keys(fields).length !== 1)',
      '  if (Object.keys(fields).length === 0)',
      'a producer that answers in two ways has made nothing',
    ],
    [
      'secrets in reasons',
      "withoutHanded(parseText(fields, 'unmade', 1000), masked)",
      "parseText(fields, 'unmade', 1000)",
      'a reason is told without what the plugin was handed',
    ],
  ]),
  ...within('engine/config/artifacts-section.ts', artifactRuns, [
    [
      'names that contracts know',
      '      if (ofContracts.includes(name))',
      "      if (name === '')",
      'names of contracts stay the engine’s, and nobody who is not there is asked',
    ],
  ]),
  ...within('engine/run/open/machine-judgements.ts', artifactRuns, [
    [
      'what plugins are handed, in what is kept',
      'await judges.plugins.secrets()',
      '[]',
      'secrets are taken out of what a plugin makes, and of what it says',
    ],
  ]),
  ...within('engine/plugin-trust/parts/outside-evidence.ts', evidence, [
    [
      'ranks of evidence policies beyond their bound',
      '      if (order > maxOrder) throw',
      '      if (order < 0) throw',
      'a policy that ranks beyond all has said nothing, and is not asked again',
    ],
    [
      'evidence policies that fell silent',
      '    if (silent !== undefined) throw silent;',
      '',
      'a policy that throws has said nothing, and is not asked again',
    ],
    [
      'secrets in reasons of evidence policies',
      'printable(withoutHanded(text, secrets))',
      'printable(text)',
      'a reason is told without what the plugin was handed',
    ],
  ]),
  ...within('engine/run/state/open-evidence.ts', evidenceRuns, [
    [
      'evidence policies that are asked beside the strategy',
      'ground.config.evidence.plugins.flatMap(',
      '[].flatMap(',
      'a plugin keeps out what it refuses and ranks the rest; what is sealed is verified',
    ],
  ]),
];
