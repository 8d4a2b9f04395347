import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { commands } from '../../../bin/command-table.ts';
import { long } from '../../rooms/long.ts';
import {
  makeServed,
  type ServedRepository,
  type StartedService,
  startService,
} from '../../service/started-service.ts';
import { faultsOf } from '../faults-of.ts';
import { type Ran, runLine } from '../host.ts';
import { codeOf, runWrit, startWrit } from '../start-writ.ts';

interface Listed {
  readonly marks: readonly { readonly path: string; readonly marked_at: string }[];
  readonly cleared: boolean;
}

async function dirty(place: ServedRepository, ...more: readonly string[]): Promise<Listed> {
  return listed(await runLine(['service', 'dirty', '--json', ...more], commands, { cwd: place.cwd }));
}

function listed({ code, out, err }: Ran): Listed {
  t.equal(code, 0, err);
  const { data } = JSON.parse(out);
  t.strictSame(faultsOf('service dirty', data), []);
  return data;
}

const pathsOf = ({ marks }: Listed): readonly string[] => marks.map(({ path }) => path);

async function mark(service: StartedService, paths: readonly string[]): Promise<void> {
  const answer = await service.ask('/api/service/dirty/mark', { paths });
  if (answer.status !== 200) throw new Error(await answer.text());
}

/** `count` paths with the least octets, so that a body holds them. */
const many = (from: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `d/${String(from + index).padStart(5, '0')}`);

t.test('without marks the list is empty, and no state is created', async (t) => {
  const place = makeServed(t);
  t.strictSame(await dirty(place), { marks: [], cleared: false });
  t.strictSame(await dirty(place, '--clear'), { marks: [], cleared: true });
  t.notOk(existsSync(join(place.cwd, '.writ')));
});

long('all marks are listed and cleared once, with or without a running service', async (t) => {
  const place = makeServed(t);
  let service = await startService(t, place);
  // More than two pages of what the service answers at once.
  const all = [...many(0, 24_999), 'evil\u202e.ts'];
  const markAll = async (): Promise<void> => {
    await mark(service, ['x/../evil\u202e.ts', ...all.slice(0, 12_500)]);
    await mark(service, all.slice(12_500));
  };
  /** As text: a comparison that shows what differs takes a minute over so many. */
  const clearTwice = async (): Promise<string> => {
    const line = ['service', 'dirty', '--json', '--clear'];
    const both = await Promise.all([runWrit(line, place), runWrit(line, place)]);
    return both.map(listed).flatMap(pathsOf).sort().join('\n');
  };
  await markAll();
  const { code, out, err } = await runWrit(['service', 'dirty'], place);
  t.strictSame([code, err], [0, '25000 dirty paths\n']);
  t.ok(out === `${all.join('\n').replace('\u202e', '\\u{202e}')}\n`, 'for people');
  const started = startWrit(['service', 'dirty'], place);
  await started.until(() => started.out().includes('\n'));
  started.child.stdout.destroy();
  t.equal(await codeOf(started), 0, 'a reader that goes away after some lines is no fault');
  t.notMatch(started.err(), /EPIPE|INTERNAL/);
  t.ok((await clearTwice()) === all.join('\n'), 'each mark goes to one of two who clear');

  await markAll();
  service.child.kill('SIGKILL');
  await service.ended;
  t.ok((await clearTwice()) === all.join('\n'), 'after a kill too');
  t.strictSame(pathsOf(await dirty(place)), []);

  service = await startService(t, place);
  await mark(service, ['b.ts', 'a.ts']);
  t.strictSame(pathsOf(await dirty(place)), ['a.ts', 'b.ts']);
  t.strictSame(pathsOf(await dirty(place, '--clear')), ['a.ts', 'b.ts'], 'to look took nothing away');
  t.strictSame(pathsOf(await dirty(place)), []);
  await mark(service, ['again.ts']);
  service.child.kill('SIGTERM');
  t.equal(await codeOf(service), 0);
  const cleared = await runLine(['service', 'dirty', '--clear'], commands, place);
  t.strictSame([cleared.out, cleared.err], ['again.ts\n', '1 dirty path, cleared\n'], 'without a service');
  t.strictSame(pathsOf(await dirty(place)), []);
});

long('cleared marks are printed even if the service stops halfway', async (t) => {
  const place = makeServed(t);
  const service = await startService(t, place);
  const batch = 20_000;
  const batches = 6;
  for (let number = 0; number < batches; number += 1) {
    const paths = Array.from({ length: batch }, (_, index) => `${number}/${index}`);
    t.equal((await service.ask('/api/service/dirty/mark', { paths })).status, 200);
  }
  const total = batch * batches;
  const clearing = dirty(place, '--clear');
  const left = async (): Promise<number> =>
    ((await (await service.ask('/api/service/dirty?after=~')).json()) as { count: number }).count;
  while ((await left()) === total);
  service.child.kill('SIGTERM');
  const { marks: taken } = await clearing;
  t.equal(await service.ended, 0);
  t.equal(taken.length + (await dirty(place)).marks.length, total);
});
