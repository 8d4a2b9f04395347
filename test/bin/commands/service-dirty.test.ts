import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  makeServed,
  type ServedRepository,
  type StartedService,
  startService,
} from '../../service/started-service.ts';
import { faultsOf } from '../faults-of.ts';
import { runWrit, startWrit } from '../start-writ.ts';

interface Listed {
  readonly marks: readonly { readonly path: string; readonly marked_at: string }[];
  readonly cleared: boolean;
}

async function dirty(place: ServedRepository, ...more: readonly string[]): Promise<Listed> {
  const { code, out, err } = await runWrit(['service', 'dirty', '--json', ...more], place);
  t.equal(code, 0, err);
  const { data } = JSON.parse(out);
  t.strictSame(faultsOf('service dirty', data), []);
  return data;
}

const pathsOf = ({ marks }: Listed): readonly string[] => marks.map(({ path }) => path);

async function mark(service: StartedService, paths: readonly string[]): Promise<void> {
  const answer = await service.ask('/api/service/dirty/mark', { paths });
  t.equal(answer.status, 200, await answer.text());
}

/** `count` paths with the least octets, so that a body holds them. */
const many = (from: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `d/${String(from + index).padStart(5, '0')}`);

t.test('where nothing was ever marked there is nothing, and it stays so', async (t) => {
  const place = makeServed(t);
  t.strictSame(await dirty(place), { marks: [], cleared: false });
  t.strictSame(await dirty(place, '--clear'), { marks: [], cleared: true });
  t.notOk(existsSync(join(place.cwd, '.writ')));
});

t.test('the marks are listed and cleared, whether a service runs, ended or was killed', async (t) => {
  const place = makeServed(t);
  let service = await startService(t, place);
  await mark(service, ['src/b.ts', 'a\u202e.ts', 'src/../c.ts']);
  const expected = ['a\u202e.ts', 'c.ts', 'src/b.ts'];
  t.strictSame(pathsOf(await dirty(place)), expected, 'of the running one');
  const { out, err } = await runWrit(['service', 'dirty'], place);
  t.strictSame([out, err], ['a\\u{202e}.ts\nc.ts\nsrc/b.ts\n', '3 dirty paths\n'], 'for people');

  service.child.kill('SIGKILL');
  await service.ended;
  t.strictSame(pathsOf(await dirty(place)), expected, 'after a kill');

  service = await startService(t, place);
  t.strictSame(
    pathsOf(await dirty(place, '--clear')),
    expected,
    'cleared by the running one; looking took nothing away',
  );
  await mark(service, ['again.ts']);
  service.child.kill('SIGTERM');
  t.equal(await service.ended, 0);
  const cleared = await runWrit(['service', 'dirty', '--clear'], place);
  t.strictSame([cleared.out, cleared.err], ['again.ts\n', '1 dirty path, cleared\n'], 'cleared without one');
  t.strictSame(pathsOf(await dirty(place)), []);
});

t.test('25,000 marks are listed whole, and two who clear at once share them without loss', async (t) => {
  const place = makeServed(t);
  const service = await startService(t, place);
  const all = many(0, 25_000);
  const markAll = async (): Promise<void> => {
    await mark(service, all.slice(0, 12_500));
    await mark(service, all.slice(12_500));
  };
  /** Both as text: a comparison that shows what differs takes a minute over so many. */
  const clearTwice = async (): Promise<string> => {
    const both = await Promise.all([dirty(place, '--clear'), dirty(place, '--clear')]);
    return both.flatMap(pathsOf).sort().join('\n');
  };
  await markAll();
  const { code, out } = await runWrit(['service', 'dirty'], place);
  t.equal(code, 0);
  t.ok(out === `${all.join('\n')}\n`, 'listed by the service');
  const started = startWrit(['service', 'dirty'], place);
  await started.until(() => started.out().includes('\n'));
  started.child.stdout.destroy();
  t.equal(await started.ended, 0, 'a reader that goes away after some lines is no fault');
  t.notMatch(started.err(), /EPIPE|INTERNAL/);
  t.ok((await clearTwice()) === all.join('\n'), 'each mark goes to one of two who clear');

  await markAll();
  service.child.kill('SIGKILL');
  await service.ended;
  t.ok((await clearTwice()) === all.join('\n'), 'without a service too');
  t.strictSame(pathsOf(await dirty(place)), []);
});
