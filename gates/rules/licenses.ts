/* The rule `licenses`. */
import parse from 'spdx-expression-parse';
import type { Finding, Severity } from '../../core/interfaces/finding.ts';
import type { RuleFunction, RuleInput } from '../../core/interfaces/rule.ts';
import { spdxExceptionText, spdxIdText } from '../../core/interfaces/spdx-ids.gen.ts';
import { compareNumbers } from '../../readers/advisories/number-order.ts';
import type { LockedPackage } from '../../readers/packages/apply-manifests.ts';
import { applyManifests } from '../../readers/packages/apply-manifests.ts';
import { isDependencyFile } from '../../readers/packages/file-kind.ts';
import { toPurl } from '../../readers/packages/lock-builder.ts';
import { identityOf, isOwnDirectory } from '../../readers/packages/new-dependencies.ts';
import type { FileReading } from '../../readers/packages/reading.ts';
import { evaluateApprovals, reviewStep } from '../approvals/judge-approvals.ts';
import { type ComparedDependencies, comparedDependencies } from '../dependencies/compared-dependencies.ts';

interface SpdxLicense {
  readonly license: string;
  readonly plus?: true;
  readonly exception?: string;
}

/** A license, or two joined. */
type SpdxNode =
  | SpdxLicense
  | { readonly left: SpdxNode; readonly conjunction: 'and' | 'or'; readonly right: SpdxNode };

const maxLength = 1000;
/** Identifiers that SPDX replaced because they left open whether later versions are allowed. */
const unclear = /^((?:A|L)?GPL|GFDL)-\d+\.\d+$/;

/**
 * Parses an SPDX expression and replaces deprecated GNU identifiers. Returns `undefined` for any other text (`SEE
 * LICENSE IN …`, `UNLICENSED`, `NOASSERTION`, empty).
 */
export function parseLicense(text: string | undefined): SpdxNode | undefined {
  if (text === undefined || text.length > maxLength) return undefined;
  try {
    return renewed(parse(asListed(text)) as SpdxNode);
  } catch {
    return undefined;
  }
}

let listed: ReadonlyMap<string, string> | undefined;

/**
 * Identifiers of licenses and exceptions in the spelling of the SPDX lists. The parser compares them with case, SPDX
 * without (annex D.2).
 */
function asListed(text: string): string {
  listed ??= new Map(`${spdxIdText} ${spdxExceptionText}`.split(' ').map((id) => [id.toLowerCase(), id]));
  const ids = listed;
  return text
    .replace(/[A-Za-z0-9][A-Za-z0-9.-]*/g, (word) => ids.get(word.toLowerCase()) ?? word)
    .replace(/\blicenseref-/gi, 'LicenseRef-')
    .replace(/\bdocumentref-/gi, 'DocumentRef-');
}

function renewed(node: SpdxNode): SpdxNode {
  if ('conjunction' in node) return { ...node, left: renewed(node.left), right: renewed(node.right) };
  if (!unclear.test(node.license)) return node;
  const { plus, license, ...rest } = node;
  return { ...rest, license: `${license}${plus ? '-or-later' : '-only'}` };
}

/**
 * Whether a list of SPDX identifiers allows a license: every side of AND, any side of OR. A listed later version of
 * the same license satisfies `X+` and `X-or-later`. `X WITH E` requires exactly that text in the list, or both `X`
 * and `E`.
 */
export class AllowedLicenses {
  readonly #listed: ReadonlySet<string>;
  /** Versions by family, for "or later". */
  readonly #versions = new Map<string, readonly number[][]>();

  constructor(identifiers: Iterable<string>) {
    const listed = new Set<string>();
    for (const identifier of identifiers) {
      const node = parseLicense(identifier);
      const name = node && !('conjunction' in node) ? nameOf(node) : identifier;
      listed.add(name.toLowerCase());
      const [family, version] = versioned(name) ?? [];
      if (family !== undefined && version !== undefined)
        this.#versions.set(family, [...(this.#versions.get(family) ?? []), version]);
    }
    this.#listed = listed;
  }

  allows(node: SpdxNode): boolean {
    if ('conjunction' in node) {
      const left = this.allows(node.left);
      const right = this.allows(node.right);
      return node.conjunction === 'and' ? left && right : left || right;
    }
    if (this.#listed.has(nameOf(node).toLowerCase())) return true;
    const { exception, ...bare } = node;
    if (exception !== undefined) return this.#listed.has(exception.toLowerCase()) && this.allows(bare);
    const isOrLater = bare.plus === true || bare.license.endsWith('-or-later');
    const [family, from] = versioned(bare.license) ?? [];
    if (!isOrLater || family === undefined || from === undefined) return false;
    return (this.#versions.get(family) ?? []).some((version) => compareNumbers(version, from) >= 0);
  }
}

function nameOf({ license, plus, exception }: SpdxLicense): string {
  return `${license}${plus ? '+' : ''}${exception === undefined ? '' : ` WITH ${exception}`}`;
}

/** `GPL-2.0-or-later` → `gpl`, [2, 0]. */
function versioned(name: string): readonly [string, number[]] | undefined {
  const [, family, version] = /^([A-Za-z][\w.-]*?)-(\d+(?:\.\d+)*)(?:-only|-or-later|\+)?$/.exec(name) ?? [];
  return family === undefined || version === undefined
    ? undefined
    : [family.toLowerCase(), version.split('.').map(Number)];
}

/** Every identifier that an expression names, exceptions with what they except from. */
function identifiersOf(node: SpdxNode): readonly string[] {
  if ('conjunction' in node) return [...identifiersOf(node.left), ...identifiersOf(node.right)];
  return [nameOf(node)];
}

/** Returns the same key for expressions that differ only in order, case and brackets. */
export function licenseKey(text: string): string {
  const node = parseLicense(text);
  return node === undefined ? `? ${text.trim().toLowerCase()}` : keyOf(node);
}

function keyOf(node: SpdxNode): string {
  if (!('conjunction' in node)) return nameOf(node).toLowerCase();
  const parts = new Set<string>();
  const collect = (inner: SpdxNode): void => {
    if ('conjunction' in inner && inner.conjunction === node.conjunction) {
      collect(inner.left);
      collect(inner.right);
    } else parts.add(keyOf(inner));
  };
  collect(node);
  return parts.size === 1 ? [...parts].join('') : `(${[...parts].sort().join(` ${node.conjunction} `)})`;
}

/** The license of one package, as its sources state it. */
interface StatedLicense {
  /** The one that all agree on, or the config's word for this very version. */
  readonly license?: string;
  /** All of them, where they disagree. */
  readonly conflicting?: readonly string[];
}

/**
 * Licenses from lockfiles, vendored packages and `[licenses]` at base. The config's entry for a version overrides all
 * others; its entry for a package counts like the others. Without any statement the result is empty.
 */
class StatedLicenses {
  readonly #config: ReadonlyMap<string, unknown>;
  readonly #vendored = new Map<string, string[]>();
  readonly #locked = new Map<string, string[]>();

  constructor(readings: readonly FileReading[], packages: unknown) {
    const table =
      typeof packages === 'object' && packages !== null && !Array.isArray(packages) ? packages : {};
    this.#config = new Map(Object.entries(table));
    for (const { kind, licenses, locked } of readings) {
      for (const [key, license] of licenses ?? []) add(this.#vendored, `${kind.ecosystem} ${key}`, license);
      for (const { ecosystem, name, version, license } of locked)
        if (license !== undefined) add(this.#locked, `${ecosystem} ${name}@${version}`, license);
    }
  }

  of({ ecosystem, name, version }: Pick<LockedPackage, 'ecosystem' | 'name' | 'version'>): StatedLicense {
    const exact = version === '' ? undefined : this.#config.get(toPurl({ ecosystem, name, version }));
    if (typeof exact === 'string') return { license: exact };
    const general = this.#config.get(toPurl({ ecosystem, name, version: '' }));
    const key = `${ecosystem} ${name}`;
    const said = [
      ...(typeof general === 'string' ? [general] : []),
      ...(this.#locked.get(`${key}@${version}`) ?? []),
      ...(this.#vendored.get(`${key}@${version}`) ?? this.#vendored.get(key) ?? []),
    ];
    const different = new Map(said.map((license) => [licenseKey(license), license]));
    const [first] = said;
    if (first === undefined) return {};
    return different.size > 1 ? { conflicting: [...different.values()].slice(0, 5) } : { license: first };
  }
}

function add(map: Map<string, string[]>, key: string, license: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [license]);
  else if (known.length < 20 && !known.includes(license)) known.push(license);
}

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
