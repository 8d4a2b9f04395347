/** The policy engine `cel`: each file holds one CEL expression that must be true for each question. */
import type { CelResult } from '@bufbuild/cel';
import {
  answerAll,
  invalidPolicy,
  type PolicyFault,
  policyFinding,
  policyRule,
  policyText,
  toFlatFacts,
} from './questions.ts';

const engine = 'cel';

interface Expression {
  readonly path: string;
  /** `// @reason`: why it denies, for people. */
  readonly reason?: string;
  evaluate(facts: Record<string, unknown>): CelResult;
}

/**
 * Denies a question to which an expression answers `false`. An expression that cannot be parsed, that fails, or that
 * answers anything but a boolean is a finding as well.
 */
export const judge = policyRule(engine, async (policy, input) => {
  const { name, files } = policy;
  const cel = await import('@bufbuild/cel');
  const environment = cel.celEnv();
  const expressions: Expression[] = [];
  const faults: PolicyFault[] = [];
  for (const { path, bytes } of files) {
    const text = policyText(bytes);
    if (text === undefined) {
      faults.push({ path, message: 'expected UTF-8' });
      continue;
    }
    try {
      const evaluate = cel.plan(environment, cel.parse(text)) as Expression['evaluate'];
      const reason = /^\/\/ *@reason +(\S.*)$/m.exec(text)?.[1]?.trim();
      expressions.push({ path, evaluate, ...(reason === undefined ? {} : { reason }) });
    } catch (error) {
      faults.push({ path, message: error instanceof Error ? error.message : String(error) });
    }
  }
  if (faults.length > 0) return invalidPolicy(engine, name, faults);
  return answerAll(engine, name, input, (question) => {
    const facts = Object.fromEntries(
      Object.entries(toFlatFacts(question)).map(([key, fact]) => [key, toCel(fact)]),
    );
    const { action, file } = question;
    const place = file ? { path: file.path } : {};
    return expressions.flatMap(({ path, reason, evaluate }) => {
      const detail = { policy: name, action, policies: [path], ...place };
      const answer = evaluate(facts);
      if (answer === true) return [];
      if (answer === false) {
        const why = reason === undefined ? '' : ` (${reason})`;
        const message = `policy \`${name}\` denies \`${action}\`: \`${path}\` is false${why}`;
        return [policyFinding(engine, 'POLICY_DENIED', message, detail)];
      }
      const why = cel.isCelError(answer) ? answer.message : 'expected a boolean, found another value';
      const message = `policy \`${name}\` failed to evaluate \`${path}\` for \`${action}\`: ${why}`;
      return [policyFinding(engine, 'POLICY_FAULT', message, detail)];
    });
  });
});

/** CEL reads a JavaScript number as a double, a bigint as an int, and a Map as a map. Facts hold whole numbers only. */
function toCel(fact: unknown): unknown {
  if (typeof fact === 'number') return BigInt(fact);
  if (Array.isArray(fact)) return fact.map(toCel);
  if (typeof fact !== 'object' || fact === null) return fact;
  return new Map(Object.entries(fact).map(([key, value]) => [key, toCel(value)]));
}
