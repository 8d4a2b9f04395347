/** A program that runs the text it is given as code. */
export interface Interpreter {
  readonly name: RegExp;
  /** An option whose value is code: the next word, or what stands behind it in the same word. */
  readonly code: RegExp;
  /** Options whose value is the next word. */
  readonly valued: RegExp;
  /** Whether it reads its program from the standard input where none is named. */
  readonly readsInput: boolean;
  /** Options with which the program stands elsewhere (`python -m`). */
  readonly elsewhere?: RegExp;
}

/** A program that runs the words after its own. */
export interface Wrapper {
  readonly valued: RegExp;
  /** Words of its own between the options and the command. */
  readonly operands: number;
}

/** A program that hands text to a shell. */
export interface ShellCaller {
  readonly valued: RegExp;
  /** An option whose value is the text. */
  readonly code?: RegExp;
  /** Words before those that it joins to a command line; absent: it joins none. */
  readonly joinsFrom?: number;
  /** With this option it joins none. */
  readonly unless?: RegExp;
}

const none = /^$/;
const shortE = /^-e(?!\w)/;

/** By the manuals of each: what stands behind its options is code. */
const interpreters: readonly Interpreter[] = [
  {
    name: /^(?:(?:ba|z|da|k|mk|pdk|a|ya|c|tc|fi|x?on|el|r|rba)?sh|nu|elvish)$/,
    code: /^-[a-zA-Z]*c$/,
    valued: /^[-+][oO]$|^--(?:rcfile|init-file)$/,
    readsInput: true,
  },
  {
    name: /^(?:python|pypy)[\d.]*$/,
    code: /^-[bBdEiIOPqsSuvx]*c/,
    valued: /^-[bBdEiIOPqsSuvx]*[WX]$/,
    readsInput: true,
    elsewhere: /^-[bBdEiIOPqsSuvx]*m/,
  },
  { name: /^perl[\d.]*$/, code: /^-[acfnplsStTuUwWX0-7]*[eE]/, valued: /^-[IMm]$/, readsInput: true },
  { name: /^(?:j|t)?ruby[\d.]*$/, code: /^-[alnpsSvwWU0-7]*e/, valued: /^-[rICE]$/, readsInput: true },
  {
    name: /^(?:node|nodejs|bun|tsx|ts-node)$/,
    code: /^(?:-e|-p|-pe|--eval|--print)(?![\w-])/,
    valued: /^(?:-r|--require|--import|-C|--conditions|--loader|--env-file|--input-type)$/,
    readsInput: true,
  },
  {
    name: /^php[\d.]*$/,
    code: /^(?:-[rBRE]|--run|--process-(?:begin|code|end))(?!-)/,
    valued: /^-[cdzfF]$/,
    readsInput: true,
  },
  { name: /^lua(?:jit)?[\d.]*$/, code: /^-e/, valued: /^-l$/, readsInput: true },
  { name: /^(?:julia|R|Rscript)$/, code: /^(?:-[eE]|--eval)(?!\w)/, valued: none, readsInput: true },
  { name: /^osascript$/, code: shortE, valued: /^-[ls]$/, readsInput: true },
  {
    name: /^(?:elixir|groovy|scala|clojure|clj|bb|racket|swift|ghc)$/,
    code: /^(?:-e|--eval)(?!\w)/,
    valued: none,
    readsInput: false,
  },
  { name: /^(?:sbcl|emacs|erl)$/, code: /^--?eval(?!\w)/, valued: none, readsInput: false },
  { name: /^(?:guile|expect)$/, code: /^-c/, valued: none, readsInput: true },
  { name: /^(?:tclsh|wish)[\d.]*$/, code: none, valued: none, readsInput: true },
  {
    name: /^(?:pwsh|powershell)(?:\.exe)?$/i,
    code: /^-(?:c|command|e|ec|encodedcommand)$/i,
    valued: /^-(?:ep|executionpolicy|wd|workingdirectory)$/i,
    readsInput: false,
  },
  { name: /^cmd(?:\.exe)?$/i, code: /^\/[ckr]$/i, valued: none, readsInput: false },
];

const plain: Wrapper = { valued: none, operands: 0 };
const wrappers: Readonly<Record<string, Wrapper>> = {
  builtin: plain,
  command: plain,
  nohup: plain,
  setsid: plain,
  busybox: plain,
  fakeroot: plain,
  caffeinate: plain,
  exec: { valued: /^-a$/, operands: 0 },
  time: { valued: /^-[fo]$/, operands: 0 },
  env: { valued: /^(?:-[uCS]|--unset|--chdir)$/, operands: 0 },
  sudo: {
    valued:
      /^(?:-[ughpCrtTUDR]|--(?:user|group|host|prompt|chdir|chroot|role|type|close-from|command-timeout))$/,
    operands: 0,
  },
  doas: { valued: /^-[uC]$/, operands: 0 },
  xargs: {
    valued: /^(?:-[InPLdasEJR]|--(?:max-args|max-procs|delimiter|arg-file|max-chars|max-lines))$/,
    operands: 0,
  },
  nice: { valued: /^(?:-n|--adjustment)$/, operands: 0 },
  ionice: { valued: /^-[cn]$/, operands: 0 },
  timeout: { valued: /^(?:-[ks]|--(?:kill-after|signal))$/, operands: 1 },
  stdbuf: { valued: /^-[ioe]$/, operands: 0 },
  chroot: { valued: none, operands: 1 },
  taskset: { valued: none, operands: 1 },
  chrt: { valued: none, operands: 1 },
  strace: { valued: /^-[eopsuE]$/, operands: 0 },
  unshare: { valued: none, operands: 0 },
  gosu: { valued: none, operands: 1 },
};

const command = /^(?:-[a-zA-Z]*c|--command|--session-command)(?![\w-])/;
const callers: Readonly<Record<string, ShellCaller>> = {
  ssh: { valued: /^-[46AaCfGgKkMNnqsTtVvXxYy]*[BbcDEeFIiJLlmOoPpQRSWw]$/, joinsFrom: 1 },
  su: { valued: /^-[gGsw]$/, code: command },
  runuser: { valued: /^-[gGsuw]$/, code: command },
  sg: { valued: none, code: command },
  script: { valued: /^-[EoIBOT]$/, code: command },
  flock: { valued: /^-[wE]$/, code: command },
  watch: { valued: /^(?:-[nq]|--interval|--equexit)$/, joinsFrom: 0, unless: /^(?:-[a-z]*x|--exec)$/ },
  mapfile: { valued: /^-[dnOsuc]$/, code: /^-C/ },
  readarray: { valued: /^-[dnOsuc]$/, code: /^-C/ },
  complete: { valued: /^-[oAGWFXPS]$/, code: /^-C/ },
  bind: { valued: /^-[mqurf]$/, code: /^-x/ },
};

/** The commands of ordinary scripts are few: what each came to. */
const byName = new Map<string, Interpreter | null>();
const maxNames = 1_000;

/** The interpreter of that name or path. */
export function interpreterOf(name: string | undefined): Interpreter | undefined {
  if (name === undefined) return undefined;
  const base = baseOf(name);
  const known = byName.get(base);
  if (known !== undefined) return known ?? undefined;
  const found = interpreters.find((one) => one.name.test(base)) ?? null;
  if (byName.size < maxNames) byName.set(base, found);
  return found ?? undefined;
}

/** The program of that name or path that runs the words after its own. */
export function wrapperOf(name: string | undefined): Wrapper | undefined {
  return name === undefined ? undefined : own(wrappers, baseOf(name));
}

/** The program of that name or path that hands text to a shell. */
export function shellCallerOf(name: string): ShellCaller | undefined {
  return own(callers, baseOf(name));
}

/** A program's name without its folders. */
export function baseOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

function own<V>(record: Readonly<Record<string, V>>, key: string): V | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
