import type { Prefix } from './options.ts';

/** Programs whose arguments are another program and its arguments. */
export const wrappers: ReadonlyMap<string, Prefix> = new Map<string, Prefix>([
  ['command', { flags: ['-p'] }],
  ['exec', {}],
  ['nohup', {}],
  [
    'time',
    {
      flags: ['-p', '-v', '-a', '-q', '--portability', '--verbose', '--append', '--quiet'],
      valued: ['-f', '-o', '--format', '--output'],
    },
  ],
  ['nice', { valued: ['-n', '--adjustment'] }],
  ['ionice', { flags: ['-t', '--ignore'], valued: ['-c', '-n', '--class', '--classdata'] }],
  [
    'timeout',
    {
      flags: ['-v', '--verbose', '--foreground', '--preserve-status'],
      valued: ['-k', '-s', '--kill-after', '--signal'],
      operands: 1,
    },
  ],
  ['setsid', { flags: ['-c', '-f', '-w', '--ctty', '--fork', '--wait'] }],
  ['stdbuf', { valued: ['-i', '-o', '-e', '--input', '--output', '--error'] }],
  ['xvfb-run', { flags: ['-a', '--auto-servernum'], valued: ['-s', '-n', '--server-args', '--server-num'] }],
]); // prettier-ignore
