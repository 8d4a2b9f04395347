/** How a tool is asked for its version: the first of these commands that is there answers. */
export interface RuntimeTool {
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
export const runtimeTools: ReadonlyMap<string, RuntimeTool> = new Map([
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
