/* Parses and compares the runtime versions that a spec demands. */
import { compareNumbers } from '../readers/advisories/number-order.ts';

const runtimeOperators = ['>=', '>', '=', '^', '~'] as const;
type RuntimeOperator = (typeof runtimeOperators)[number];

/** One demand of `constraints.platform.languageRuntime`: `node>=22`. */
export interface RuntimeDemand {
  readonly name: string;
  readonly tool: RuntimeTool;
  readonly operator: RuntimeOperator;
  /** One to three numbers, as many as were written. */
  readonly version: Version['numbers'];
  /** As written, without blanks. */
  readonly text: string;
}

/** What is wrong with the text, in words. */
interface RuntimeFault {
  readonly message: string;
}

const demand = /^([a-z][a-z0-9+-]{0,31})(>=|>|=|\^|~)v?(\d{1,6}(?:\.\d{1,6}){0,2})$/;

/**
 * Parses `node>=22, python>=3.11`: demands separated by commas or blanks, with optional blanks around an operator and
 * names in any case. Blank text has no demands. An unknown tool or an invalid demand is a fault.
 */
export function readLanguageRuntime(text: string): readonly RuntimeDemand[] | RuntimeFault {
  const words = text
    .replaceAll(/[ \t]*(>=|>|=|\^|~)[ \t]*/g, '$1')
    .split(/[, \t]/)
    .filter((word) => word !== '');
  const demands: RuntimeDemand[] = [];
  for (const word of words) {
    const [, name = '', operator = '', version = ''] = demand.exec(word.toLowerCase()) ?? [];
    if (name === '') {
      return {
        message: `expected a tool, one of ${runtimeOperators.join(' ')}, and a version, such as \`node>=22\`, found \`${shown(word)}\``,
      };
    }
    const tool = runtimeTools.get(name);
    if (!tool) {
      return {
        message: `expected one of the tools ${[...runtimeTools.keys()].map((known) => `\`${known}\``).join(', ')}, found \`${name}\``,
      };
    }
    demands.push({
      name,
      tool,
      operator: operator as RuntimeOperator,
      version: version.split('.').map(Number),
      text: `${name}${operator}${version}`,
    });
  }
  return demands;
}

function shown(word: string): string {
  return word.replaceAll(/\p{C}/gu, '\uFFFD').slice(0, 80);
}

/** How to query a tool's version: the first of these commands that exists is used. */
interface RuntimeTool {
  readonly commands: readonly (readonly [program: string, ...args: string[]])[];
  /** Text directly before the version, if the output contains other numbers first. */
  readonly after?: string;
  /** `1.8.0_392` was called 8. */
  readonly dropsLeadingOne?: true;
}

const asks = (...programs: readonly string[]): RuntimeTool => ({
  commands: programs.map((program) => [program, '--version'] as const),
});
const java: RuntimeTool = { commands: [['java', '-version']], dropsLeadingOne: true };

/** The tools that `constraints.platform.languageRuntime` may name. */
const runtimeTools: ReadonlyMap<string, RuntimeTool> = new Map([
  ['node', asks('node')],
  ['nodejs', asks('node')],
  ['npm', asks('npm')],
  ['pnpm', asks('pnpm')],
  ['yarn', asks('yarn')],
  ['bun', asks('bun')],
  ['deno', asks('deno')],
  ['python', asks('python3', 'python')],
  ['python3', asks('python3')],
  ['go', { commands: [['go', 'version']], after: 'go version go' }],
  ['java', java],
  ['jdk', { commands: [['javac', '-version']], dropsLeadingOne: true }],
  ['rust', asks('rustc')],
  ['rustc', asks('rustc')],
  ['cargo', asks('cargo')],
  ['ruby', asks('ruby')],
  ['php', asks('php')],
  ['perl', { commands: [['perl', '--version']], after: '(v' }],
  ['dotnet', asks('dotnet')],
  ['gcc', { commands: [['gcc', '-dumpfullversion', '-dumpversion']] }],
  ['clang', asks('clang')],
  ['git', asks('git')],
  ['bash', asks('bash')],
] as const satisfies readonly (readonly [string, RuntimeTool])[]);

/** A version as a tool prints it. */
export interface Version {
  /** One to four numbers. */
  readonly numbers: readonly number[];
  /** A release candidate and the like, which comes before the release of the same numbers. */
  readonly early: boolean;
  /** As printed. */
  readonly text: string;
}

const printed =
  /(?<![\d.])(\d{1,6}(?:\.\d{1,6}){0,3})(?:_\d+)?((?:[-.+]?(?:rc|alpha|beta|pre|preview|nightly|dev|canary|ea)(?![a-z])[-.]?\d*|[ab]\d+)?)/i;

/** The first version in a tool's output; `undefined` where there is none. Java's `1.8` is 8. */
export function findVersion(output: string): Version | undefined {
  const found = printed.exec(output.slice(0, 4096));
  if (!found) return undefined;
  const [, numbers = '', suffix = ''] = found;
  return { numbers: numbers.split('.').map(Number), early: suffix !== '', text: `${numbers}${suffix}` };
}

/**
 * Whether a version meets a demand of as many numbers as were written: `>3.11` begins at 3.12, `=22` is any 22, `~3.11`
 * any 3.11 from there on.
 */
export function meets(
  found: Version,
  operator: '>=' | '>' | '=' | '^' | '~',
  wanted: readonly number[],
): boolean {
  const whole = compareNumbers(found.numbers, wanted);
  const atLeast = whole > 0 || (whole === 0 && !found.early);
  const same = (length: number): boolean => compareNumbers(found.numbers, wanted, length) === 0;
  switch (operator) {
    case '>=':
      return atLeast;
    case '>':
      return compareNumbers(found.numbers, wanted, wanted.length) > 0;
    case '=':
      return same(wanted.length) && atLeast;
    case '~':
      return atLeast && same(Math.min(2, wanted.length));
    case '^': {
      // As packages have it: below 1.0 the first number that is not 0 is the one that may not change.
      const leading = wanted.findIndex((number) => number !== 0);
      return atLeast && same(leading < 0 ? wanted.length : leading + 1);
    }
  }
}
