import { type RowReader, readersIn } from './row-reader.ts';

const stores = 'fields that a run stores';
const invalid = 'every invalid fixture';

/** Risk. */
export const readers: readonly RowReader[] = [
  ...readersIn('engine/intent/seal-intent.ts', [
    [
      'risk.level',
      'risk_level: risk.level,',
      "risk_level: 'low',",
      stores,
      'all that one run can show',
      'risk.level',
    ],
  ]),
  ...readersIn('engine/run/judge/security-code-warning.ts', [
    ['risk.level=medium', "risk.level !== 'medium' ||", "risk.level !== 'low' ||"],
  ]),
  ...readersIn('engine/spec/rules/medium-risk-security-code.ts', [
    [
      'risk.level=medium#words',
      "spec.risk?.level !== 'medium' ||",
      "spec.risk?.level !== 'low' ||",
      invalid,
      'SEMANTIC_MEDIUM_RISK_SECURITY_CODE',
    ],
  ]),
  ...readersIn('engine/spec/rules/high-risk.ts', [
    [
      'risk.level=low',
      "if (spec.risk?.level !== 'high') return [];",
      "if (spec.risk?.level === 'medium' || !spec.risk) return [];",
      'every valid fixture is accepted without a remark',
    ],
    [
      'risk.level=high#parallel-asked',
      'if (parallel !== undefined && parallel > 1) {',
      'if (false) {',
      invalid,
      'SEMANTIC_HIGH_RISK_PARALLEL',
    ],
    [
      'risk.level=high',
      'if (required === false) {',
      'if (false) {',
      invalid,
      'SEMANTIC_HIGH_RISK_HUMAN_LOOP',
    ],
    [
      'risk.level=high#approvers',
      'if (minApprovers !== undefined && minApprovers < 2) {',
      'if (false) {',
      invalid,
      'SEMANTIC_HIGH_RISK_APPROVERS',
    ],
    [
      'risk.level=high#require-approvers',
      '&& !asksPeople',
      '&& false',
      invalid,
      'SEMANTIC_HIGH_RISK_REQUIRE_APPROVERS',
    ],
  ]),
  ...readersIn('engine/spec/rules/human-loop-approvers.ts', [
    [
      'risk.humanInLoop.minApprovers#none',
      'required === true && minApprovers === 0',
      'false',
      invalid,
      'SEMANTIC_HUMAN_LOOP_APPROVERS',
    ],
    [
      'risk.humanInLoop.minApprovers#unasked',
      'if (isAsked) return [];',
      'return [];',
      invalid,
      'SEMANTIC_HUMAN_LOOP_UNASKED',
    ],
  ]),
  ...readersIn('engine/spec/apply-defaults.ts', [
    ['risk.level=high#parallel', "risk.level === 'high' ? 1 :", '', 'high risk runs one task at a time'],
  ]),
  ...readersIn('engine/plan/task-constraints.ts', [
    ['risk.rationale', 'risk.rationale', "''", stores, 'risk.rationale', 'risk.rationale'],
  ]),
  ...readersIn('engine/run/state/checks-with-factors.ts', [
    [
      'risk.factors',
      'for (const factor of new Set(spec.risk.factors)) {',
      'for (const factor of new Set<string>()) {',
      'each factor of the spec adds its checks',
    ],
  ]),
  ...readersIn('engine/run/state/with-config.ts', [
    [
      'risk.factors#planned',
      'factorsWithoutChecks(contract.effective, config)',
      '[]',
      'a risk factor that the configuration gives no checks',
    ],
  ]),
  ...readersIn('engine/run/record/gate-report.ts', [
    [
      'risk.factors#unknown',
      'factorsWithoutChecks(spec, ground.config)',
      '[]',
      'a run says which factors no check answers',
    ],
  ]),
  ...readersIn('engine/run/decide/approvers-needed.ts', [
    [
      'risk.humanInLoop.required',
      'required ? Math.max(1, needed) : 0',
      '0',
      'without a check that asks for them the human loop still waits',
    ],
    ['risk.humanInLoop.required=false', 'required ? Math.max(1, needed) : 0', 'Math.max(1, needed)'],
  ]),
  ...readersIn('engine/run/judge-candidate.ts', [
    [
      'risk.humanInLoop.minApprovers',
      'needed: humanInLoop.minApprovers,',
      'needed: 1,',
      'as many people as the contract says',
      'one of two',
    ],
  ]),
  ...readersIn('gates/rules/require-approvers.ts', [
    [
      'risk.humanInLoop.minApprovers#check',
      'Math.max(1, input.spec.risk.humanInLoop.minApprovers)',
      '1',
      'require-approvers: one of two',
    ],
  ]),
];
