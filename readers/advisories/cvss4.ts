/** Values of every metric of CVSS 4.0 (FIRST, specification, section 7), the most severe first. */
const base: Readonly<Record<string, string>> = {
  AV: 'NALP',
  AC: 'LH',
  AT: 'NP',
  PR: 'NLH',
  UI: 'NPA',
  VC: 'HLN',
  VI: 'HLN',
  VA: 'HLN',
  SC: 'HLN',
  SI: 'HLN',
  SA: 'HLN',
};
const threat: Readonly<Record<string, string>> = { E: 'APU', CR: 'HML', IR: 'HML', AR: 'HML' };
const supplemental: Readonly<Record<string, readonly string[]>> = {
  S: ['N', 'P'],
  AU: ['N', 'Y'],
  R: ['A', 'U', 'I'],
  V: ['D', 'C'],
  RE: ['L', 'M', 'H'],
  U: ['Clear', 'Green', 'Amber', 'Red'],
};

/** Every metric that a vector may have, with its values; all but those of the base may be left open by `X`. */
const allowed: ReadonlyMap<string, readonly string[]> = new Map([
  ...Object.entries(base).map(([metric, values]) => [metric, [...values]] as const),
  ...Object.entries(base).map(
    ([metric, values]) => [`M${metric}`, ['X', ...worst(metric), ...values]] as const,
  ),
  ...Object.entries(threat).map(([metric, values]) => [metric, ['X', ...values]] as const),
  ...Object.entries(supplemental).map(([metric, values]) => [metric, ['X', ...values]] as const),
]);

/** Five of the six equivalence classes; the third and the sixth go together. */
interface Classes {
  readonly eq1: number;
  readonly eq2: number;
  /** EQ3 and EQ6 as a place in a row of `scores`. */
  readonly eq36: number;
  readonly eq4: number;
  readonly eq5: number;
}

/** The metrics of a class, the most severe vectors in each of its levels, and how many steps each level is deep. */
interface Equivalence {
  readonly metrics: readonly string[];
  readonly highest: readonly (readonly string[])[];
  readonly depth: readonly number[];
}

const eq1: Equivalence = {
  metrics: ['AV', 'PR', 'UI'],
  highest: [['NNN'], ['ANN', 'NLN', 'NNP'], ['PNN', 'ALP']],
  depth: [1, 4, 5],
};
const eq2: Equivalence = { metrics: ['AC', 'AT'], highest: [['LN'], ['HN', 'LP']], depth: [1, 2] };
const eq36: Equivalence = {
  metrics: ['VC', 'VI', 'VA', 'CR', 'IR', 'AR'],
  highest: [
    ['HHHHHH'],
    ['HHLMMH', 'HHHMMM'],
    ['LHHHHH', 'HLHHHH'],
    ['LHLHMH', 'LHHHMM', 'HLHMHM', 'HLLMHH', 'LLHHHM'],
    ['LLLHHH'],
  ],
  depth: [7, 6, 8, 8, 10],
};
const eq4: Equivalence = {
  metrics: ['SC', 'SI', 'SA'],
  highest: [['HSS'], ['HHH'], ['LLL']],
  depth: [6, 5, 4],
};
/** From each place in a row of `scores` the next less severe ones. */
const below36: readonly (readonly number[])[] = [[1, 2], [3], [3], [4], []];

/**
 * Scores of the MacroVectors, by EQ1, EQ2, EQ4 and EQ5; within a row by EQ3 and EQ6: 00, 01, 10, 11, 21. A table of
 * expert judgements that FIRST publishes with the specification (section 8.3): these are facts, and no formula gives
 * them.
 */
const scores: Readonly<Record<string, readonly number[]>> = {
  '0000': [10, 9.9, 9.8, 9.5, 9.2],
  '0001': [9.8, 9.5, 9.5, 9.2, 8.2],
  '0002': [9.5, 9.2, 9, 8.4, 7.2],
  '0010': [10, 9.6, 9.3, 9.2, 7.9],
  '0011': [9.3, 8.7, 8.9, 8.1, 6.9],
  '0012': [9.1, 8.1, 8.1, 6.5, 5],
  '0020': [9.3, 9, 8.8, 8, 6.9],
  '0021': [8.9, 8, 7.8, 7, 5.5],
  '0022': [8.1, 6.8, 6.9, 4.8, 2.7],
  '0100': [9.9, 9.7, 9.5, 9.3, 8.6],
  '0101': [9.5, 9.2, 9.2, 8.5, 7.5],
  '0102': [9.2, 8.5, 8.5, 7.3, 5.2],
  '0110': [9.5, 9.1, 9.2, 8.2, 7.1],
  '0111': [9, 8.3, 8, 7.2, 5.2],
  '0112': [8.4, 7.1, 7, 5.9, 2.9],
  '0120': [9.2, 8.1, 8.4, 7, 6.3],
  '0121': [8.2, 7.1, 7.1, 5.2, 2.9],
  '0122': [7.2, 5.3, 5, 3, 1.7],
  '1000': [9.8, 9.5, 9.4, 8.9, 8.3],
  '1001': [9.4, 8.7, 8.8, 7.7, 7],
  '1002': [9.1, 8.1, 7.6, 6.7, 5.4],
  '1010': [9.4, 8.9, 8.6, 7.6, 6.5],
  '1011': [8.6, 7.4, 7.4, 5.8, 5.8],
  '1012': [7.7, 6.4, 5.9, 5, 2.6],
  '1020': [8.7, 7.5, 7.2, 5.7, 5.3],
  '1021': [7.4, 6.3, 5.7, 5.2, 2.1],
  '1022': [6.3, 4.9, 5.2, 2.5, 1.3],
  '1100': [9.5, 9, 8.9, 7.8, 7.1],
  '1101': [8.8, 7.6, 7.6, 6.7, 5.9],
  '1102': [7.6, 7, 6.2, 5.8, 3],
  '1110': [9, 7.7, 7.4, 5.9, 5.8],
  '1111': [7.5, 6.2, 5.7, 5.7, 2.6],
  '1112': [6.1, 5.3, 4.7, 2.3, 1.5],
  '1120': [7.7, 6.6, 6.1, 5.2, 2.3],
  '1121': [6.8, 5.9, 5.7, 2.9, 1.3],
  '1122': [5.2, 3, 2.4, 1.6, 0.6],
  '2000': [9.3, 8.7, 8.5, 7.5, 6.4],
  '2001': [8.6, 7.2, 7.4, 5.5, 5.1],
  '2002': [7.5, 5.8, 6.2, 5.1, 2],
  '2010': [8.6, 7.4, 7.2, 5.7, 4.7],
  '2011': [7.4, 6.1, 5.5, 4.1, 2.1],
  '2012': [5.6, 3.4, 4.6, 1.9, 1.1],
  '2020': [7, 5.4, 5.3, 3.6, 2.4],
  '2021': [5.2, 4, 3.4, 1.9, 0.9],
  '2022': [4, 2.2, 1.9, 0.8, 0.4],
  '2100': [8.8, 7.5, 7.5, 5.5, 5.3],
  '2101': [7.3, 5.3, 5.8, 4.5, 2.4],
  '2102': [6, 5, 4, 2.1, 1.4],
  '2110': [7.3, 5.5, 6.1, 5.1, 2.4],
  '2111': [5.9, 4, 4.8, 1.8, 1.2],
  '2112': [4.1, 2, 2, 0.9, 0.5],
  '2120': [5.4, 4.3, 4.6, 1.8, 1],
  '2121': [4.5, 2.2, 1.7, 0.7, 0.3],
  '2122': [2, 1.1, 0.8, 0.2, 0.1],
};

/**
 * The score of a CVSS 4.0 vector's metrics, threat and environment where it has them (FIRST, specification, section
 * 8.2): that of its MacroVector, lowered by how far it lies from the most severe vector in it. `undefined` where a
 * metric is missing, unknown or wrong.
 */
export function scoreV4(given: ReadonlyMap<string, string>): number | undefined {
  const isKnown = [...given].every(([metric, value]) => allowed.get(metric)?.includes(value) === true);
  if (!isKnown || !Object.keys(base).every((metric) => given.has(metric))) return undefined;
  const value = (metric: string): string => {
    const modified = given.get(`M${metric}`);
    const stated = modified !== undefined && modified !== 'X' ? modified : (given.get(metric) ?? 'X');
    // What is not said is taken at its worst.
    return stated === 'X' ? (threat[metric] ?? '').charAt(0) : stated;
  };
  if (['VC', 'VI', 'VA', 'SC', 'SI', 'SA'].every((metric) => value(metric) === 'N')) return 0;
  const at = classesOf(value);
  const score = scoreAt(at) ?? 0;
  const lower36 = (below36[at.eq36] ?? []).map((place) => scoreAt({ ...at, eq36: place }) ?? 0);
  const parts = [
    { equivalence: eq1, level: at.eq1, below: scoreAt({ ...at, eq1: at.eq1 + 1 }) },
    { equivalence: eq2, level: at.eq2, below: scoreAt({ ...at, eq2: at.eq2 + 1 }) },
    { equivalence: eq36, level: at.eq36, below: lower36.length > 0 ? Math.max(...lower36) : undefined },
    { equivalence: eq4, level: at.eq4, below: scoreAt({ ...at, eq4: at.eq4 + 1 }) },
  ];
  const distances = parts.flatMap(({ equivalence, level, below }) =>
    below === undefined ? [] : [(score - below) * partOf(equivalence, level, value)],
  );
  // The fifth class has one metric: a vector never lies below the most severe one in it, but its level counts.
  const count = distances.length + (scoreAt({ ...at, eq5: at.eq5 + 1 }) === undefined ? 0 : 1);
  const mean = count === 0 ? 0 : distances.reduce((sum, one) => sum + one, 0) / count;
  // Halves are rounded up, those too that binary fractions put a hair lower.
  return Math.round((Math.min(10, Math.max(0, score - mean)) + 1e-6) * 10) / 10;
}

/** Safety of people, which only a modified metric of these two may name and which is worse than the rest. */
function worst(metric: string): readonly string[] {
  return metric === 'SI' || metric === 'SA' ? ['S'] : [];
}

function scoreAt(at: Classes): number | undefined {
  return scores[`${at.eq1}${at.eq2}${at.eq4}${at.eq5}`]?.[at.eq36];
}

/** Specification, tables 24 to 29. */
function classesOf(value: (metric: string) => string): Classes {
  const is = (wanted: string): boolean =>
    wanted.split('/').every((one) => value(one.slice(0, -2)) === one.at(-1));
  const open = ['AV:N', 'PR:N', 'UI:N'].filter(is).length;
  const requires = ['CR:H/VC:H', 'IR:H/VI:H', 'AR:H/VA:H'].some(is) ? 0 : 1;
  const isHigh = ['VC:H', 'VI:H', 'VA:H'].some(is);
  return {
    eq1: open === 3 ? 0 : open > 0 && !is('AV:P') ? 1 : 2,
    eq2: is('AC:L/AT:N') ? 0 : 1,
    eq36: is('VC:H/VI:H') ? requires : isHigh ? 2 + requires : 4,
    eq4: ['SI:S', 'SA:S'].some(is) ? 0 : ['SC:H', 'SI:H', 'SA:H'].some(is) ? 1 : 2,
    eq5: 'APU'.indexOf(value('E')),
  };
}

/**
 * How much of the way to the next lower MacroVector a vector lies below the first of the most severe ones that it is
 * not above.
 */
function partOf(
  { metrics, highest, depth }: Equivalence,
  level: number,
  value: (metric: string) => string,
): number {
  for (const vector of highest[level] ?? []) {
    const steps = metrics.map(
      (metric, at) => rankOf(metric, value(metric)) - rankOf(metric, vector.charAt(at)),
    );
    if (steps.every((step) => step >= 0))
      return steps.reduce((sum, step) => sum + step, 0) / (depth[level] ?? 1);
  }
  return 0;
}

function rankOf(metric: string, value: string): number {
  return [...worst(metric), ...(base[metric] ?? threat[metric] ?? '')].indexOf(value);
}
