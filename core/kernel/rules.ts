/* The registry of rules, and their evaluation in the worker pool. */
import { WritError } from '../base/errors.ts';
import type { Finding } from '../interfaces/finding.ts';
import type { EffectiveIntentSpec } from '../interfaces/intentspec.gen.ts';
import type { DescribedRule, Rule, RuleInput, RulePoint } from '../interfaces/rule.ts';
import { stageNames } from '../interfaces/stage.ts';
import { parseFindings, storable } from './answer.ts';
import { evaluateHere } from './worker/evaluate-here.ts';
import { evaluateRuleTask, type WorkerPool } from './worker/pool.ts';

const defaultTimeoutSeconds = 60;
const maxTimeoutSeconds = 86_400;
const points: readonly string[] = ['patch', ...stageNames, 'every-stage'];

export interface RulesDoor {
  /** Throws PLUGIN_INVALID on a malformed rule, SLOT_DUPLICATE on an id given twice, HOOK_FROZEN after set-up. */
  add(rule: Rule): void;
}

/** Every reason a gate can fail, by id. */
export interface Rules extends RulesDoor {
  readonly ids: readonly string[];
  get(id: string): Rule | undefined;
  /**
   * Rules that apply at a point for this spec, in order of registration. A rule with an `appliesTo` that throws
   * applies.
   */
  at(point: Exclude<RulePoint, 'every-stage'>, spec: EffectiveIntentSpec): readonly Rule[];
  freeze(): void;
}

export function createRules(): Rules {
  const rules = new Map<string, Rule>();
  let frozen = false;
  return {
    get ids() {
      return [...rules.keys()];
    },
    add(rule) {
      checkRule(rule);
      if (frozen) {
        throw new WritError('HOOK_FROZEN', {
          message: `rule \`${rule.id}\` was added after set-up`,
          detail: { rule: rule.id },
        });
      }
      if (rules.has(rule.id)) {
        throw new WritError('SLOT_DUPLICATE', {
          message: `rule \`${rule.id}\` is registered twice`,
          detail: { rule: rule.id },
        });
      }
      rules.set(rule.id, rule);
    },
    get: (id) => rules.get(id),
    at: (point, spec) =>
      [...rules.values()].filter((rule) => isAskedAt(rule.point, point) && appliesTo(rule, spec, point)),
    freeze() {
      frozen = true;
    },
  };
}

/**
 * Evaluates one rule, in the pool unless it is linear and the input is small. A rule refuses if it throws, hangs,
 * loops, ends its thread or returns an invalid result. The refusal is one `error` finding that names the rule and the
 * reason. Rejects only on a closed pool.
 */
export async function evaluateRule(
  rule: Rule,
  input: RuleInput,
  pool: WorkerPool,
  signal?: AbortSignal,
): Promise<readonly Finding[]> {
  // Its refusal quotes third-party output or errors. Like any result, it is normalised to a form that a record can
  // hold.
  if (rule.outside) return parseFindings(await rule.outside(input, signal));
  const timeoutSeconds = rule.timeoutSeconds ?? defaultTimeoutSeconds;
  const outcome =
    (await evaluateHere(rule, input, pool, signal)) ??
    (await pool.run(
      evaluateRuleTask,
      { id: rule.id, module: rule.module.href, input },
      { timeoutMs: timeoutSeconds * 1000, ...(signal ? { signal } : {}) },
    ));
  if (outcome.ok) return outcome.value;
  const { reason, error } = outcome;
  return [
    {
      rule: rule.id,
      severity: 'error',
      message: storable(`rule \`${rule.id}\` gave no answer (${reason}): ${error.message}`),
      detail: { code: 'RULE_FAULT', reason, error: mapTexts(error), timeoutSeconds },
    },
  ];
}

function mapTexts(record: object): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([key, text]) => [key, storable(String(text))]));
}

function isAskedAt(rulePoint: RulePoint, point: RulePoint): boolean {
  return rulePoint === point || (rulePoint === 'every-stage' && point !== 'patch');
}

function appliesTo(rule: Rule, spec: EffectiveIntentSpec, point: RulePoint): boolean {
  try {
    return rule.appliesTo?.(spec, point) !== false;
  } catch {
    return true;
  }
}

function checkRule(rule: Rule): void {
  const refuse = (what: string) => {
    const id = typeof rule?.id === 'string' ? rule.id.slice(0, 64) : '';
    throw new WritError('PLUGIN_INVALID', { message: `rule \`${id}\`: ${what}`, detail: { rule: id } });
  };
  if (typeof rule?.id !== 'string' || !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(rule.id) || rule.id.length > 64) {
    refuse('expected an id in kebab-case, at most 64 letters');
  }
  if (!points.includes(rule.point)) refuse(`expected \`point\` to be one of ${points.join(', ')}`);
  if (!(rule.module instanceof URL) || rule.module.protocol !== 'file:')
    refuse('expected `module` to be a file URL');
  const seconds = rule.timeoutSeconds ?? defaultTimeoutSeconds;
  if (!(seconds > 0 && seconds <= maxTimeoutSeconds)) {
    refuse(`expected \`timeoutSeconds\` within 0 and ${maxTimeoutSeconds}`);
  }
}

/** Collects the descriptions of rules: one entry each, and for a rule made of many, also one for each row. */
export async function describeRules(rules: readonly Rule[]): Promise<readonly DescribedRule[]> {
  const described = rules.map(async ({ id, text, rows }) => [
    ...(text === undefined ? [] : [{ id, ...text }]),
    ...((await rows?.()) ?? []),
  ]);
  return (await Promise.all(described)).flat();
}

export async function reportedIds(rules: readonly Rule[]): Promise<readonly string[]> {
  const ids = rules.map(async ({ id, rows }) =>
    rows === undefined ? [id] : (await rows()).map((row) => row.id),
  );
  return (await Promise.all(ids)).flat();
}
