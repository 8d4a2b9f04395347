/* The rule `new-dependency`. */
import type { Finding, Severity } from '../../core/interfaces/finding.ts';
import type { RuleFunction, RuleInput } from '../../core/interfaces/rule.ts';
import { fileKind } from '../../readers/packages/file-kind.ts';
import { lockfileDrift, lostLockfiles } from '../../readers/packages/lockfile-drift.ts';
import {
  type ChangedHash,
  changedHashes,
  type NewDependency,
  newDependencies,
} from '../../readers/packages/new-dependencies.ts';
import { directoryOf, type FileReading, stated } from '../../readers/packages/reading.ts';
import type { PackageSource } from '../../readers/packages/sources/package-source.ts';
import { evaluateApprovals, reviewStep } from '../approvals/judge-approvals.ts';
import { type ComparedDependencies, comparedDependencies } from '../dependencies/compared-dependencies.ts';

/** A choice of where packages come from that the candidate makes otherwise than the base. */
interface ChangedSource {
  readonly path: string;
  readonly line?: number;
  readonly key: string;
  /** Absent if the file chose no source, so that the tool used its default. */
  readonly was?: string;
  readonly is?: string;
}

/**
 * Returns the sources that a file newly names or no longer names. Order, format and credentials do not count. The
 * tool's default source counts only if it replaces another one. In a new file, a source that the base already names
 * for the same scope is not new. A deleted file counts only if dependency files in its scope still exist.
 */
export function changedSources(
  base: readonly FileReading[],
  candidate: readonly FileReading[],
): readonly ChangedSource[] {
  const before = new Map(base.map((reading) => [reading.path, reading]));
  const after = new Set(candidate.map(({ path }) => path));
  const known = new Map<string, string[]>();
  for (const { path, kind, sources } of base)
    for (const source of sources) {
      const id = `${kind.ecosystem} ${source.key} ${source.value}`;
      known.set(id, [...(known.get(id) ?? []).slice(0, 100), path]);
    }
  const isKnown = ({ path, kind }: FileReading, { key, value }: PackageSource): boolean => {
    const said = known.get(`${kind.ecosystem} ${key} ${value}`) ?? [];
    if (kind.role !== 'config') return said.length > 0;
    const place = realm(path);
    if (!speaksFor(place, kind.ecosystem, base)) return said.length > 0;
    return said.some((other) => isWithin(place, realm(other)));
  };
  const changes: ChangedSource[] = [];
  for (const reading of candidate) {
    const old = before.get(reading.path);
    if (old === reading) continue;
    if (old) changes.push(...compare(old, reading));
    else
      changes.push(
        ...compare(
          { ...reading, sources: [] },
          {
            ...reading,
            sources: reading.sources.filter((source) => !isKnown(reading, source)),
          },
        ),
      );
  }
  for (const reading of base) {
    if (reading.kind.role !== 'config' || after.has(reading.path)) continue;
    if (speaksFor(realm(reading.path), reading.kind.ecosystem, candidate))
      changes.push(...compare(reading, { ...reading, sources: [] }));
  }
  return changes;
}

/**
 * The directory below which a configuration file holds: that of the project, not `.cargo`, `.mvn` or `gradle/wrapper`.
 */
function realm(path: string): string {
  return directoryOf(path).replace(/(?:^|\/)(?:\.mvn\/wrapper|gradle\/wrapper|\.[\w-]+)$/, '');
}

function isWithin(directory: string, outer: string): boolean {
  return outer === '' || directory === outer || directory.startsWith(`${outer}/`);
}

function speaksFor(place: string, ecosystem: string, readings: readonly FileReading[]): boolean {
  return readings.some(
    ({ path, kind }) =>
      (kind.role === 'manifest' || kind.role === 'lockfile' || kind.role === 'unread') &&
      kind.ecosystem === ecosystem &&
      isWithin(directoryOf(path), place),
  );
}

function compare(old: FileReading, now: FileReading): readonly ChangedSource[] {
  const { path, kind } = now;
  const gone = missingIn(now, old);
  const come = missingIn(old, now);
  const changes: ChangedSource[] = [];
  const lost = new Map<string, PackageSource[]>();
  // Entries missing from a broken file are unknown, not removed; the fault itself is reported elsewhere.
  for (const source of now.problems.length > 0 && kind.role !== 'unread' ? [] : gone)
    lost.set(source.key, [...(lost.get(source.key) ?? []), source]);
  for (const { key, value, line, counts } of come) {
    const instead = lost.get(key)?.shift();
    if (counts === 'lost' && instead === undefined) continue;
    changes.push(stated({ path, key, is: value, was: instead?.value, line }));
  }
  for (const sources of lost.values())
    for (const { key, value, counts } of sources)
      if (counts !== 'added') changes.push({ path, key, was: value });
  return changes;
}

/** Sources of `right` that `left` does not name, each once. */
function missingIn(left: FileReading, right: FileReading): readonly PackageSource[] {
  const said = new Set(left.sources.map(({ key, value }) => `${key} ${value}`));
  const group = (key: string): string => (right.kind.ecosystem === 'pypi' ? '' : key);
  const placed = new Set(left.sources.filter(({ isDefault }) => !isDefault).map(({ key }) => group(key)));
  return right.sources.filter(({ key, value, isDefault }) => {
    const id = `${key} ${value}`;
    if (said.has(id)) return false;
    said.add(id);
    return !isDefault || placed.has(group(key));
  });
}

const rule = 'new-dependency';
const maxFindings = 200;

/**
 * Compares the dependencies of all manifests and lockfiles, base to candidate. New dependencies:
 * `readers/packages/new-dependencies.ts`. Changed sources: `readers/packages/sources/package-source.ts`. Hashes that
 * pin a version are compared too.
 *
 * - `no-new`: every new one is an error.
 * - `allow-with-review`: an error unless the spec requires an `sca-report` and an approval. As a policy check in
 *   `releaseChecks` (`new-dependency [--min N] [--group G]`) the rule waits for that approval.
 * - `allow`: a note.
 *
 * A manifest that differs from its lockfile and an unreadable file are errors; under `allow` only if the dependencies
 * cannot be read reliably. A lockfile entry that fetches another package than it names is an error under every
 * policy.
 */
export const judge: RuleFunction = (input) => {
  const policy = input.spec.constraints.security.dependencyPolicy;
  const compared = comparedDependencies(input, (path) => fileKind(path) !== undefined);
  const news = newDependencies(compared.base, compared.candidate);
  const sources = changedSources(compared.base, compared.candidate);
  const hashes = changedHashes(compared.base, compared.candidate);
  const review =
    policy === 'allow-with-review' && news.length + sources.length + hashes.length > 0
      ? reviewOf(input, news.length, sources.length + hashes.length)
      : undefined;
  const severity: Severity = policy === 'allow' ? 'note' : review?.isPossible ? 'warning' : 'error';
  const findings = [
    ...unread(compared, policy),
    ...foreignFiles(compared),
    ...drifted(compared, input, policy),
    ...sources.map((one) => sourceFinding(one, policy, severity, review)),
    ...hashes.map((one) => hashFinding(one, policy, severity, review)),
    ...news.map((one) => toFinding(one, policy, severity, review)),
  ];
  const told = findings.length <= maxFindings ? findings : cut(findings);
  return review?.isPossible ? [...told, ...review.asked] : told;
};

/** Without dependency files the rule parses no file. */
export const isLinear = ({ files }: RuleInput): boolean => Object.keys(files).length === 0;

function unread({ problems, notes, candidate }: ComparedDependencies, policy: string): readonly Finding[] {
  const mild = new Set(
    candidate.flatMap(({ path, kind }) =>
      kind.role === 'unread' || kind.role === 'config' || kind.id === 'setup.py' ? [path] : [],
    ),
  );
  return [
    ...problems.map(({ path, reason }): Finding => {
      const isMild = policy === 'allow' && mild.has(path);
      const message = `dependencies of \`${path}\` cannot be compared: ${reason}`;
      return { rule, severity: isMild ? 'note' : 'error', message, path, detail: { policy } };
    }),
    ...notes.map(({ path, reason }): Finding => {
      return {
        rule,
        severity: 'note',
        message: `\`${path}\` is read as far as its text goes: ${reason}`,
        path,
      };
    }),
  ];
}

/** Lockfile entries with a URL that serves the files of another package. */
function foreignFiles({ base, candidate }: ComparedDependencies): readonly Finding[] {
  const known = new Set(
    base.flatMap(({ locked }) => locked.map(({ name, resolvedAs }) => `${name} ${resolvedAs}`)),
  );
  return candidate.flatMap(({ locked }) =>
    locked.flatMap(({ name, resolvedAs, declaredIn, line }): Finding[] => {
      if (resolvedAs === undefined || known.has(`${name} ${resolvedAs}`)) return [];
      const message = `\`${name}\` is locked to the files of another package: \`${resolvedAs}\``;
      return [
        { rule, severity: 'error', message, path: declaredIn, ...lineOf(line), detail: { name, resolvedAs } },
      ];
    }),
  );
}

function drifted(
  { base, candidate }: ComparedDependencies,
  { patch }: RuleInput,
  policy: string,
): readonly Finding[] {
  const severity: Severity = policy === 'allow' ? 'warning' : 'error';
  const changed = new Set(patch.files.map(({ path }) => path));
  const before = new Set(lockfileDrift(base).map(({ path, name, found }) => `${path} ${name} ${found}`));
  const drift = lockfileDrift(candidate).filter(
    ({ path, lockfile, name, found }) =>
      (changed.has(path) || changed.has(lockfile)) && !before.has(`${path} ${name} ${found}`),
  );
  return [
    ...drift.map(({ path, lockfile, name, expected, found, line }): Finding => {
      const has = found === undefined || found === 'nothing' ? 'does not hold it' : `has \`${found}\``;
      const message = `\`${path}\` asks for \`${name}\` \`${expected}\`, and \`${lockfile}\` ${has}: update the lockfile with the manifest`;
      const detail = { code: 'LOCKFILE_BEHIND', name, expected, found: found ?? null, lockfile, policy };
      return { rule, severity, message, path, ...lineOf(line), detail };
    }),
    ...lostLockfiles(base, candidate).map((path): Finding => {
      const message = `the lockfile \`${path}\` is gone and its manifest is still there: versions are no longer fixed`;
      return { rule, severity, message, path, detail: { code: 'LOCKFILE_LOST', policy } };
    }),
  ];
}

interface Review {
  readonly isPossible: boolean;
  readonly lacks: readonly string[];
  readonly asked: readonly Finding[];
}

/** The requirements of `allow-with-review`, and which of them the spec meets. */
function reviewOf(input: RuleInput, count: number, others: number): Review {
  const { spec, stage, artifacts } = input;
  const isReported = spec.artifacts.required.some(({ name, required }) => name === 'sca-report' && required);
  const isApproved =
    spec.risk.humanInLoop.required || reviewStep(spec, [rule, 'require-approvers']) !== undefined;
  const lacks = [
    ...(isReported ? [] : ['a required `sca-report` among the artifacts']),
    ...(isApproved
      ? []
      : ['an approval (`humanInLoop.required`, or a policy check `new-dependency` in releaseChecks)']),
  ];
  if (lacks.length > 0) return { isPossible: false, lacks, asked: [] };
  if (stage?.name !== 'release') return { isPossible: true, lacks, asked: [] };
  if (!artifacts.some(({ name }) => name === 'sca-report'))
    return { isPossible: false, lacks: ['the `sca-report`, which nothing made'], asked: [] };
  const needed = Math.max(1, spec.risk.humanInLoop.minApprovers);
  const why = [
    ...(count > 0 ? [`${count} new ${count === 1 ? 'dependency' : 'dependencies'}`] : []),
    ...(others > 0 ? [`${others} ${others === 1 ? 'change' : 'changes'} of where packages come from`] : []),
  ].join(' and ');
  return { isPossible: true, lacks, asked: evaluateApprovals(rule, input, { needed, why }) };
}

function toFinding(
  one: NewDependency,
  policy: string,
  severity: Severity,
  review: Review | undefined,
): Finding {
  const { ecosystem, name, relation, through, path, line, version, requirement, field, source } = one;
  return {
    rule,
    severity,
    message: `${sentence(one)}${wanted(policy, review)}`,
    path,
    ...lineOf(line),
    detail: {
      ecosystem,
      name,
      ...(version === undefined ? {} : { version }),
      relation,
      ...(through.length > 0 ? { through } : {}),
      ...(field === undefined ? {} : { field }),
      ...(requirement === undefined ? {} : { requirement }),
      source,
      ...(one.origin === undefined || (source === 'registry' && relation !== 'moved')
        ? {}
        : { origin: one.origin }),
      policy,
    },
  };
}

/** The end of a message: the consequence of the policy. */
function wanted(policy: string, review: Review | undefined): string {
  if (policy === 'no-new') return '; the spec allows none';
  if (review === undefined) return '';
  return review.isPossible
    ? '; a person reviews it before the change is committed'
    : `; \`allow-with-review\` wants ${review.lacks.join(' and ')}`;
}

function sourceFinding(
  { path, line, key, was, is }: ChangedSource,
  policy: string,
  severity: Severity,
  review: Review | undefined,
): Finding {
  const now = is === undefined ? 'no longer set' : `now \`${is}\``;
  const before = was === undefined ? 'was not set' : `was \`${was}\``;
  const message = `packages come from elsewhere or unchecked: \`${key}\` is ${now}, and ${before}${wanted(policy, review)}`;
  const detail = { code: 'SOURCE_CHANGED', key, was: was ?? null, is: is ?? null, policy };
  return { rule, severity, message, path, ...lineOf(line), detail };
}

function hashFinding(
  { path, line, name, version, is }: ChangedHash,
  policy: string,
  severity: Severity,
  review: Review | undefined,
): Finding {
  const has = is === 'gone' ? 'lost its hash' : 'has another hash';
  const message = `\`${name}\` is still \`${version}\` and ${has}${wanted(policy, review)}`;
  const detail = { code: is === 'gone' ? 'HASH_LOST' : 'HASH_CHANGED', name, version, policy };
  return { rule, severity, message, path, ...lineOf(line), detail };
}

function sentence({ name, relation, through, field, alias, source, origin }: NewDependency): string {
  const as = alias === undefined ? '' : ` as \`${alias}\``;
  const from = source === 'registry' || source === undefined ? '' : ` from ${source} \`${origin ?? ''}\``;
  if (relation === 'moved') return `\`${name}\` is now fetched from \`${origin}\``;
  if (relation === 'unrequested') return `\`${name}\`${from} is new in the lockfile, and nothing asks for it`;
  if (relation === 'direct')
    return `\`${name}\`${as}${from} is a new direct dependency${field === undefined ? '' : ` (${field})`}`;
  const by = through.map((asker) => `\`${asker}\``).join(', ');
  return `\`${name}\`${from} is a new transitive dependency${by === '' ? '' : ` through ${by}`}`;
}

function lineOf(line: number | undefined): { readonly line?: number } {
  return line === undefined ? {} : { line };
}

/** Keeps the errors first if the list is cut. */
function cut(findings: readonly Finding[]): readonly Finding[] {
  const errors = findings.filter(({ severity }) => severity === 'error');
  const ordered = [...errors, ...findings.filter(({ severity }) => severity !== 'error')];
  const severity: Severity = errors.length > 0 ? 'error' : 'note';
  const message = `${findings.length - maxFindings} more findings are not listed`;
  return [...ordered.slice(0, maxFindings), { rule, severity, message }];
}
