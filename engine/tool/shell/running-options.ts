import { type ShellWord, unproven } from './reading.ts';

/**
 * Options, and words like `SHELL=…`, with which programs that are no wrappers run another one. What is written out is
 * known by its beginning, as most of these programs take a long option that is cut.
 */
const running: ReadonlyMap<string, RegExp> = new Map([
  ['sort', /^--comp/],
  ...['tar', 'gtar', 'bsdtar'].map((name): [string, RegExp] => [
    name,
    /^(?:-[A-Za-hj-z]*[IF]|-I|-F|--(?:checkpoint-a|use-c|to-c|rsh|info-s|new-v))/,
  ]),
  ['rsync', /^(?:-[a-zA-Z]*e|--rsh|--rsync-path)/],
  ['split', /^--f/],
  ['make', /^(?:SHELL[:+?]?=|\.SHELLFLAGS|MAKEFLAGS=|MAKEFILES=|--ev|-[a-zA-Z]*E)/],
  ['gmake', /^(?:SHELL[:+?]?=|\.SHELLFLAGS|MAKEFLAGS=|MAKEFILES=|--ev|-[a-zA-Z]*E)/],
  ['go', /^--?(?:exec|toolexec|vettool)(?:=|$)/],
  ...['npm', 'npx', 'pnpm', 'yarn'].map((name): [string, RegExp] => [name, /^--?script-shell/]),
  ['cargo', /^--config/],
  ['fd', /^(?:-[a-zA-Z]*[xX]|--exec)/],
  ['rg', /^--(?:pre|hostname-bin)(?:=|$)/],
  ['man', /^(?:-[a-zA-Z]*[PH]|--(?:pag|html))/],
  ['zip', /^(?:-TT|--unzip-command)/],
]); // prettier-ignore

/** In a script of `sed`: the command `e`, or the flag of `s`. Broad, since it reads no script. */
const sedRuns = /(?:^|[;{}\n!\d$/,])\s*e(?:\s|$)|[^\w\s][gpimIM\d]*e[gpimIM\d]*\s*(?:$|[;}\n])/;

const scriptOption = /^(?:--expression=?|-[a-zA-Z]*e)/;

/** Ends the reading where an argument of an ordinary program is known to run another program. */
export function checkRunningOptions(name: string, args: readonly ShellWord[]): void {
  const option = running.get(name);
  const found = option && args.find(({ head }) => option.test(head));
  if (found) unproven(`what \`${name}\` runs by \`${found.text.slice(0, 40)}\` cannot be told`);
  if (name !== 'sed' && name !== 'gsed') return;
  if (args.some(({ head }) => sedRuns.test(head.replace(scriptOption, ''))))
    unproven(`a script of \`${name}\` that may run a program`);
}
