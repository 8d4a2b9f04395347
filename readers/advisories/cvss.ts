/** CVSS vectors and severity words of advisories. */
import cvss from 'ae-cvss-calculator';
import type { AdvisoryRating, AdvisorySeverity } from './advisory.ts';

const maxLength = 512;
const { Cvss2, Cvss3P0, Cvss3P1, Cvss4P0 } = cvss;
const versions = [
  { prefix: 'CVSS:4.0/', method: 'CVSSv4', Vector: Cvss4P0, severityOf },
  { prefix: 'CVSS:3.1/', method: 'CVSSv31', Vector: Cvss3P1, severityOf },
  { prefix: 'CVSS:3.0/', method: 'CVSSv3', Vector: Cvss3P0, severityOf },
  { prefix: '', method: 'CVSSv2', Vector: Cvss2, severityOf: severityOfV2 },
] as const;

/**
 * A CVSS vector as a rating: of 2.0, 3.0 and 3.1 the base score, of 4.0 the score of all of its metrics, because that
 * version has one score alone. `undefined` for what is no complete vector, or gives a metric twice: the library
 * would score both.
 */
export function readCvss(vector: string): AdvisoryRating | undefined {
  if (vector.length > maxLength) return undefined;
  const version = versions.find(({ prefix }) => vector.startsWith(prefix));
  if (!version) return undefined;
  const { prefix, method, Vector } = version;
  const metrics = vector
    .slice(prefix.length)
    .replace(/^\((.*)\)$/, '$1')
    .replace(/\/$/, '');
  const keys = metrics.split('/').map((part) => /^([A-Za-z]{1,3}):[A-Za-z]{1,5}$/.exec(part)?.[1]);
  if (keys.includes(undefined) || new Set(keys).size < keys.length) return undefined;
  // `S` (safety) is a value of the modified metrics alone; the library accepts it in the base.
  if (/(?:^|\/)S[IA]:S(?:\/|$)/.test(metrics)) return undefined;
  try {
    const read = new Vector(`${prefix}${metrics}`);
    const scores = read.calculateScores();
    const score = method === 'CVSSv4' ? scores.overall : scores.base;
    if (!read.isBaseFullyDefined() || score === undefined) return undefined;
    return { method, vector, score, severity: version.severityOf(score) };
  } catch {
    // An unknown metric or value.
    return undefined;
  }
}

/** The words that databases use, in either letter case. */
export function readSeverityWord(word: unknown): AdvisorySeverity {
  const lower = typeof word === 'string' ? word.trim().toLowerCase() : '';
  if (lower === 'moderate') return 'medium';
  return lower === 'none' || lower === 'low' || lower === 'medium' || lower === 'high' || lower === 'critical'
    ? lower
    : 'unknown';
}

/** Qualitative severity rating scale of CVSS 3.1 and 4.0. */
export function severityOf(score: number): AdvisorySeverity {
  if (score === 0) return 'none';
  return score < 4 ? 'low' : score < 7 ? 'medium' : score < 9 ? 'high' : 'critical';
}

/** CVSS 2.0 has no rating scale; these are the bands of the NVD. */
function severityOfV2(score: number): AdvisorySeverity {
  return score < 4 ? 'low' : score < 7 ? 'medium' : 'high';
}
