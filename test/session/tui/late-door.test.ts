import t from 'tap';
import { openLateDoor } from '../../../session/screen/session-door.ts';
import { openMachineDoor } from './machine-door.ts';

t.test(
  'commands sent before the session opens are forwarded in order before its snapshot is shown',
  async (t) => {
    const machine = openMachineDoor(() => 0);
    const starting = { ...machine.door.snapshot(), status: 'thinking' as const };
    const { door, open } = openLateDoor(starting);
    const seen: string[] = [];
    const stop = door.follow(() => seen.push(door.snapshot().status));
    const refused = t.rejects(door.submit('/context nowhere'), 'what the session refuses is refused');
    const taken = door.submit('/context review');
    const facts = door.diagnostics();
    await door.cancel();
    t.equal(door.snapshot(), starting);
    t.equal(machine.state.settings.context, 'dev', 'nothing has gone');
    const opened = open(machine.door);
    t.equal(door.snapshot(), starting, 'it is not shown before what was sent has gone');
    await opened;
    await refused;
    await taken;
    t.match(await facts, { sandbox: { backend: 'none' } });
    t.equal(door.snapshot().settings.context, 'review');
    t.equal(seen.length, 0);
    await door.submit('/context dev');
    t.ok(seen.length > 0, 'and is followed from then on');
    const count = seen.length;
    stop();
    await door.submit('/context review');
    t.equal(seen.length, count);
  },
);
