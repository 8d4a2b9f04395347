import { type ShellWord, unproven } from './reading.ts';

/**
 * Names that change which program a word runs, or make a program run something that its arguments do not say: the
 * shell's own, the loader's, and those of common tools.
 */
const refused = [
  /^(?:PATH|HOME|TMPDIR|PWD|OLDPWD|CDPATH|ENV|IFS|OPTIND|PS[0-9]|PROMPT_COMMAND|SHELL|SHELLOPTS|MAIL(?:PATH|CHECK)?|POSIXLY_CORRECT)$/,
  /^(?:BASH|LD|DYLD|GLIBC|GCONV|LOCPATH|NLSPATH|MALLOC|TZDIR)(?:_|$|OPTS)/,
  /^(?:PAGER|MANPAGER|EDITOR|VISUAL|BROWSER|LESS|LESSOPEN|LESSCLOSE|LESSEDIT|MAKEFLAGS|MFLAGS|MAKEFILES|TAR_OPTIONS|GREP_OPTIONS|FPATH)$/,
  /^(?:NODE_PATH|PYTHON\w+|PERL5?(?:LIB|OPT|DB)\w*|RUBY(?:LIB|OPT)|LUA_\w+|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS|CLASSPATH|GOFLAGS|GOROOT|RUSTC\w*|RUSTFLAGS|CARGO_\w+|CC|CXX|AR|LD)$/,
  /^(?:npm|pnpm|yarn|bun)_/i,
  /^GIT_(?!AUTHOR_|COMMITTER_)/,
];

/** The Scheduler's own names, which a command reads and does not rewrite. */
const ownedByScheduler = new Set([
  'INTENTSPEC_ID',
  'INTENTSPEC_DIGEST',
  'RUN_ID',
  'WORKSPACE',
  'BASE_SHA',
  'PATCHSET_DIGEST',
  'REPORTS_DIR',
]);

/** Names whose value no command can change: what it is when the command starts, it stays. */
export function isFixed(name: string): boolean {
  return ownedByScheduler.has(name) || refused.some((pattern) => pattern.test(name));
}

/** Of names that steer a program, the words of a value that load and run nothing else. */
const harmlessWords: ReadonlyMap<string, RegExp> = new Map([
  [
    'NODE_OPTIONS',
    /^--(?:max-old-space-size=\d+|max-semi-space-size=\d+|stack-trace-limit=\d+|no-warnings|no-deprecation|trace-warnings|trace-deprecation|trace-uncaught|throw-deprecation|pending-deprecation|enable-source-maps|experimental-vm-modules|experimental-strip-types|no-experimental-strip-types|unhandled-rejections=[a-z-]+|test-concurrency=\d+)$/,
  ],
  [
    'GOFLAGS',
    /^-(?:mod=(?:mod|readonly|vendor)|race|v|short|trimpath|count=\d+|p=\d+|buildvcs=[a-z]+|tags=[\w,]+)$/,
  ],
  [
    'RUSTFLAGS',
    /^(?:-[DAWF]|-[DAWF]?[a-z][a-z\d_:-]*|[a-z][a-z\d_:-]*|-C|(?:-C)?(?:target-cpu|opt-level|debuginfo|debug-assertions|overflow-checks)=[\w.-]+)$/,
  ],
]);

/** Programs that run what stands in the workspace anyway, and so may be told where in it their modules are. */
const workspacePython = new Set(['python', 'python3', 'pytest']);

/** Ends the reading where a command may not assign that name, or that value to it, before that program. */
export function checkAssignedName(name: string, value: ShellWord | undefined, program?: string): void {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) unproven('expected a plain variable name in an assignment');
  if (ownedByScheduler.has(name)) unproven(`\`${name}\` is the Scheduler's and cannot be assigned`);
  const harmless = harmlessWords.get(name);
  if (harmless) {
    const words = value?.literal?.split(/\s+/).filter((word) => word !== '');
    if (words?.every((word) => harmless.test(word)) !== true)
      unproven(`\`${name}\` may hold only options that load no code`);
    return;
  }
  if (name === 'PYTHONPATH' && workspacePython.has(program ?? '') && isWorkspacePath(value?.literal)) return;
  if (refused.some((pattern) => pattern.test(name))) {
    unproven(`\`${name}\` changes what other programs do and cannot be assigned`);
  }
}

function isWorkspacePath(list = '/'): boolean {
  return list.split(':').every((path) => /^\w[\w./-]*$|^\.$/.test(path) && !path.split('/').includes('..'));
}
