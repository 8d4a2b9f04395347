/* The rule `sca`. */
import type { Finding, Severity } from '../../core/interfaces/finding.ts';
import type { RuleFunction } from '../../core/interfaces/rule.ts';
import {
  type AdvisorySeverity,
  reaches,
  readSeverityWord,
  worstSeverity,
} from '../../readers/advisories/advisory.ts';
import { ignoredBy, readScaOptions, type ScaOptions } from '../../readers/advisories/sca-options.ts';
import {
  baselineProperty,
  componentsByRef,
  cyclonedxFault,
  isObject,
  isText,
  type JsonObject,
  propertyOf,
} from '../formats/documents.ts';
import { evaluateDocuments } from '../formats/matches-format.ts';
import { plainLine } from '../reports/test-report.ts';

const rule = 'sca';
const artifact = 'sca-report';
const expected = 'JSON: CycloneDX with `vulnerabilities`, or a report of another tool';
const maxFindings = 200;
const maxVulnerabilities = 100_000;

/**
 * `sca-report` must exist. A CycloneDX report must not list a vulnerability of at least `[rules.sca] fail_on`.
 *
 * - An unrated vulnerability counts.
 * - A vulnerability that the config at the policy commit ignores is listed as suppressed.
 * - A vulnerability of a scanner's report that the base has too is a note.
 * - A vulnerability that the report itself marks as harmless still counts, because the change may contain the
 *   report.
 *
 * A report in another format is not evaluated; a note reports that.
 */
export const judge: RuleFunction = (input) => {
  const options = readScaOptions(input.options);
  if ('problems' in options)
    return options.problems.map((problem) => ({
      rule,
      severity: 'error',
      message: `\`[rules.sca]\` in \`.writ/config.toml\` at the policy commit is wrong: ${problem}`,
    }));
  return evaluateDocuments(
    {
      rule,
      artifact,
      expected,
      judge: (value, path, isOurs) => judgeReport(value, { path, isOurs, options }),
    },
    input,
  );
};

function judgeReport(value: unknown, given: GivenReport): readonly Finding[] {
  const { path } = given;
  if (typeof value !== 'object' || value === null) {
    const found = value === null ? 'null' : `a ${typeof value}`;
    return [
      {
        rule,
        severity: 'error',
        message: `expected \`${artifact}\` to be ${expected}, found ${found}`,
        path,
        detail: { artifact, expected, found },
      },
    ];
  }
  if (!isObject(value) || value.bomFormat === undefined) {
    const message = `\`${artifact}\` is JSON of a form that is not evaluated: only its presence is known`;
    return [{ rule, severity: 'note', message, path, detail: { artifact, expected } }];
  }
  const fault = cyclonedxFault(value) ?? listFault(value.vulnerabilities);
  if (fault !== undefined) {
    const message = `expected \`${artifact}\` to be ${expected}, found ${fault}`;
    return [{ rule, severity: 'error', message, path, detail: { artifact, expected, found: fault } }];
  }
  const listed = (Array.isArray(value.vulnerabilities) ? value.vulnerabilities : []).filter(isObject);
  const view: ReportView = { ...given, ...contextOf(value) };
  const findings = [...judgeDatabase(value, view), ...listed.map((one) => judgeVulnerability(one, view))];
  return findings.length <= maxFindings ? findings : cut(findings, path);
}

interface GivenReport {
  readonly path: string;
  /** No check made it: what it states about the base is true. */
  readonly isOurs: boolean;
  readonly options: ScaOptions;
}

interface ReportView extends GivenReport {
  /** When the report was made; `undefined` if it has no date. */
  readonly nowMs: number | undefined;
  readonly components: ReadonlyMap<string, JsonObject>;
}

function contextOf(document: JsonObject): Pick<ReportView, 'nowMs' | 'components'> {
  const { timestamp } = isObject(document.metadata) ? document.metadata : {};
  const nowMs = isText(timestamp) ? Date.parse(timestamp) : Number.NaN;
  return { nowMs: Number.isNaN(nowMs) ? undefined : nowMs, components: componentsByRef(document) };
}

/** A document without the list is a bill of materials: it does not show that anyone looked up vulnerabilities. */
function listFault(vulnerabilities: unknown): string | undefined {
  if (vulnerabilities === undefined) return 'CycloneDX without `vulnerabilities`: nothing was looked up';
  if (!Array.isArray(vulnerabilities)) return '`vulnerabilities` that are no list';
  if (vulnerabilities.length > maxVulnerabilities)
    return `more than ${maxVulnerabilities} \`vulnerabilities\``;
  const bad = vulnerabilities.findIndex(
    (one) => !isObject(one) || !isText(one.id) || (one.ratings !== undefined && !Array.isArray(one.ratings)),
  );
  return bad === -1
    ? undefined
    : `no \`id\`, or \`ratings\` that are no list, in \`vulnerabilities[${bad}]\``;
}

/** Evaluates the database as writ's own report describes it: its age, and whether it covers the ecosystems. */
function judgeDatabase(document: JsonObject, { path, options, nowMs }: ReportView): readonly Finding[] {
  const { metadata } = document;
  const newest = propertyOf(metadata, 'writ:advisories:newest');
  if (newest === undefined) return [];
  const findings: Finding[] = [];
  for (const [ecosystem, count] of ecosystemsOf(metadata))
    if (propertyOf(metadata, `writ:advisories:${ecosystem}`) === '0')
      findings.push({
        rule,
        severity: 'error',
        message: `${count} packages of \`${ecosystem}\` were looked up among no advisories: import those of that ecosystem (\`writ sca import FILE\`)`,
        path,
        detail: { artifact, ecosystem },
      });
  if (propertyOf(metadata, 'writ:packages') === '0')
    findings.push({
      rule,
      severity: 'note',
      message: 'the candidate names no package: nothing was looked up',
      path,
    });
  const days = Math.floor(((nowMs ?? Number.NaN) - Date.parse(newest)) / 86_400_000);
  if (!(days <= options.maxAgeDays))
    findings.push({
      rule,
      severity: 'warning',
      message: `the newest advisory was ${Number.isNaN(days) ? 'at an unknown time' : `${days} days old`}, expected at most ${options.maxAgeDays}: import a newer export (\`writ sca import FILE\`)`,
      path,
      detail: { artifact, newest, expected: options.maxAgeDays },
    });
  return findings;
}

function ecosystemsOf(metadata: unknown): readonly (readonly [string, string])[] {
  const properties = isObject(metadata) && Array.isArray(metadata.properties) ? metadata.properties : [];
  return properties.flatMap((one): (readonly [string, string])[] => {
    const [, ecosystem] =
      isObject(one) && isText(one.name) ? (/^writ:packages:([a-z]+)$/.exec(one.name) ?? []) : [];
    return ecosystem !== undefined && isObject(one) && isText(one.value) ? [[ecosystem, one.value]] : [];
  });
}

function judgeVulnerability(vulnerability: JsonObject, view: ReportView): Finding {
  const { id, references, ratings, description, affects } = vulnerability;
  const name = plainLine(String(id), 200);
  const aliases = (Array.isArray(references) ? references : []).flatMap((one) =>
    isObject(one) && isText(one.id) ? [one.id] : [],
  );
  const level = severityOf(Array.isArray(ratings) ? ratings : []);
  const refs = (Array.isArray(affects) ? affects : []).flatMap((one) =>
    isObject(one) && isText(one.ref) ? [one.ref] : [],
  );
  const purls = refs.map((ref) => {
    const purl = view.components.get(ref)?.purl;
    return isText(purl) ? purl : ref;
  });
  const ignored = ignoredBy(view.options, [String(id), ...aliases], purls, view.nowMs);
  const isBad = reaches(level, view.options.failOn);
  const isOld = view.isOurs && propertyOf(vulnerability, baselineProperty) === 'unchanged';
  const severity: Severity = ignored?.isInForce || isOld ? 'note' : isBad ? 'error' : 'warning';
  const about = isText(description) ? `: ${plainLine(description, 200)}` : '';
  const isUnsure = !isAffected(affects);
  const where =
    purls.length === 0
      ? 'a package'
      : purls
          .slice(0, 3)
          .map((purl) => `\`${plainLine(purl, 200)}\``)
          .join(', ');
  const more = purls.length > 3 ? ` and ${purls.length - 3} more` : '';
  const state =
    ignored === undefined
      ? ''
      : ignored.isInForce
        ? ` (ignored until ${ignored.entry.until}: ${plainLine(ignored.entry.reason, 200)})`
        : ` (was ignored until ${ignored.entry.until}, which is past)`;
  const said = isUnsure ? 'may affect' : 'affects';
  const declared = refs.map((ref) => propertyOf(view.components.get(ref), 'writ:declared-in')).find(isText);
  return {
    rule,
    severity,
    message: `${name} (${level === 'unknown' ? 'not rated' : level}) ${said} ${where}${more}${about}${state}${isOld ? ' (the base has it, too)' : ''}`,
    path: declared === undefined ? view.path : plainLine(declared, 500),
    detail: {
      artifact,
      id: name,
      ...(aliases.length > 0 ? { aliases: aliases.slice(0, 10).map((alias) => plainLine(alias, 200)) } : {}),
      level,
      packages: purls.slice(0, 20).map((purl) => plainLine(purl, 500)),
      ...(isUnsure ? { certain: false } : {}),
      ...(isOld ? { baselineState: 'unchanged' } : {}),
      ...(ignored?.isInForce
        ? {
            suppressed: true,
            reason: 'config',
            until: ignored.entry.until,
            justification: ignored.entry.reason,
          }
        : {}),
    },
  };
}

/** The worst of all ratings; ours and those of other tools use the same words. */
function severityOf(ratings: readonly unknown[]): AdvisorySeverity {
  return worstSeverity(
    ratings.map((one) => {
      const word = isObject(one) ? one.severity : undefined;
      return word === 'info' ? 'none' : readSeverityWord(word);
    }),
  );
}

/** False where every version that the report names has the status `unknown`. */
function isAffected(affects: unknown): boolean {
  const statuses = (Array.isArray(affects) ? affects : []).flatMap((one) =>
    isObject(one) && Array.isArray(one.versions)
      ? one.versions.map((version) => (isObject(version) ? version.status : undefined))
      : [],
  );
  return statuses.length === 0 || statuses.some((status) => status !== 'unknown');
}

/** Keeps the errors first if the list is cut. */
function cut(findings: readonly Finding[], path: string): readonly Finding[] {
  const order: readonly Severity[] = ['error', 'warning', 'note'];
  const sorted = order.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
  const left = sorted.slice(maxFindings);
  const message = `${left.length} more findings are not listed`;
  return [...sorted.slice(0, maxFindings), { rule, severity: left[0]?.severity ?? 'note', message, path }];
}
