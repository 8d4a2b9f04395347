/**
 * Whether a terminal that becomes narrower breaks the rows which are too wide now, as nearly all do. Those that do not
 * cut them: the console of Linux, xterm itself, and `screen`.
 */
export function reflows(env: Readonly<Record<string, string | undefined>>): boolean {
  const term = env.TERM ?? '';
  if (env.TMUX !== undefined && env.TMUX !== '') return true;
  return term !== 'linux' && !/^screen\b/.test(term) && (env.XTERM_VERSION ?? '') === '';
}
