/* Evaluates the approvals that a policy check requires. */
import type { ApprovalVerdict } from '../../core/interfaces/approval.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { RuleInput } from '../../core/interfaces/rule.ts';
import { foldPrincipal } from '../../readers/diff/owned-paths.ts';
import { policyWords } from '../checks/policy.ts';

const maxListed = 50;

/**
 * Evaluates approvals against the arguments of a policy check: `[--min N] [--group G]`. Enough distinct people: no
 * finding. Not enough yet: a note with `waiting`. A counted rejection by any person is an error. If `roles` is given,
 * only approvals in one of these roles count.
 */
export function evaluateApprovals(
  rule: string,
  { args, approvals = [], approvalGroups = {} }: RuleInput,
  wanted: { readonly needed: number; readonly roles?: readonly string[]; readonly why?: string },
): readonly Finding[] {
  const failure = (code: string, message: string, detail: Readonly<Record<string, unknown>>): Finding => ({
    rule,
    severity: 'error',
    message,
    detail: { code, ...detail },
  });
  const asked = parseArguments(args);
  if (typeof asked === 'string') return [failure('POLICY_ARGUMENTS', asked, { args })];
  const needed = asked.min ?? wanted.needed;
  const { group } = asked;
  const members = group === undefined ? undefined : peopleOf(approvalGroups, group);
  if (group !== undefined && members === undefined) {
    const known = Object.keys(approvalGroups);
    const message = `expected a group of \`[approvals.groups]\` in \`.writ/config.toml\` at the policy commit, found \`${group}\``;
    return [failure('APPROVAL_GROUP_UNKNOWN', message, { group, known: known.slice(0, maxListed) })];
  }
  if (members && members.size < needed) {
    const message = `${needed} approvals are needed of \`${group}\`, which has ${members.size} members: they can never come`;
    return [failure('APPROVAL_GROUP_TOO_SMALL', message, { group, members: members.size, needed })];
  }
  const rejections = approvals.filter(({ status, decision }) => status === 'counts' && decision === 'reject');
  if (rejections.length > 0) return rejections.slice(0, maxListed).map((one) => toRejection(one, failure));
  const { roles } = wanted;
  const fitting = roles
    ? approvals.filter(({ role = '' }) => roles.includes(foldPrincipal(role)))
    : approvals;
  const approved = [...approversOf(fitting, members)];
  if (approved.length >= needed) return [];
  return [{ ...waiting(approved, { ...wanted, needed, group }, approvals), rule }];
}

function parseArguments(
  args: readonly string[],
): { readonly min?: number; readonly group?: string } | string {
  const given = new Map<string, string>();
  const words = args.flatMap((word) => /^(--[a-z]+)=(.*)$/s.exec(word)?.slice(1) ?? [word]);
  for (let at = 0; at < words.length; at += 2) {
    const [name = '', value] = words.slice(at, at + 2);
    if (name !== '--min' && name !== '--group')
      return `expected \`--min N\` and \`--group NAME\`, found \`${name.slice(0, 64)}\``;
    if (value === undefined || given.has(name)) return `expected \`${name}\` once, with a value`;
    given.set(name, value);
  }
  const min = given.get('--min');
  if (min !== undefined && !/^[1-9]\d?$/.test(min))
    return `expected \`--min\` to be a number from 1 to 99, found \`${min.slice(0, 64)}\``;
  const group = given.get('--group');
  return {
    ...(min === undefined ? {} : { min: Number(min) }),
    ...(group === undefined ? {} : { group }),
  };
}

function peopleOf(
  groups: Readonly<Record<string, readonly string[]>>,
  group: string,
): ReadonlySet<string> | undefined {
  const members = Object.hasOwn(groups, group) ? groups[group] : undefined;
  return members && new Set(members.map(foldPrincipal));
}

/** Principals as they signed, one for each person. */
function approversOf(
  approvals: readonly ApprovalVerdict[],
  members: ReadonlySet<string> | undefined,
): Iterable<string> {
  const people = new Map<string, string>();
  for (const { status, decision, principal } of approvals) {
    const person = foldPrincipal(principal);
    if (status !== 'counts' || decision !== 'approve' || person === '') continue;
    if (members === undefined || members.has(person)) people.set(person, people.get(person) ?? principal);
  }
  return people.values();
}

function waiting(
  approved: readonly string[],
  {
    needed,
    group,
    roles,
    why,
  }: { needed: number; group: string | undefined; roles?: readonly string[]; why?: string },
  approvals: readonly ApprovalVerdict[],
): Omit<Finding, 'rule'> {
  const others = approvals.filter(({ status }) => status !== 'counts');
  const of = group === undefined ? '' : ` of \`${group}\``;
  const as = roles?.[0] === undefined ? '' : ` in the role \`${roles[0]}\``;
  const reason = why === undefined ? '' : ` (${why})`;
  return {
    severity: 'note',
    message: `waits for approval${reason}: ${approved.length} of ${needed} people${of} approved${as}`,
    detail: {
      waiting: true,
      approved: approved.slice(0, maxListed),
      needed,
      ...(group === undefined ? {} : { group }),
      ...(roles === undefined ? {} : { roles }),
      uncounted: others
        .slice(0, maxListed)
        .map(({ source, status }) => ({ source: source.slice(0, 200), status })),
    },
  };
}

function toRejection(
  { principal, source, keyId, role, comment }: ApprovalVerdict,
  failure: (code: string, message: string, detail: Readonly<Record<string, unknown>>) => Finding,
): Finding {
  const why = comment === undefined ? '' : `: ${comment.slice(0, 500)}`;
  return failure('APPROVAL_REJECTED', `\`${principal}\` rejected the change${why}`, {
    principal,
    source,
    keyId,
    ...(role === undefined ? {} : { role }),
  });
}

/**
 * Returns the first required policy check in `releaseChecks` that runs one of these rules, or `undefined` if the spec
 * has none.
 */
export function reviewStep(
  { acceptance }: EffectiveIntentSpec,
  rules: readonly string[],
): { readonly id: string; readonly rule: string } | undefined {
  for (const { id, kind, required, command = '' } of acceptance.verificationPlan.releaseChecks) {
    const rule = policyWords(command)?.[0] ?? '';
    if (kind === 'policy' && required && rules.includes(rule)) return { id, rule };
  }
  return undefined;
}
