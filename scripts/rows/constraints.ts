import { type RowReader, readersIn } from './row-reader.ts';

const redacts = 'redactionRequired';
const retains = 'retention';
const refuses = 'specs that must not run';
const cap = 'past 90 % of the cost cap';

/** Constraints. */
export const readers: readonly RowReader[] = [
  ...readersIn('engine/run/judge/check-network.ts', [
    [
      'constraints.security.networkPolicy=deny',
      "contract.effective.constraints.security.networkPolicy === 'allow'",
      'true',
    ],
    [
      'constraints.security.networkPolicy=allow',
      "contract.effective.constraints.security.networkPolicy === 'allow'",
      'false',
      'under allow the proxy opens every public host',
    ],
  ]),
  ...readersIn('engine/run/open/choose-sandbox.ts', [
    [
      'constraints.security.networkPolicy=deny#sandbox',
      '!sandbox.unconfined || !denies',
      'true',
      'a sandbox that cannot deny the network is refused',
    ],
  ]),
  ...readersIn('engine/run/open/machine-judgements.ts', [
    [
      'constraints.platform.languageRuntime',
      'admitted.effective.constraints.platform.languageRuntime',
      "''",
      refuses,
      'expected RUNTIME_MISMATCH',
    ],
  ]),
  ...readersIn('engine/tool/runtime/pick-runtimes.ts', [
    [
      'constraints.platform.languageRuntime#picked',
      'if (meetsAll(version, wanted)) return { version, toolchain };',
      '',
      'every manager is looked at',
    ],
  ]),
  ...readersIn('engine/spec/rules/language-runtime.ts', [
    [
      'constraints.platform.languageRuntime#form',
      "if (!('message' in read)) return [];",
      "if (!('message' in read) || read) return [];",
      'every invalid fixture',
      'SEMANTIC_LANGUAGE_RUNTIME-unknown-tool.json',
    ],
  ]),
  ...readersIn('engine/run/open/prepare-ground.ts', [
    [
      'constraints.platform.supportedOS',
      'supportedOS.length === 0',
      'true',
      refuses,
      'expected OS_UNSUPPORTED',
    ],
  ]),
  ...readersIn('gates/rules/new-dependency.ts', [
    [
      'constraints.security.dependencyPolicy=no-new',
      'input.spec.constraints.security.dependencyPolicy;',
      "'allow';",
    ],
    [
      'constraints.security.dependencyPolicy=allow-with-review',
      "const severity: Severity = policy === 'allow' ? 'note'",
      "const severity: Severity = policy !== 'no-new' ? 'note'",
      'dependencyPolicy allow-with-review',
    ],
    [
      'constraints.security.dependencyPolicy=allow-with-review#waits',
      'input.spec.constraints.security.dependencyPolicy;',
      "'no-new';",
    ],
    [
      'constraints.security.dependencyPolicy=allow',
      'input.spec.constraints.security.dependencyPolicy;',
      "'no-new';",
    ],
  ]),
  ...readersIn('engine/plan/task-constraints.ts', [
    [
      'constraints.security.cryptoPolicy',
      "cryptoPolicy === ''",
      'true',
      'fields that a run stores',
      'constraints.security.cryptoPolicy',
      'constraints.security.cryptoPolicy',
    ],
  ]),
  ...readersIn('engine/spec/privacy-policy-of.ts', [
    [
      'constraints.privacy.dataClassesAllowed',
      '!dataClassesAllowed.includes(one)',
      'true',
      redacts,
      'of an allowed class',
    ],
    [
      'constraints.privacy.dataClassesAllowed#secrets',
      "beyond.filter((one) => one === 'secrets')",
      '[]',
      redacts,
      'a secret never',
    ],
    [
      'constraints.privacy.redactionRequired=true',
      'remove: redactionRequired ?',
      'remove: false ?',
      redacts,
      'redacted',
    ],
    [
      'constraints.privacy.redactionRequired=false',
      'remove: redactionRequired ?',
      'remove: true ?',
      redacts,
      'without redaction',
    ],
  ]),
  ...readersIn('plugins/redaction/plugin.ts', [
    [
      'constraints.privacy.dataClassesAllowed#context',
      '{ classes: new Set(beyond), words, weighs: true }',
      '{ classes: new Set(), words, weighs: true }',
      'a file that holds data of a class beyond',
    ],
  ]),
  ...readersIn('engine/run/state/retention.ts', [
    [
      'constraints.privacy.retentionDays',
      'Math.min(spec.artifacts.retention.days, spec.constraints.privacy.retentionDays)',
      'spec.artifacts.retention.days',
      retains,
      'expected 3 days',
    ],
    [
      'constraints.privacy.retentionDays=0',
      'keepsContent: days > 0,',
      'keepsContent: true,',
      retains,
      'no content: {"constraints"',
    ],
  ]),
  ...readersIn('gates/rules/licenses.ts', [
    ['constraints.licensing.allowedSpdx', 'ground.isLimited && !ground.allowed.allows(node)', 'false'],
    [
      'constraints.licensing.allowedSpdx=none',
      'isLimited: allowedSpdx.length > 0,',
      'isLimited: allowedSpdx.length >= 0,',
      'licenses: a license that the codebase has',
    ],
    ['constraints.licensing.forbidNewLicenses', 'return ground.forbidNewLicenses && ', 'return false && '],
  ]),
  ...readersIn('engine/upkeep/content-expiry.ts', [
    [
      'constraints.privacy.retentionDays#gc',
      'decidedAtMs + privacyDays * dayMs',
      'decidedAtMs + artifactDays * dayMs',
      'min(creation + artifacts.days, final Decision + privacy.days), whatever was shown',
    ],
  ]),
  ...readersIn('engine/run/open/hold-run.ts', [
    [
      'constraints.resources.maxWallClockSeconds',
      'spec.constraints.resources.maxWallClockSeconds,',
      '604800,',
    ],
  ]),
  ...readersIn('engine/run/decide/cost-limit.ts', [
    ['constraints.resources.maxCostUnits', 'if (maxCostUnits === 0) return 0;', 'return 0;', cap],
  ]),
  ...readersIn('engine/run/work/work-plan.ts', [
    [
      'constraints.resources.maxCostUnits#checkpoint',
      'if (!isCheckpointDue(state.costLimit, before, state.costUnits)) return;',
      'if (before >= 0) return;',
      cap,
    ],
  ]),
  ...readersIn('engine/run/decide/budget.ts', [
    [
      'constraints.resources.maxCostUnits#parallel',
      'return isNearCap(budget) ? 1 : limit;',
      'return limit;',
      'from 90 % of the cap on one Task',
    ],
    [
      'constraints.resources.maxCostUnits=0',
      'limitUnits > 0 && usedUnits > limitUnits',
      'usedUnits > limitUnits',
      'two objectives are two Tasks',
    ],
  ]),
];
