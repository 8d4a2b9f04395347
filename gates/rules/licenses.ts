import type { Finding } from '../../core/contract/finding.ts';
import type { RuleFunction, RuleInput } from '../../core/contract/rule.ts';
import { identifiersOf, isAllowed, parseLicense, toLicenseSet } from '../npm/license-expression.ts';
import { lineOfKey } from '../npm/line-of.ts';
import { type NpmSide, npmChanges } from '../npm/npm-changes.ts';

const rule = 'licenses';
const maxFindings = 200;

type Judged = {
  readonly path: string;
  readonly key: string;
  readonly name: string;
  readonly version: string;
  readonly license?: unknown;
};

/**
 * Licences of new npm packages, as the lockfile states them, against `allowedSpdx` and `forbidNewLicenses`; an upgrade counts where its
 * licence changes. A licence that is missing or no SPDX expression is an error, never a pass. Under `forbidNewLicenses` a licence that the
 * base lockfile does not hold is an error, as no licence review can be given yet.
 */
export const judge: RuleFunction = (input) => {
  const { allowedSpdx, forbidNewLicenses } = input.spec.constraints.licensing;
  if (allowedSpdx.length === 0 && !forbidNewLicenses) return [];
  const { base, candidate, faults } = npmChanges(input);
  const findings: Finding[] = faults.map(({ path, fault }) => ({
    rule,
    severity: 'error',
    message: `licences of \`${path}\` cannot be read: ${fault}`,
    path,
  }));
  const allowed = toLicenseSet(allowedSpdx);
  const inBase = toLicenseSet(base.locked.flatMap(({ license }) => identifiersIn(license)));
  for (const one of newPackages(base, candidate)) {
    const node = parseLicense(one.license);
    const detail = {
      name: one.name,
      version: one.version,
      license: typeof one.license === 'string' ? one.license.slice(0, 200) : null,
    };
    const add = (message: string, code: string): void => {
      const line = lineOfKey(input as RuleInput, one.path, one.key);
      findings.push({
        rule,
        severity: 'error',
        message,
        path: one.path,
        ...(line === undefined ? {} : { line }),
        detail: { ...detail, code },
      });
    };
    if (!node)
      add(
        `the licence of \`${one.name}\` is unknown: the lockfile gives ${detail.license === null ? 'none' : `\`${detail.license}\``}`,
        'unknown',
      );
    else if (allowed.size > 0 && !isAllowed(node, allowed))
      add(`\`${one.name}\` is under \`${detail.license}\`, which allowedSpdx does not list`, 'not-allowed');
    else if (forbidNewLicenses && !isAllowed(node, inBase)) {
      add(
        `\`${one.name}\` brings the licence \`${detail.license}\`; forbidNewLicenses wants a licence review, and reviews are not taken yet`,
        'new-license',
      );
    }
  }
  if (findings.length <= maxFindings) return findings;
  return [
    ...findings.slice(0, maxFindings),
    { rule, severity: 'error', message: `${findings.length - maxFindings} more findings are not listed` },
  ];
};

/** Packages to judge: locked ones that are new by name, or changed their licence; declared ones that no lockfile of the patch holds. */
function newPackages(base: NpmSide, candidate: NpmSide): readonly Judged[] {
  const licencesAtBase = new Map<string, Set<string>>();
  for (const { source, license } of base.locked) {
    const known = licencesAtBase.get(source.id) ?? new Set();
    known.add(JSON.stringify(license ?? null));
    licencesAtBase.set(source.id, known);
  }
  const seen = new Set<string>();
  const judged: Judged[] = [];
  for (const one of candidate.locked) {
    if (licencesAtBase.get(one.source.id)?.has(JSON.stringify(one.license ?? null))) continue;
    const identity = `${one.source.id}@${one.version} ${JSON.stringify(one.license ?? null)}`;
    if (seen.has(identity)) continue;
    seen.add(identity);
    judged.push({
      path: one.path,
      key: one.location,
      name: one.name,
      version: one.version,
      license: one.license,
    });
  }
  const locked = new Set(candidate.locked.map(({ source }) => source.id));
  for (const { source, key, path, spec } of candidate.declared) {
    if (source.kind === 'local' || locked.has(source.id) || base.sourceIds.has(source.id)) continue;
    // A git source is locked under its resolved address.
    if (
      source.kind !== 'registry' &&
      candidate.locked.some(({ name, source: other }) => name === key && other.kind === source.kind)
    )
      continue;
    judged.push({ path, key, name: source.name ?? key, version: spec });
  }
  return judged;
}

function identifiersIn(license: unknown): readonly string[] {
  const node = parseLicense(license);
  return node ? identifiersOf(node) : [];
}
