/** One promise of document 3 (or of resolutions C), and the test that fails when it is broken. */
export interface ServiceRow {
  readonly id: string;
  /** Section of the document. */
  readonly section: string;
  readonly rule: string;
  readonly test: string;
  /** Title of the test in that file, or its beginning. */
  readonly named: string;
}

const command = (name: string): string => `test/bin/commands/service-${name}.test.ts`;
const table = 'test/service/hostile-requests.test.ts';

/** Every field and rule of document 3, in its order. */
export const serviceRows: readonly ServiceRow[] = [
  ...inSection('What the service does', [
    [
      'service.run',
      'serves in the foreground until it is told to end',
      command('run'),
      'run serves in the foreground',
    ],
    [
      'service.one-instance',
      'one instance per repository, its work trees included',
      command('run'),
      'one repository has one service',
    ],
    [
      'service.status',
      'process, address and health of the instance',
      command('status'),
      'status says what runs',
    ],
    [
      'service.events.human',
      'one readable line per event',
      command('events'),
      'events shows every event to people and to scripts',
    ],
    [
      'service.events.ndjson',
      'NDJSON with `--json`',
      command('events'),
      'events shows every event to people and to scripts',
    ],
    [
      'service.events.end',
      'ends cleanly when the server goes',
      command('events'),
      'each end of a stream has its exit code',
    ],
    [
      'service.durable',
      'an acknowledged mark survives a kill',
      'test/service/kill.test.ts',
      'a service that is killed at any instant',
    ],
    [
      'service.dirty',
      'the marks are listed, and cleared without loss',
      command('dirty'),
      'the marks are listed and cleared whole',
    ],
  ]),
  ...inSection('Resources and their fields', [
    ['run.host', 'a literal loopback address only', command('run'), 'an address that others could reach'],
    ['run.port', 'a port of choice, or any', command('run'), 'any loopback address, a port of choice'],
    [
      'service.json',
      'what is published, and nothing secret',
      'test/http/discovery.test.ts',
      'what is published is read back',
    ],
    [
      'service-token',
      '0600, opened no-follow, new at each start',
      'test/http/private-files.test.ts',
      'a file is written whole, for its owner only',
    ],
    [
      'service.lock',
      'held for life, taken over from the dead alone',
      'test/service/kill.test.ts',
      'a service that is killed at any instant',
    ],
    [
      'event.seq',
      'from 1, one more each time, from 1 again after a restart',
      'test/service/bus.test.ts',
      'events are numbered from 1',
    ],
    ['event.type-at-data', 'the envelope', 'test/service/bus.test.ts', 'an event is `{seq, type, at, data}`'],
    [
      'dirty.paths',
      'sorted, each once, relative to the repository',
      'test/service/mark-paths.test.ts',
      'marks are sorted by code units',
    ],
    [
      'notify.type-data',
      'a type of 1 to 128 characters and an object',
      table,
      'only what may be published is published',
    ],
  ]),
  ...inSection('States and transitions', [
    [
      'lock.stale',
      'a dead holder’s lock is reclaimed',
      command('status'),
      'status says what runs, what was killed',
    ],
    [
      'stop',
      'discovery and token removed, lock released, streams ended within a second',
      command('run'),
      'run serves in the foreground',
    ],
    [
      'resync',
      'who lags gets one, with how many were missed',
      'test/http/broadcast.test.ts',
      '1,000 subscribers, 50 of them stalled',
    ],
    [
      'batch.refused',
      'one path that escapes refuses the batch',
      table,
      'a path that leads out takes its whole batch with it',
    ],
    [
      'batch.links',
      'parents are resolved through symlinks first',
      'test/service/mark-paths.test.ts',
      'a link in the place of a parent is resolved',
    ],
    [
      'batch.whole',
      'one transaction',
      'test/service/dirty-marks.test.ts',
      'a batch with one path that cannot be kept',
    ],
  ]),
  ...inSection('Endpoints', [
    ['health', '`{status: "ok"}` without a token', table, 'without the one right token'],
    [
      'events',
      'an event stream with `event`, `id` and `data`',
      'test/http/open-event-stream.test.ts',
      'a stream opens at once',
    ],
    [
      'dirty.mark',
      'durable, published, answered',
      'test/service/docs.test.ts',
      'every command of docs/service.md prints',
    ],
    [
      'notify',
      'published with its seq',
      'test/service/docs.test.ts',
      'every command of docs/service.md prints',
    ],
    ['unknown', 'NOT_FOUND and METHOD_NOT_ALLOWED', table, 'what is served has one name and one method'],
  ]),
  ...inSection('Authentication', [
    [
      'peer',
      'every endpoint refuses who is not on this machine',
      'test/http/guard-request.test.ts',
      'a peer elsewhere gets nothing',
    ],
    ['token', 'missing 401, wrong 403', table, 'without the one right token'],
    ['host', 'no name but the loopback’s', table, 'a Host that is not the loopback’s is refused'],
    ['origin', 'no page of another origin', table, 'a page of another origin is refused'],
  ]),
  ...inSection('Events', [
    [
      'at-most-once',
      'nothing is replayed; who comes back is told',
      'test/service/bus.test.ts',
      'who comes back',
    ],
    [
      'type.reserved',
      'built-in names are the service’s own',
      table,
      'only what may be published is published',
    ],
    [
      'service_lifecycle',
      'started reaches the first subscriber, stopping all',
      'test/service/bus.test.ts',
      'that the service has started',
    ],
    [
      'dirty_marked',
      'published with the stored paths',
      table,
      'a path that leads out takes its whole batch with it',
    ],
    ['run events', 'a run tells what it does', command('progress'), 'a run can be watched'],
  ]),
  ...inSection('Errors', [
    ['exit.1', '`status` and `events` without an instance', command('status'), 'status says what runs'],
    ['exit.128', 'not a repository', command('run'), 'only a repository has a service'],
    [
      'exit.129',
      'a usage error, another host included',
      command('run'),
      'an address that others could reach',
    ],
    [
      'error.envelope',
      '`{error: {code, message}}`, also for what the framework refuses',
      table,
      'what is not HTTP/1.1 is refused',
    ],
    ['error.media-type', 'UNSUPPORTED_MEDIA_TYPE', table, 'a body is one sound JSON object'],
  ]),
  ...inSection('Limits', [
    ['body.256-KiB', 'PAYLOAD_TOO_LARGE, before it is read', table, 'a body is one sound JSON object'],
    [
      'buffer.256',
      '256 events wait for one subscriber',
      'test/http/broadcast.test.ts',
      '1,000 subscribers, 50 of them stalled',
    ],
  ]),
];

type Row = readonly [id: string, rule: string, test: string, named: string];

function inSection(section: string, rows: readonly Row[]): readonly ServiceRow[] {
  return rows.map(([id, rule, test, named]) => ({ id, section, rule, test, named }));
}
