import type { RuleInput } from '../../../../../core/interfaces/rule.ts';

const answers: Readonly<Record<string, () => unknown>> = {
  nothing: () => undefined,
  allow: () => true,
  text: () => 'fine',
  foreign: () => [{ rule: 'another', severity: 'note', message: 'm' }],
  shapeless: () => [{ severity: 'error' }],
  function: () => [{ rule: 'nonsense', severity: 'error', message: () => 'm' }],
  many: () => new Array(10_001).fill({ rule: 'nonsense', severity: 'note', message: 'm' }),
  endless: () => [{ rule: 'nonsense', severity: 'error', message: 'x'.repeat(100_000_000) }],
};

export function judge({ args }: RuleInput): unknown {
  return answers[args[0] ?? '']?.();
}
