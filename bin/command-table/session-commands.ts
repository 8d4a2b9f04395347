import type { CommandSpec } from '../command-parts/command.ts';
import { loadLean } from '../command-parts/load-lean.ts';

/** Programs that steer a session. */
export const sessionCommands: readonly CommandSpec[] = [
  {
    name: 'code-control',
    summary: 'steer a running session from a program: JSON-RPC over standard input and output',
    description:
      'One JSON-RPC 2.0 request on each line, one answer on each line, and notifications of events in between. Finds the session of this work tree that was started with `writ code --control write`, by `.writ/code/control.json`, and its token beside it. Ends when its input ends and everything is answered: exit 0; exit 1 where no session runs. Methods and errors: docs/code-control.md.',
    arguments: [],
    options: [
      { name: 'stdio', about: 'speak over standard input and output (the only way there is)' },
      {
        name: 'url',
        value: 'URL',
        about: 'the session at this loopback address, instead of the one that is found here',
      },
      {
        name: 'token-file',
        value: 'FILE',
        about: 'its control token; with `--url` none is sent unless this says which',
      },
      {
        name: 'info-file',
        value: 'FILE',
        about: 'the discovery file of a session that was started with `--control-info-file`',
      },
    ],
    examples: [
      { line: 'writ code-control --stdio', about: 'the session that runs in this work tree' },
      {
        line: 'writ code-control --stdio --url http://127.0.0.1:3000 --token-file ./token',
        about: 'one at a known address',
      },
    ],
    streams: true,
    load: () => loadLean(() => import('../commands/code-control.ts')),
  },
];
