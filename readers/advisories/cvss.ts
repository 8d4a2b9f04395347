import type { AdvisoryRating, AdvisorySeverity } from './advisory.ts';
import { scoreV4 } from './cvss4.ts';

const maxLength = 512;

/**
 * A CVSS vector as a rating (FIRST's equations and tables): of 2.0, 3.0 and 3.1 the base score, of 4.0 the score of all
 * of its metrics, since that version has one score alone. `undefined` for what is no complete vector.
 */
export function readCvss(vector: string): AdvisoryRating | undefined {
  if (vector.length > maxLength) return undefined;
  if (/^CVSS:4\.0\//.test(vector)) {
    const metrics = readMetrics(vector.slice('CVSS:4.0/'.length));
    const score = metrics && scoreV4(metrics);
    return score === undefined ? undefined : { method: 'CVSSv4', vector, score, severity: severityOf(score) };
  }
  const [, minor] = /^CVSS:3\.([01])\//.exec(vector) ?? [];
  const metrics = readMetrics(
    minor === undefined ? vector.replace(/^\((.*)\)$/, '$1') : vector.slice('CVSS:3.x/'.length),
  );
  if (!metrics) return undefined;
  const score = minor === undefined ? scoreV2(metrics) : scoreV3(metrics, minor);
  if (score === undefined) return undefined;
  if (minor === undefined) return { method: 'CVSSv2', vector, score, severity: severityOfV2(score) };
  return { method: minor === '0' ? 'CVSSv3' : 'CVSSv31', vector, score, severity: severityOf(score) };
}

/** The words that databases use, whatever their case. */
export function readSeverityWord(word: unknown): AdvisorySeverity {
  const lower = typeof word === 'string' ? word.trim().toLowerCase() : '';
  if (lower === 'moderate') return 'medium';
  return lower === 'none' || lower === 'low' || lower === 'medium' || lower === 'high' || lower === 'critical'
    ? lower
    : 'unknown';
}

function readMetrics(text: string): ReadonlyMap<string, string> | undefined {
  const metrics = new Map<string, string>();
  for (const part of text.replace(/\/$/, '').split('/')) {
    const [, key = '', value = ''] = /^([A-Za-z]{1,3}):([A-Za-z]{1,5})$/.exec(part) ?? [];
    if (key === '' || metrics.has(key)) return undefined;
    metrics.set(key, value);
  }
  return metrics;
}

type Weights = Readonly<Record<string, number>>;
const impactV3: Weights = { H: 0.56, L: 0.22, N: 0 };
const attackV3: Weights = { N: 0.85, A: 0.62, L: 0.55, P: 0.2 };
const complexityV3: Weights = { L: 0.77, H: 0.44 };
const privilegesV3: Weights = { N: 0.85, L: 0.62, H: 0.27 };
const privilegesChangedV3: Weights = { N: 0.85, L: 0.68, H: 0.5 };
const interactionV3: Weights = { N: 0.85, R: 0.62 };

/** CVSS 3.1, section 7.1; 3.0 differs in how it rounds. */
function scoreV3(metrics: ReadonlyMap<string, string>, minor: string): number | undefined {
  const scope = metrics.get('S');
  if (scope !== 'U' && scope !== 'C') return undefined;
  const isChanged = scope === 'C';
  const weights = weighted(metrics, {
    C: impactV3,
    I: impactV3,
    A: impactV3,
    AV: attackV3,
    AC: complexityV3,
    PR: isChanged ? privilegesChangedV3 : privilegesV3,
    UI: interactionV3,
  });
  if (!weights) return undefined;
  const { C = 0, I = 0, A = 0, AV = 0, AC = 0, PR = 0, UI = 0 } = weights;
  const base = 1 - (1 - C) * (1 - I) * (1 - A);
  const impact = isChanged ? 7.52 * (base - 0.029) - 3.25 * (base - 0.02) ** 15 : 6.42 * base;
  if (impact <= 0) return 0;
  const whole = Math.min((isChanged ? 1.08 : 1) * (impact + 8.22 * AV * AC * PR * UI), 10);
  return minor === '0' ? Math.ceil(Number((whole * 10).toFixed(9))) / 10 : roundUp(whole);
}

/**
 * CVSS 3.1, appendix A: the smallest number with one decimal that is not less, in integers so that every machine
 * agrees.
 */
function roundUp(value: number): number {
  const scaled = Math.round(value * 100_000);
  return scaled % 10_000 === 0 ? scaled / 100_000 : (Math.floor(scaled / 10_000) + 1) / 10;
}

const impactV2: Weights = { N: 0, P: 0.275, C: 0.66 };

/** CVSS 2.0, section 3.2.1. */
function scoreV2(metrics: ReadonlyMap<string, string>): number | undefined {
  const weights = weighted(metrics, {
    C: impactV2,
    I: impactV2,
    A: impactV2,
    AV: { L: 0.395, A: 0.646, N: 1 },
    AC: { H: 0.35, M: 0.61, L: 0.71 },
    Au: { M: 0.45, S: 0.56, N: 0.704 },
  });
  if (!weights) return undefined;
  const { C = 0, I = 0, A = 0, AV = 0, AC = 0, Au = 0 } = weights;
  const impact = 10.41 * (1 - (1 - C) * (1 - I) * (1 - A));
  const exploitability = 20 * AV * AC * Au;
  const score = (0.6 * impact + 0.4 * exploitability - 1.5) * (impact === 0 ? 0 : 1.176);
  return Math.round(Math.max(0, score) * 10) / 10;
}

function weighted(
  metrics: ReadonlyMap<string, string>,
  tables: Readonly<Record<string, Weights>>,
): Weights | undefined {
  const found: Record<string, number> = {};
  for (const [key, table] of Object.entries(tables)) {
    const value = metrics.get(key) ?? '';
    if (!Object.hasOwn(table, value)) return undefined;
    found[key] = table[value] ?? 0;
  }
  return found;
}

/** Qualitative severity rating scale of CVSS 3.1 and 4.0. */
export function severityOf(score: number): AdvisorySeverity {
  if (score === 0) return 'none';
  return score < 4 ? 'low' : score < 7 ? 'medium' : score < 9 ? 'high' : 'critical';
}

/** Version 2 has no scale of its own; these are the bands of the NVD. */
function severityOfV2(score: number): AdvisorySeverity {
  return score < 4 ? 'low' : score < 7 ? 'medium' : 'high';
}
