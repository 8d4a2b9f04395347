import type { CommandSpec } from '../command-parts/command.ts';
import { loadLean } from '../command-parts/load-lean.ts';

/** The local notification bus. */
export const serviceCommands: readonly CommandSpec[] = [
  {
    name: 'service run',
    summary: 'serve notifications and dirty marks of this repository on the loopback',
    description:
      'In the foreground, one per repository (its work trees share it), never reachable from another machine. Address in `.writ/service/service.json`, token for the header `X-Svc-Service-Token` in `.writ/service/service-token`. Ctrl+C or SIGTERM ends it with exit 0. Endpoints and events: docs/service.md.',
    arguments: [],
    options: [
      {
        name: 'host',
        value: 'LOOPBACK-IP',
        about: 'a literal address: 127.0.0.0/8 (default 127.0.0.1) or ::1',
      },
      { name: 'port', value: 'PORT', about: 'default 0: any that is free' },
    ],
    examples: [
      { line: 'writ service run', about: 'on a free port; `writ service status` tells which' },
      { line: 'writ service run --host ::1 --port 7420', about: 'IPv6, always the same port' },
    ],
    streams: true,
    load: () => loadLean(() => import('../commands/service-run.ts')),
  },
  {
    name: 'service status',
    summary: 'the running instance: process, address, health',
    description:
      'Exit 1 where none runs; `stale` is one that was killed, which the next start cleans up after.',
    arguments: [],
    options: [],
    examples: [
      { line: 'writ service status', about: 'for people' },
      { line: 'writ service status --json', about: '`data.base_url` is the address' },
    ],
    load: () => import('../commands/service-status.ts'),
  },
  {
    name: 'service events',
    summary: 'follow the events: dirty marks, notifications, the progress of runs',
    description:
      'One line per event, or NDJSON with `--json`, until the service ends. Delivery is at most once; a `resync` event says that some were missed.',
    arguments: [],
    options: [],
    examples: [
      { line: 'writ service events', about: 'watch a `writ run` from another terminal' },
      { line: 'writ service events --json', about: '`{seq, type, at, data}` per line, for a script' },
    ],
    streams: true,
    load: () => import('../commands/service-events.ts'),
  },
  {
    name: 'service dirty',
    summary: 'list the paths that were marked dirty, or clear them',
    description: 'Works whether the service runs or not. What `--clear` shows is exactly what it took away.',
    arguments: [],
    options: [{ name: 'clear', about: 'take the marks away' }],
    examples: [
      { line: 'writ service dirty', about: 'one path per line' },
      { line: 'writ service dirty --clear --json', about: 'hand them to a script, once' },
    ],
    load: () => import('../commands/service-dirty.ts'),
  },
];
