/** What SARIF says of a rule, beside its findings. */
export interface SarifRule {
  readonly id: string;
  /** One sentence. */
  readonly about: string;
  /** What to do about it; absent: `about` says it. */
  readonly help?: string;
  /** What its findings are unless they say otherwise; absent: `error`. */
  readonly level?: 'error' | 'warning';
  /** GitHub code scanning sorts by it: 0.0 to 10.0. Absent for what is no security matter. */
  readonly securitySeverity?: string;
  readonly tags: readonly string[];
}

const security = ['security'] as const;

/** The built-in rules that judge a change; others are described by their id. */
const known: readonly SarifRule[] = [
  { id: 'scope', about: 'The change stays within the scope of its contract.', tags: ['maintainability'] },
  {
    id: 'no-direct-eval',
    about: 'Added lines do not execute text directly.',
    securitySeverity: '8.8',
    tags: [...security, 'external/cwe/cwe-95'],
  },
  {
    id: 'secrets',
    about: 'Added lines hold no credential.',
    securitySeverity: '8.0',
    tags: [...security, 'external/cwe/cwe-798'],
  },
  {
    id: 'suppressions',
    about: 'Inline suppressions are seen by a reviewer.',
    tags: ['maintainability'],
  },
  { id: 'new-tests', about: 'A fix brings at least one new test case.', tags: ['reliability'] },
  {
    id: 'tests-kept',
    about: 'Test cases are kept, and judge as they did.',
    help: 'Keep the case, or let an objective of the contract say that it goes.',
    tags: ['reliability'],
  },
  {
    id: 'judge-changed',
    about: 'What checks execute to judge changes only under a review.',
    help: 'Let a person approve the change, or leave scripts and configuration of checks as they are.',
    securitySeverity: '7.0',
    tags: [...security, 'supply-chain'],
  },
  {
    id: 'new-dependency',
    about: 'New dependencies are allowed and reviewed.',
    securitySeverity: '5.0',
    tags: [...security, 'supply-chain'],
  },
  { id: 'licenses', about: 'New dependencies carry an allowed licence.', tags: ['supply-chain'] },
  {
    id: 'sast',
    about: 'No static analysis reports an error.',
    securitySeverity: '7.0',
    tags: [...security],
  },
  {
    id: 'sca',
    about: 'No dependency has a known vulnerability.',
    securitySeverity: '7.0',
    tags: [...security, 'external/cwe/cwe-1395'],
  },
];

/** Description of a rule by its id. */
export function sarifRule(id: string): SarifRule {
  return known.find((rule) => rule.id === id) ?? { id, about: `Findings of rule ${id}.`, tags: [] };
}
