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
      '`service run` serves until SIGINT or SIGTERM and leaves only its marks',
    ],
    [
      'service.one-instance',
      'one instance per repository, its work trees included',
      command('run'),
      'linked working trees share one service per repository',
    ],
    [
      'service.status',
      'process, address and health of the instance',
      command('status'),
      '`service status` reports running, killed and unresponsive services',
    ],
    [
      'service.events.human',
      'one readable line per event',
      command('events'),
      '`service events` streams every event to people and scripts until the service ends',
    ],
    [
      'service.events.ndjson',
      'NDJSON with `--json`',
      command('events'),
      '`service events` streams every event to people and scripts until the service ends',
    ],
    [
      'service.events.end',
      'ends cleanly when the server goes',
      command('events'),
      'each way a stream ends has its exit code',
    ],
    [
      'service.durable',
      'an acknowledged mark survives a kill',
      'test/service/kill.test.ts',
      'a killed service keeps acknowledged marks and whole batches, and starts again',
    ],
    [
      'service.dirty',
      'the marks are listed, and cleared without loss',
      command('dirty'),
      'all marks are listed and cleared once, with or without a running service',
    ],
  ]),
  ...inSection('Resources and their fields', [
    [
      'run.host',
      'a literal loopback address only',
      command('run'),
      'a host other than a loopback address, or an invalid port, is refused',
    ],
    [
      'run.port',
      'a port of choice, or any',
      command('run'),
      'the service listens on a chosen loopback address and port, and `--json` prints it once',
    ],
    [
      'service.json',
      'what is published, and nothing secret',
      'test/http/discovery.test.ts',
      'reads a discovery file back as it was written',
    ],
    [
      'service-token',
      '0600, opened no-follow, new at each start',
      'test/http/private-files.test.ts',
      'writes a private file with mode 600 and replaces a symlink without following it',
    ],
    [
      'service.lock',
      'held for life, taken over from the dead alone',
      'test/service/kill.test.ts',
      'a killed service keeps acknowledged marks and whole batches, and starts again',
    ],
    [
      'event.seq',
      'from 1, one more each time, from 1 again after a restart',
      'test/service/bus.test.ts',
      'numbers events from 1 and starts at 1 again on the next bus',
    ],
    [
      'event.type-at-data',
      'the envelope',
      'test/service/bus.test.ts',
      'an event has the fields `seq`, `type`, `at` and `data`',
    ],
    [
      'dirty.paths',
      'sorted, each once, relative to the repository',
      'test/service/mark-paths.test.ts',
      'sorts marks by code units without duplicates, and an empty batch has none',
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
      '`service status` reports running, killed and unresponsive services',
    ],
    [
      'stop',
      'discovery and token removed, lock released, streams ended within a second',
      command('run'),
      '`service run` serves until SIGINT or SIGTERM and leaves only its marks',
    ],
    [
      'resync',
      'who lags gets one, with how many were missed',
      'test/http/broadcast.test.ts',
      '50 stalled subscribers get one resync each while 950 others get every event',
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
      'resolves a symlink in a parent directory but not in the last name',
    ],
    [
      'batch.whole',
      'one transaction',
      'test/service/dirty-marks.test.ts',
      'a batch with one invalid path stores nothing',
    ],
  ]),
  ...inSection('Endpoints', [
    ['health', '`{status: "ok"}` without a token', table, 'without the one right token'],
    [
      'events',
      'an event stream with `event`, `id` and `data`',
      'test/http/open-event-stream.test.ts',
      'opens a stream at once with its headers and first frames, unchunked',
    ],
    [
      'dirty.mark',
      'durable, published, answered',
      'test/service/docs.test.ts',
      'every command of docs/reference/service.md prints',
    ],
    [
      'notify',
      'published with its seq',
      'test/service/docs.test.ts',
      'every command of docs/reference/service.md prints',
    ],
    ['unknown', 'NOT_FOUND and METHOD_NOT_ALLOWED', table, 'what is served has one name and one method'],
  ]),
  ...inSection('Authentication', [
    [
      'peer',
      'every endpoint refuses who is not on this machine',
      'test/http/guard-request.test.ts',
      'refuses a remote peer whatever its headers claim',
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
      'a returning subscriber gets the number of missed events and no replay',
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
      'delivers the service start event to the first subscriber only',
    ],
    [
      'dirty_marked',
      'published with the stored paths',
      table,
      'a path that leads out takes its whole batch with it',
    ],
    [
      'run events',
      'a run tells what it does',
      command('progress'),
      'the service reports the start, approval, resume and decision of a run',
    ],
  ]),
  ...inSection('Errors', [
    [
      'exit.1',
      '`status` and `events` without an instance',
      command('status'),
      '`service status` reports running, killed and unresponsive services',
    ],
    ['exit.128', 'not a repository', command('run'), 'a service requires a repository with a working tree'],
    [
      'exit.129',
      'a usage error, another host included',
      command('run'),
      'a host other than a loopback address, or an invalid port, is refused',
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
      '50 stalled subscribers get one resync each while 950 others get every event',
    ],
  ]),
];

type Row = readonly [id: string, rule: string, test: string, named: string];

function inSection(section: string, rows: readonly Row[]): readonly ServiceRow[] {
  return rows.map(([id, rule, test, named]) => ({ id, section, rule, test, named }));
}
