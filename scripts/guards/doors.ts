import { type Guard, within } from './guard.ts';

const alike = 'test/engine/run/open/same-refusals.test.ts';
const lean = 'test/bin/lean-loading.test.ts';
const without = 'a contract is validated without an engine';
const walk = 'what run refuses before any work';
const words = 'a token or a private key in the words';

/** What says before a run what it would be refused for. */
export const guards: readonly Guard[] = [
  ...within('engine/run/plan-run.ts', alike, [
    [
      'a plan asks everything that a run asks',
      '[...firstJudgements, ...laterJudgements],',
      '[...firstJudgements],',
      walk,
    ],
  ]),
  ...within('engine/run/preview-contract.ts', alike, [
    [
      'a contract is held to the repository',
      '[...contractJudgements, ...repositoryJudgements],',
      '[...contractJudgements],',
      walk,
    ],
  ]),
  ...within('engine/run/preview-contract.ts', lean, [
    ['a contract is validated without a look for filter drivers', 'onlyReads: true,', '', without],
  ]),
  ...within('bin/command-parts/preview.ts', lean, [
    [
      'a contract is validated without an engine',
      "import type { CommandContext } from './command.ts';",
      "import type { CommandContext } from './command.ts';\nimport './open-engine.ts';",
      without,
    ],
  ]),
  ...within('engine/run/open/contract-issues.ts', alike, [
    [
      'a contract is held to its rows where there is no repository',
      'await judgeOpening(contractJudgements,',
      'await judgeOpening([],',
      walk,
    ],
  ]),
  ...within('plugins/preset/asked-built-ins.ts', 'test/plugins/asked-built-ins.test.ts', [
    [
      'a contract that is validated is held to the configuration as every built-in reads it',
      'sealingForms: async () => sealingForms,',
      'sealingForms: async () => ({ ...sealingForms, logs: new Map() }),',
      'what is answered without an engine',
    ],
  ]),
  ...within('engine/tool/runtime/toolchains.ts', 'test/engine/tool/runtime/pick-runtimes.test.ts', [
    [
      'no toolchain is picked that others may write',
      '(facts.mode & 0o002) !== 0',
      'facts.mode < 0',
      'what a manager only calls so',
    ],
    [
      'no toolchain is picked that leads out of its manager',
      '!isInside(top, bin) || ',
      '',
      'what a manager only calls so',
    ],
  ]),
  ...within('api/intent/read-spec.ts', 'test/bin/commands/spec.test.ts', [
    [
      'no secret stands in a contract that is validated',
      'await withoutOwnSecrets(bytes, await readWithCommands(readIntentSpec, bytes, ruleIds))',
      'await readWithCommands(readIntentSpec, bytes, ruleIds)',
      words,
    ],
  ]),
  ...within('engine/intent/admit-contract.ts', 'test/bin/commands/spec.test.ts', [
    [
      'no secret stands in a contract that is planned, activated or run',
      'await withoutOwnSecrets(bytes, plain)',
      'plain',
      words,
    ],
  ]),
  ...within('engine/spec/own-secrets.ts', 'test/bin/commands/spec.test.ts', [
    [
      'no issue repeats the secret beside it',
      'filter(({ path, message }) => !repeats(path) && !repeats(message))',
      'filter(() => true)',
      words,
    ],
  ]),
];
