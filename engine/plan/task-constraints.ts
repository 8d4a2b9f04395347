import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';

/** Hard boundaries as a worker reads them, with the prefixes that document 1 names. */
export function taskConstraints({ intent, constraints, risk }: EffectiveIntentSpec): readonly string[] {
  const { cryptoPolicy } = constraints.security;
  return [
    ...intent.inScope.map((entry) => `in-scope:${entry}`),
    ...intent.outOfScope.map((entry) => `out-of-scope:${entry}`),
    ...(cryptoPolicy === '' ? [] : [`crypto-policy:${cryptoPolicy}`]),
    `risk-rationale:${risk.rationale}`,
  ];
}
