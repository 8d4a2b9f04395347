import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openDraftKeeper } from '../../../bin/code/edit-outside.ts';
import { systemClock } from '../../../core/base/clock.ts';
import { messageOf } from '../../../core/base/errors.ts';
import { makeTemporaryDirectory } from '../../rooms/temporary-directory.ts';

function placeOf(t: Test): string {
  const place = makeTemporaryDirectory();
  t.teardown(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

const secret = 'hunter2-and-more';

async function open(commonDir: string) {
  const faults: string[] = [];
  mkdirSync(join(commonDir, 'writ', 'threads', 't'), { recursive: true });
  const report = (fault: unknown): void => void faults.push(messageOf(fault));
  const keeper = await openDraftKeeper({ commonDir }, 't', {
    clock: systemClock,
    mask: (text) => text.replaceAll(secret, '***'),
    report,
  });
  return { keeper, faults, path: join(commonDir, 'writ', 'threads', 't', 'typed', 'draft.json') };
}

t.test('an unsent draft is restored, readable by its user only, and removed when empty', async (t) => {
  const place = placeOf(t);
  const first = await open(place);
  t.equal(first.keeper.draft, undefined);
  first.keeper.keep(() => ({ unsent: ['one'], typed: [] }));
  first.keeper.keep(() => ({ unsent: ['one', 'two'], typed: ['cleared'] }));
  await first.keeper.close();
  t.equal(statSync(first.path).mode & 0o777, 0o600);
  t.equal(statSync(join(first.path, '..')).mode & 0o777, 0o700);
  const second = await open(place);
  t.same(second.keeper.draft, { unsent: ['one', 'two'], typed: ['cleared'] });
  second.keeper.keep(() => ({ unsent: [], typed: [] }));
  await second.keeper.close();
  t.notOk(existsSync(second.path));
  t.same([...first.faults, ...second.faults], []);
});

t.test('a draft is stored with its secrets masked', async (t) => {
  const { keeper, path } = await open(placeOf(t));
  keeper.keep(() => ({ unsent: [`it is ${secret}`], typed: [`!echo ${secret}`] }));
  await keeper.close();
  t.same(JSON.parse(readFileSync(path, 'utf8')), { unsent: ['it is ***'], typed: ['!echo ***'] });
});

t.test('a draft that is too large drops its oldest cleared texts first', async (t) => {
  const place = placeOf(t);
  const { keeper } = await open(place);
  const long = (letter: string): string => letter.repeat(1024 * 1024);
  keeper.keep(() => ({ unsent: [long('a'), long('b')], typed: [long('c'), long('d'), long('e')] }));
  await keeper.close();
  const { draft } = (await open(place)).keeper;
  t.same(
    draft?.unsent.map(([letter]) => letter),
    ['a', 'b'],
  );
  t.same(
    draft?.typed.map(([letter]) => letter),
    ['d', 'e'],
  );
});

t.test('an unsafe or malformed draft file is reported, and neither read nor overwritten', async (t) => {
  const wrong: readonly (readonly [(path: string) => void, RegExp])[] = [
    [(path) => symlinkSync('/etc/hostname', path), /symbolic link/],
    [(path) => writeFileSync(path, '{"unsent":["x"],"typed":[]}', { mode: 0o644 }), /others have rights/],
    [(path) => writeFileSync(path, '{"unsent":"x","typed":[]}', { mode: 0o600 }), /what was typed/],
    [(path) => writeFileSync(path, 'no', { mode: 0o600 }), /what was typed/],
    [(path) => writeFileSync(path, ' '.repeat(5 * 1024 * 1024), { mode: 0o600 }), /octets/],
  ];
  for (const [make, why] of wrong) {
    const place = placeOf(t);
    const typed = join(place, 'writ', 'threads', 't', 'typed');
    mkdirSync(typed, { recursive: true });
    chmodSync(typed, 0o700);
    make(join(typed, 'draft.json'));
    const before = readFileSync(join(typed, 'draft.json'), 'utf8');
    const { keeper, faults, path } = await open(place);
    t.equal(keeper.draft, undefined);
    t.match(faults, [why]);
    keeper.keep(() => ({ unsent: ['mine'], typed: [] }));
    await keeper.close();
    t.equal(readFileSync(path, 'utf8'), before);
  }
});
