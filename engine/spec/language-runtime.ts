import type { Version } from './runtime-version.ts';

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
export interface RuntimeFault {
  readonly message: string;
}

const demand = /^([a-z][a-z0-9+-]{0,31})(>=|>|=|\^|~)v?(\d{1,6}(?:\.\d{1,6}){0,2})$/;

/**
 * Reads `node>=22, python>=3.11`: demands joined by commas or blanks, blanks around an operator allowed, names in any
 * case. Blank text demands nothing. An unknown tool, or text that is no demand, is a fault.
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

/** How a tool is asked for its version: the first of these commands that is there answers. */
interface RuntimeTool {
  readonly commands: readonly (readonly [program: string, ...args: string[]])[];
  /** What stands right before the version, where the output holds other numbers first. */
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
