/* The rule `licenses`. */
import type { Finding, Severity } from '../../core/interfaces/finding.ts';
import type { RuleFunction, RuleInput } from '../../core/interfaces/rule.ts';
import { applyManifests } from '../../readers/packages/apply-manifests.ts';
import { isDependencyFile } from '../../readers/packages/file-kind.ts';
import { identityOf, isOwnDirectory } from '../../readers/packages/new-dependencies.ts';
import type { LockedPackage } from '../../readers/packages/package-set.ts';
import { evaluateApprovals, reviewStep } from '../approvals/judge-approvals.ts';
import { type ComparedDependencies, comparedDependencies } from '../dependencies/compared-dependencies.ts';
import {
  AllowedLicenses,
  identifiersOf,
  licenseKey,
  parseLicense,
  type SpdxNode,
  type StatedLicense,
  StatedLicenses,
} from '../licenses/spdx-expression.ts';

const rule = 'licenses';
const maxFindings = 200;
const reviewRoles = ['license-review', 'licence-review'];

/** What the packages of the base are under. */
interface KnownLicenses {
  /** Licenses that certainly apply to packages of the base. */
  readonly taken: AllowedLicenses;
  /** Whole expressions, by key. */
  readonly texts: ReadonlySet<string>;
}

type Verdict = 'allowed' | 'forbidden' | 'unknown' | 'conflicting' | 'new';

/**
 * Evaluates licenses of new packages against `allowedSpdx` and `forbidNewLicenses`. An upgrade counts if its license
 * changes. A forbidden, unknown or conflicting license is an error.
 *
 * Under `forbidNewLicenses`, a license that no package of the base has is an error. Without `allowedSpdx`, an unknown
 * license counts as such. If `releaseChecks` run `licenses [--min N] [--group G]`, the rule waits there for an
 * approval in the role `license-review` instead.
 */
export const judge: RuleFunction = (input) => {
  const { allowedSpdx, forbidNewLicenses } = input.spec.constraints.licensing;
  if (allowedSpdx.length === 0 && !forbidNewLicenses) return [];
  const compared = comparedDependencies(input, isDependencyFile);
  const step = reviewStep(input.spec, [rule]);
  const before = applyManifests(compared.base);
  const stated = new StatedLicenses(compared.candidate, input.options.packages);
  const statedBefore = new StatedLicenses(compared.base, input.options.packages);
  const allowed = new AllowedLicenses(allowedSpdx);
  const licensesBefore = before.flatMap((one) => statedBefore.of(one).license ?? []);
  const known: KnownLicenses = {
    taken: new AllowedLicenses(
      licensesBefore.flatMap((text) =>
        takenFrom(parseLicense(text), allowedSpdx.length > 0 ? allowed : undefined),
      ),
    ),
    texts: new Set(licensesBefore.map(licenseKey)),
  };
  const findings: Finding[] = unread(compared);
  let reviews = 0;
  for (const one of toJudge(before, compared, statedBefore, stated)) {
    const said = stated.of(one);
    const verdict = verdictOf(said, {
      allowed,
      isLimited: allowedSpdx.length > 0,
      known,
      forbidNewLicenses,
    });
    if (verdict === 'allowed') continue;
    if (verdict === 'new') reviews += 1;
    findings.push(
      toFinding(one, said, verdict, verdict === 'new' && step !== undefined ? 'warning' : 'error'),
    );
  }
  const asked = reviews > 0 && step && input.stage?.name === 'release' ? review(input, reviews) : [];
  if (findings.length <= maxFindings) return [...findings, ...asked];
  const severity = findings.some((finding) => finding.severity === 'error') ? 'error' : 'warning';
  const rest = `${findings.length - maxFindings} more findings are not listed`;
  const first = [...findings].sort(
    (left, right) => Number(right.severity === 'error') - Number(left.severity === 'error'),
  );
  return [...first.slice(0, maxFindings), { rule, severity, message: rest }, ...asked];
};

/** Without dependency files the rule parses no file. */
export const isLinear = ({ files }: RuleInput): boolean => Object.keys(files).length === 0;

function unread({ problems, candidate }: ComparedDependencies): Finding[] {
  const kinds = new Map(candidate.map(({ path, kind }) => [path, kind.role]));
  // A file that only configures package sources states no license.
  return problems
    .filter(({ path }) => kinds.get(path) !== 'config')
    .map(({ path, reason }): Finding => {
      const message = `licenses of \`${path}\` cannot be read: ${reason}`;
      return { rule, severity: 'error', message, path, detail: { role: kinds.get(path) ?? null } };
    });
}

/** Packages that are new, or have another license than at base, each once. */
function toJudge(
  before: readonly LockedPackage[],
  { candidate }: ComparedDependencies,
  statedBefore: StatedLicenses,
  stated: StatedLicenses,
): readonly LockedPackage[] {
  const known = new Map<string, Set<string>>();
  const word = ({ license, conflicting }: StatedLicense): string =>
    JSON.stringify([license ?? null, conflicting ?? null]);
  for (const one of before) {
    const id = identityOf(one);
    const words = known.get(id);
    if (words === undefined) known.set(id, new Set([word(statedBefore.of(one))]));
    else words.add(word(statedBefore.of(one)));
  }
  const seen = new Set<string>();
  return applyManifests(candidate).filter((one) => {
    if (isOwnDirectory(one)) return false;
    const said = word(stated.of(one));
    if (known.get(identityOf(one))?.has(said)) return false;
    const key = `${identityOf(one)} ${one.version} ${said}`;
    return seen.has(key) ? false : seen.add(key);
  });
}

function verdictOf(
  { license, conflicting }: StatedLicense,
  ground: {
    readonly allowed: AllowedLicenses;
    readonly isLimited: boolean;
    readonly known: KnownLicenses;
    readonly forbidNewLicenses: boolean;
  },
): Verdict {
  if (conflicting !== undefined) return 'conflicting';
  const node = parseLicense(license);
  if (node === undefined) return ground.isLimited ? 'unknown' : 'new';
  if (ground.isLimited && !ground.allowed.allows(node)) return 'forbidden';
  const isKnown = ground.known.taken.allows(node) || ground.known.texts.has(licenseKey(license ?? ''));
  return ground.forbidNewLicenses && !isKnown ? 'new' : 'allowed';
}

const codes: Readonly<Record<Verdict, string>> = {
  allowed: '',
  forbidden: 'not-allowed',
  unknown: 'unknown',
  conflicting: 'conflicting',
  new: 'new-license',
};

function toFinding(one: LockedPackage, said: StatedLicense, verdict: Verdict, severity: Severity): Finding {
  const { ecosystem, name, version, declaredIn, line, purl } = one;
  const license = said.license?.slice(0, 200);
  const has = license === undefined ? 'no license' : `\`${license}\``;
  const messages: Readonly<Record<Verdict, string>> = {
    allowed: '',
    forbidden: `\`${name}\` is under ${has}, which allowedSpdx does not allow`,
    unknown: `the license of \`${name}\` is unknown: its files give ${license === undefined ? 'none' : has}; say it in \`[licenses]\` of \`.writ/config.toml\` at the policy commit`,
    conflicting: `the license of \`${name}\` is stated in different ways: ${(said.conflicting ?? []).map((text) => `\`${text.slice(0, 200)}\``).join(', ')}`,
    new: `\`${name}\` brings ${license === undefined ? 'an unknown license' : `the license ${has}, which no package of the base has`}; ${
      severity === 'error'
        ? 'forbidNewLicenses wants a policy check `licenses` in releaseChecks'
        : 'a person reviews it before the change is committed'
    }`,
  };
  return {
    rule,
    severity,
    message: messages[verdict],
    path: declaredIn,
    ...(line === undefined ? {} : { line }),
    detail: { code: codes[verdict], ecosystem, name, version, license: license ?? null, purl },
  };
}

function review(input: RuleInput, count: number): readonly Finding[] {
  const why = `${count} new ${count === 1 ? 'license' : 'licenses'}`;
  return evaluateApprovals(rule, input, { needed: 1, roles: reviewRoles, why });
}

/**
 * Licenses that certainly apply to a package of the base: every side of AND; of OR only the allowed sides, none
 * without `allowedSpdx`.
 */
function takenFrom(node: SpdxNode | undefined, allowed: AllowedLicenses | undefined): readonly string[] {
  if (node === undefined) return [];
  if (!('conjunction' in node)) return identifiersOf(node);
  const sides = [node.left, node.right];
  if (node.conjunction === 'and') return sides.flatMap((side) => takenFrom(side, allowed));
  return sides.filter((side) => allowed?.allows(side)).flatMap((side) => takenFrom(side, allowed));
}
