/* Reads a scanner's report in any of its formats. */
import type { ScanFormat, ScanLevel } from '../../core/interfaces/scanner.ts';
import {
  type AdvisorySeverity,
  readCvss,
  readSeverityWord,
  severityOf,
  worstSeverity,
} from '../../readers/advisories/advisory.ts';
import {
  componentsByRef,
  cyclonedxFault,
  isObject,
  isText,
  type JsonObject,
  objectsOf,
  readJson,
} from '../formats/documents.ts';
import { sarifFault, sarifResults, unfinishedReason } from '../formats/sarif.ts';

/** One result of a scanner. */
export interface ScanResult {
  /** Id of the rule or of the vulnerability. */
  readonly rule: string;
  /** `none`: the tool reports no fault there. */
  readonly level: ScanLevel | 'none';
  readonly message: string;
  readonly path?: string;
  readonly line?: number;
  readonly endLine?: number;
  readonly snippet?: string;
  readonly symbol?: string;
  /** The subject of the result if it is not a place in a file: a package without its version. */
  readonly about?: string;
}

/** A report that was read. */
export interface ReadScan {
  readonly document: JsonObject;
  readonly tool?: string;
  readonly version?: string;
  /** In the order of the document; SARIF: over all runs. */
  readonly results: readonly ScanResult[];
  /** Why the tool has not inspected everything, in words. */
  readonly unfinished: readonly string[];
}

interface Format {
  /** What it is called in a message. */
  readonly name: string;
  readonly contentType: string;
  readonly extension: string;
  /** The artifact of the spec that such a report provides. */
  readonly supplies: string;
  fault(value: unknown): string | undefined;
  read(document: JsonObject): Omit<ReadScan, 'document'>;
}

/** The reader of each format. */
export const formats: Readonly<Record<ScanFormat, Format>> = {
  sarif: {
    name: 'SARIF 2.1.0',
    contentType: 'application/sarif+json',
    extension: 'sarif',
    supplies: 'sast-report',
    fault: (value) =>
      sarifFault(value) ?? (objectsIn(value, 'runs').length === 0 ? 'no run of a tool' : undefined),
    read: readSarif,
  },
  'cyclonedx-vdr': {
    name: 'CycloneDX JSON with `vulnerabilities`',
    contentType: 'application/vnd.cyclonedx+json',
    extension: 'json',
    supplies: 'sca-report',
    fault: (value) => cyclonedxFault(value) ?? listFault(value, 'vulnerabilities', ['id']),
    read: readVdr,
  },
  osv: {
    name: 'results of osv-scanner in JSON',
    contentType: 'application/json',
    extension: 'json',
    supplies: 'sca-report',
    fault: osvFault,
    read: readOsv,
  },
};

const maxResults = 100_000;

/** Reads a report, or answers in words what the bytes are instead. */
export function readScan(format: ScanFormat, bytes: Uint8Array): ReadScan | { readonly found: string } {
  const json = readJson(bytes);
  if ('found' in json) return json;
  const fault = formats[format].fault(json.value);
  if (fault !== undefined || !isObject(json.value)) return { found: fault ?? 'no JSON object' };
  const read = formats[format].read(json.value);
  if (read.results.length > maxResults) return { found: `more than ${maxResults} results` };
  return { document: json.value, ...read };
}

function readSarif(document: JsonObject): Omit<ReadScan, 'document'> {
  const runs = objectsIn(document, 'runs');
  const results = runs.flatMap((run) =>
    [...sarifResults(run)].map(
      ({ ruleId, level, ...place }): ScanResult => ({ ...place, rule: ruleId, level: toLevel(level) }),
    ),
  );
  const unfinished = runs.flatMap((run) => unfinishedReason(run) ?? []);
  const driver = objectAt(objectAt(runs[0], 'tool'), 'driver');
  return { ...toolOf(driver?.name, driver?.semanticVersion ?? driver?.version), results, unfinished };
}

/** A level that the format does not know counts as an error. */
function toLevel(level: string): ScanResult['level'] {
  return level === 'none' || level === 'note' || level === 'warning' ? level : 'error';
}

function readVdr(document: JsonObject): Omit<ReadScan, 'document'> {
  const components = componentsByRef(document);
  const results = objectsIn(document, 'vulnerabilities').flatMap((one): readonly ScanResult[] => {
    const level = toScanLevel(
      objectsIn(one, 'ratings').map(({ severity, vector }) =>
        worstSeverity([readSeverityWord(severity === 'info' ? 'none' : severity), ofVector(vector)]),
      ),
    );
    const refs = objectsIn(one, 'affects').map(({ ref }) => String(ref));
    // A vulnerability that names no package is still one.
    return (refs.length === 0 ? ['a package'] : refs).map((ref) => {
      const component = components.get(ref);
      const named = String(component?.purl ?? component?.name ?? ref);
      return { rule: String(one.id), level, message: `affects ${named}`, about: withoutVersion(named) };
    });
  });
  const { tools } = objectAt(document, 'metadata') ?? {};
  const [tool] = Array.isArray(tools) ? tools.filter(isObject) : objectsIn(tools, 'components');
  return { ...toolOf(tool?.name, tool?.version), results, unfinished: [] };
}

/** One result for each group of ids that mean the same vulnerability in a package. */
function readOsv(document: JsonObject): Omit<ReadScan, 'document'> {
  const results: ScanResult[] = [];
  for (const source of objectsIn(document, 'results'))
    for (const found of objectsIn(source, 'packages')) {
      const { name, version, ecosystem } = objectAt(found, 'package') ?? {};
      const path = objectAt(source, 'source')?.path;
      const grouped = new Set<string>();
      for (const { id, aliases, severity, database_specific: own } of objectsIn(found, 'vulnerabilities')) {
        if (grouped.has(String(id))) continue;
        const group = objectsIn(found, 'groups').find(({ ids }) => Array.isArray(ids) && ids.includes(id));
        for (const one of [id, ...listOf(aliases), ...listOf(group?.ids)]) grouped.add(String(one));
        const score = Number(group?.max_severity);
        results.push({
          rule: String(id),
          level: toScanLevel([
            readSeverityWord(isObject(own) ? own.severity : undefined),
            ...(score > 0 ? [severityOf(score)] : []),
            ...listOf(severity).map((rating) => ofVector(isObject(rating) ? rating.score : undefined)),
          ]),
          message: `affects ${String(name)} ${String(version)} (${String(ecosystem)})`,
          about: `${String(ecosystem)}/${String(name)}`,
          ...(isText(path) ? { path: path.replace(/^\/workspace\//, '') } : {}),
        });
      }
    }
  return { results, unfinished: [] };
}

function osvFault(value: unknown): string | undefined {
  const fault = listFault(value, 'results', []);
  if (fault !== undefined) return fault;
  for (const source of objectsIn(value, 'results')) {
    const packages = listFault(source, 'packages', []);
    if (packages !== undefined) return packages;
    for (const found of objectsIn(source, 'packages')) {
      if (!isText(objectAt(found, 'package')?.name)) return 'a package without `name`';
      const listed =
        found.vulnerabilities === undefined ? undefined : listFault(found, 'vulnerabilities', ['id']);
      if (listed !== undefined) return listed;
    }
  }
  return undefined;
}

/** A list of objects, each with these texts. */
function listFault(holder: unknown, member: string, texts: readonly string[]): string | undefined {
  const list = isObject(holder) ? holder[member] : undefined;
  if (!Array.isArray(list)) return `no list \`${member}\``;
  const bad = list.findIndex((one) => !isObject(one) || texts.some((name) => !isText(one[name])));
  return bad === -1
    ? undefined
    : `no object with ${texts.map((name) => `\`${name}\``)} at \`${member}[${bad}]\``;
}

/** High and critical are errors, medium is a warning; what no one rated is an error. */
function toScanLevel(severities: readonly AdvisorySeverity[]): ScanResult['level'] {
  const worst = worstSeverity(severities);
  return worst === 'medium' ? 'warning' : worst === 'low' || worst === 'none' ? 'note' : 'error';
}

function ofVector(vector: unknown): AdvisorySeverity {
  return (isText(vector) ? readCvss(vector)?.severity : undefined) ?? 'unknown';
}

/** A package URL without version, qualifiers and subpath. */
function withoutVersion(purl: string): string {
  return purl.replace(/^(pkg:[^?#]*?)@[^@/?#]*(?:[?#].*)?$/s, '$1');
}

function toolOf(name: unknown, version: unknown): { tool?: string; version?: string } {
  return { ...(isText(name) ? { tool: name } : {}), ...(isText(version) ? { version } : {}) };
}

function objectAt(holder: unknown, member: string): JsonObject | undefined {
  const value = isObject(holder) ? holder[member] : undefined;
  return isObject(value) ? value : undefined;
}

function objectsIn(holder: unknown, member: string): readonly JsonObject[] {
  return objectsOf(isObject(holder) ? holder[member] : undefined);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
