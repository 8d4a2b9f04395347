/** A program that runs the text it is given as code. */
export interface Interpreter {
  /** An option with code as its value: the next word, or the rest of the same word. */
  readonly code: RegExp;
  /** Options that use the next word as their value. */
  readonly valued: RegExp;
  /** Where its program is if no option has it. */
  readonly input: Input;
  /** Options with which the program is elsewhere (`python -m`). */
  readonly elsewhere?: RegExp | undefined;
}

/** A program that runs the words after its own. */
export interface Wrapper {
  readonly valued: RegExp;
  /** Number of operands between the options and the command. */
  readonly operands: number;
}

/** A program that passes text to a shell. */
export interface ShellCaller {
  readonly valued: RegExp;
  /** An option with the text as its value. */
  readonly code?: RegExp;
  /** Words before those that it joins to a command line; absent: it joins none. */
  readonly joinsFrom?: number;
  /** With this option it joins none. */
  readonly unless?: RegExp;
}

const none = /^$/;
type Input = 'reads input' | 'no input' | 'runs operand';

/** By the manuals of each: what is behind its options is code. */
const interpreters: readonly (readonly [
  name: RegExp,
  code: RegExp,
  valued: RegExp,
  Input,
  elsewhere?: RegExp,
])[] = [
  [
    /^(?:(?:ba|z|da|k|mk|pdk|a|ya|c|tc|fi|x?on|el|r|rba)?sh|nu|elvish)$/,
    /^-[a-zA-Z]*c$/,
    /^[-+][oO]$|^--(?:rcfile|init-file)$/,
    'reads input',
  ],
  [
    /^(?:python|pypy)[\d.]*$/,
    /^-[bBdEiIOPqsSuvx]*c/,
    /^-[bBdEiIOPqsSuvx]*[WX]$/,
    'reads input',
    /^-[bBdEiIOPqsSuvx]*m/,
  ],
  [/^perl[\d.]*$/, /^-[acfnplsStTuUwWX0-7]*[eE]/, /^-[IMm]$/, 'reads input'],
  [/^(?:j|t)?ruby[\d.]*$/, /^-[alnpsSvwWU0-7]*e/, /^-[rICE]$/, 'reads input'],
  [
    /^(?:node|nodejs|bun|tsx|ts-node)$/,
    /^(?:-e|-p|-pe|--eval|--print)(?![\w-])/,
    /^(?:-r|--require|--import|-C|--conditions|--loader|--env-file|--input-type)$/,
    'reads input',
  ],
  [/^php[\d.]*$/, /^(?:-[rBRE]|--run|--process-(?:begin|code|end))(?!-)/, /^-[cdzfF]$/, 'reads input'],
  [/^lua(?:jit)?[\d.]*$/, /^-e/, /^-l$/, 'reads input'],
  [/^(?:julia|R|Rscript)$/, /^(?:-[eE]|--eval)(?!\w)/, none, 'reads input'],
  [/^osascript$/, /^-e(?!\w)/, /^-[ls]$/, 'reads input'],
  [/^(?:elixir|groovy|scala|clojure|clj|bb|racket|swift|ghc)$/, /^(?:-e|--eval)(?!\w)/, none, 'no input'],
  [/^(?:sbcl|emacs|erl)$/, /^--?eval(?!\w)/, none, 'no input'],
  [/^(?:guile|expect)$/, /^-c/, none, 'reads input'],
  [/^(?:tclsh|wish)[\d.]*$/, none, none, 'reads input'],
  [
    /^(?:pwsh|powershell)(?:\.exe)?$/i,
    /^-(?:c|command|e|ec|encodedcommand)$/i,
    /^-(?:ep|executionpolicy|wd|workingdirectory)$/i,
    'no input',
  ],
  [
    /^[gmn]?awk$/,
    /^(?:-e|--source)/,
    /^-[Fvil]$|^--(?:field-separator|assign|include|load)$/,
    'runs operand',
    /^-[fE]|^--(?:file|exec)/,
  ],
  [/^cmd(?:\.exe)?$/i, /^\/[ckr]$/i, none, 'no input'],
];

/** Names, options that have a value, and the number of operands before the command. */
const wrappers: readonly (readonly [names: RegExp, valued: RegExp, operands?: number])[] = [
  [/^(?:builtin|command|nohup|setsid|busybox|fakeroot|caffeinate|unshare)$/, none],
  [/^exec$/, /^-a$/],
  [/^time$/, /^-[fo]$/],
  [/^env$/, /^(?:-[uCS]|--unset|--chdir)$/],
  [
    /^sudo$/,
    /^(?:-[ughpCrtTUDR]|--(?:user|group|host|prompt|chdir|chroot|role|type|close-from|command-timeout))$/,
  ],
  [/^doas$/, /^-[uC]$/],
  [/^xargs$/, /^(?:-[InPLdasEJR]|--(?:max-args|max-procs|delimiter|arg-file|max-chars|max-lines))$/],
  [/^nice$/, /^(?:-n|--adjustment)$/],
  [/^ionice$/, /^-[cn]$/],
  [/^timeout$/, /^(?:-[ks]|--(?:kill-after|signal))$/, 1],
  [/^stdbuf$/, /^-[ioe]$/],
  [/^(?:chroot|taskset|chrt|gosu)$/, none, 1],
  [/^strace$/, /^-[eopsuE]$/],
];

const command = /^(?:-[a-zA-Z]*c|--command|--session-command)(?![\w-])/;
const callers: readonly (readonly [names: RegExp, ShellCaller])[] = [
  [/^ssh$/, { valued: /^-[46AaCfGgKkMNnqsTtVvXxYy]*[BbcDEeFIiJLlmOoPpQRSWw]$/, joinsFrom: 1 }],
  [/^(?:su|runuser)$/, { valued: /^-[gGsuw]$/, code: command }],
  [/^(?:sg|script|flock)$/, { valued: none, code: command }],
  [/^watch$/, { valued: /^(?:-[nq]|--interval|--equexit)$/, joinsFrom: 0, unless: /^(?:-[a-z]*x|--exec)$/ }],
  [/^(?:mapfile|readarray|complete)$/, { valued: none, code: /^-C/ }],
  [/^bind$/, { valued: none, code: /^-x/ }],
];

/** The interpreter of that name or path. */
export function interpreterOf(name: string | undefined): Interpreter | undefined {
  const [, code, valued, input, elsewhere] = rowOf(interpreters, name) ?? [];
  return code && valued && input && { code, valued, input, elsewhere };
}

/** The program of that name or path that runs the words after its own. */
export function wrapperOf(name: string | undefined): Wrapper | undefined {
  const [, valued, operands = 0] = rowOf(wrappers, name) ?? [];
  return valued && { valued, operands };
}

/** The program with this name or path that passes text to a shell. */
export function shellCallerOf(name: string): ShellCaller | undefined {
  return rowOf(callers, name)?.[1];
}

/** A program's name without its folders. */
export function baseOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

function rowOf<Row extends readonly [RegExp, ...unknown[]]>(
  rows: readonly Row[],
  name: string | undefined,
): Row | undefined {
  if (name === undefined) return undefined;
  const base = baseOf(name);
  return rows.find(([names]) => names.test(base));
}
