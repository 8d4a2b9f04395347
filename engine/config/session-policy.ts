/* The limits that a repository and a machine set on sessions and model calls, and the refusal of what exceeds them. */
import { WritError } from '../../core/base/errors.ts';
import { printable, quoted } from '../../core/base/printable.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';

/** Approval policies that can be demanded, each less strict than the next. */
export const demandedApprovals = ['on-failure', 'on-request', 'untrusted'] as const;

/** `[session]`. An absent member limits nothing; an empty list allows nothing. */
export interface SessionLimits {
  /** `NAME` is the provider at its own address, `NAME@HOST` at another one. */
  readonly providers?: readonly string[];
  /** Model ids; a `*` at the end stands for any rest. */
  readonly models?: readonly string[];
  /** The least strict approval policy that is allowed. */
  readonly approvalPolicy?: (typeof demandedApprovals)[number];
  readonly network?: 'deny';
  /** Names of MCP servers that may start. */
  readonly mcp?: readonly string[];
  readonly sessionUsd?: number;
  /** Limits of what one yes of a person lets a goal use up. */
  readonly goalTokens?: number;
  readonly goalCostUsd?: number;
  readonly goalSeconds?: number;
}

/** The limits of one level. */
export type PolicyLevel = SessionLimits & { readonly from: 'repository' | 'machine' };

/** All levels. Something is allowed if every level allows it, so a level can only tighten. */
export type SessionPolicy = readonly PolicyLevel[];

/** The only place of the machine's policy: no option and no variable moves it. */
export const machinePolicyPath = '/etc/writ/policy.toml';

/** The name of a level in messages, `/status` and `writ config print`. */
export function levelName(from: PolicyLevel['from']): string {
  return from === 'machine' ? `${machinePolicyPath} of this machine` : '[session] of the repository';
}

/** A model before it is called. */
interface WantedModel {
  readonly provider: string;
  /** Absent: not chosen yet, so only the provider is checked. */
  readonly model?: string | undefined;
  /** Host and port of the address, where it is not the provider's own; `undefined`: not known yet. */
  readonly otherHost?: string | false | undefined;
}

/** Requires that every level allows the provider at its address, and the model. SESSION_POLICY_EXCEEDED. */
export function requireModelAllowed(
  policy: SessionPolicy,
  { provider, model, otherHost }: WantedModel,
): void {
  // `replay:DIR` is the provider `replay`.
  const [name = ''] = provider.split(':');
  const wanted = typeof otherHost === 'string' ? `${name}@${otherHost}` : name;
  for (const level of policy) {
    const isListed = ({ providers }: PolicyLevel): boolean =>
      providers === undefined ||
      providers.some((one) => one === wanted || (otherHost === undefined && one.startsWith(`${name}@`)));
    if (!isListed(level)) throw exceeded(level, 'providers', wanted, 'choose another with `--provider NAME`');
    const refusal = model === undefined ? undefined : modelRefusal([level], model);
    if (refusal !== undefined) throw refusal;
  }
}

/** Why a model must not be called; `undefined` if every level allows it. */
export function modelRefusal(policy: SessionPolicy, model: string): WritError | undefined {
  const level = policy.find(
    ({ models }) => models !== undefined && !models.some((one) => covers(one, model)),
  );
  return level && exceeded(level, 'models', model, 'choose another with `--model ID` or `/model ID`');
}

function covers(pattern: string, model: string): boolean {
  return pattern.endsWith('*') ? model.startsWith(pattern.slice(0, -1)) : model === pattern;
}

/** Why an MCP server must not start; `undefined` if every level allows it. */
export function mcpRefusal(policy: SessionPolicy, server: string): string | undefined {
  const level = policy.find(({ mcp }) => mcp?.includes(server) === false);
  return level && exceeded(level, 'mcp', server, '').message;
}

/** Requires that no level denies the network. SESSION_POLICY_EXCEEDED. */
export function requireNetworkAllowed(policy: SessionPolicy): void {
  const level = policy.find(({ network }) => network === 'deny');
  if (level !== undefined) throw exceeded(level, 'network', 'allow', 'go on without a network');
}

/** Requires a spec without a network if a level denies it: neither all hosts nor those of a tool rule. */
export function requireSpecAllowed(
  policy: SessionPolicy,
  { constraints, security }: Pick<EffectiveIntentSpec, 'constraints' | 'security'>,
): void {
  const isOpen =
    constraints.security.networkPolicy === 'allow' ||
    security.toolAcl.allow.some((rule) => [rule.constraints?.networkHosts ?? []].flat().length > 0);
  if (isOpen) requireNetworkAllowed(policy);
}

/**
 * The approval policy of a session: the one that was named, if every level allows it, else the usual one or the
 * strictest that a level demands. `never` refuses what `on-request` asks about. SESSION_POLICY_EXCEEDED.
 */
export function approvalWithin<Name extends string>(
  policy: SessionPolicy,
  named: Name | undefined,
  usual: Name | 'on-request',
): Name | 'on-request' | 'untrusted' {
  const strictness = (name: string): number =>
    demandedApprovals.findIndex((one) => one === (name === 'never' ? 'on-request' : name));
  const strictest = policy
    .filter(({ approvalPolicy }) => approvalPolicy !== undefined)
    .toSorted(
      (one, other) => strictness(other.approvalPolicy ?? '') - strictness(one.approvalPolicy ?? ''),
    )[0];
  const demanded = strictness(strictest?.approvalPolicy ?? '');
  if (strictest === undefined || strictness(named ?? usual) >= demanded) return named ?? usual;
  if (named === undefined) return 'untrusted';
  const next = `choose at least \`--approval-policy ${strictest.approvalPolicy}\``;
  throw exceeded(strictest, 'approvalPolicy', named, next);
}

type Amount = 'sessionUsd' | 'goalTokens' | 'goalCostUsd' | 'goalSeconds';

/** The smallest of an amount and its limits; `undefined` without any. */
export function leastOf<Given extends number | undefined>(
  policy: SessionPolicy,
  key: Amount,
  given: Given,
): number | Given {
  const limits = policy.flatMap((level) => level[key] ?? []);
  return limits.length === 0 ? given : Math.min(...limits, given ?? Number.POSITIVE_INFINITY);
}

/** Requires that a budget which a person sets stays within every level; absent: no limit. SESSION_POLICY_EXCEEDED. */
export function requireBudgetAllowed(policy: SessionPolicy, limitUsd: number | undefined): void {
  const level = policy.find(
    ({ sessionUsd = Number.POSITIVE_INFINITY }) => (limitUsd ?? Infinity) > sessionUsd,
  );
  if (level !== undefined)
    throw exceeded(level, 'sessionUsd', limitUsd ?? 'off', `set at most \`/budget ${level.sessionUsd}\``);
}

const keys = {
  providers: 'providers',
  models: 'models',
  approvalPolicy: 'approval_policy',
  network: 'network',
  mcp: 'mcp',
  sessionUsd: 'session_usd',
  goalTokens: 'goal_tokens',
  goalCostUsd: 'goal_cost_usd',
  goalSeconds: 'goal_seconds',
} as const satisfies Readonly<Record<keyof SessionLimits, string>>;

/** Every limit with its key in the file, its value and the level that sets it. */
export function policyLimits(
  policy: SessionPolicy,
): readonly { readonly key: string; readonly value: unknown; readonly from: string }[] {
  return policy.flatMap((level) =>
    (Object.keys(keys) as (keyof SessionLimits)[]).flatMap((name) =>
      level[name] === undefined ? [] : [{ key: keys[name], value: level[name], from: levelName(level.from) }],
    ),
  );
}

function exceeded(
  level: PolicyLevel,
  key: keyof SessionLimits,
  wanted: string | number,
  next: string,
): WritError {
  const limit = level[key];
  const list = Array.isArray(limit) ? limit.map((one: string) => quoted(one)) : [`\`${limit}\``];
  const allowed = list.length === 0 ? 'nothing' : list.slice(0, 10).join(', ');
  const whom =
    level.from === 'machine'
      ? 'or talk to the administrator of this machine'
      : 'or change `.writ/config.toml` at the policy commit';
  return new WritError('SESSION_POLICY_EXCEEDED', {
    message: `${quoted(`${wanted}`)} exceeds \`${keys[key]}\` in ${levelName(level.from)}, which allows ${allowed}`,
    detail: { level: level.from, key: keys[key], allowed: limit, found: printable(`${wanted}`) },
    hints: [next, whom],
  });
}
