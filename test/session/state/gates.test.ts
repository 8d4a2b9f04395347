import t from 'tap';
import type { TurnReport } from '../../../session/state/command.ts';
import type { GateResult } from '../../../session/state/work.ts';
import { newWorld, take, type World } from './walk.ts';

const gate = (stage: GateResult['stage'], status: GateResult['status']): TurnReport => ({
  type: 'noted',
  id: `${stage} ${status}`,
  text: status,
  gate: { stage, status, ran: 1, expected: 1 },
});

t.test('gates belong to the latest run, and the outcome to the last decided run', async (t) => {
  let world: World = take('', newWorld(), {
    type: 'submit',
    text: 'do it',
    proof: { from: 'local' },
  }).after;
  const tell = (...all: readonly TurnReport[]): void => {
    for (const told of all) world = take('', world, { ...told, turn: world.state.turn ?? '' } as never).after;
  };
  const shown = () => world.state.gates.map(({ stage, status }) => `${stage} ${status}`);
  const abandoned = { runId: 'one', decision: 'abandon', why: 'it failed' } as const;
  tell(
    { type: 'run-began', runId: 'one' },
    gate('fast', 'failed'),
    gate('release', 'skipped'),
    gate('fast', 'passed'),
  );
  t.strictSame(shown(), ['release skipped', 'fast passed'], 'the last word of each');
  tell({ type: 'noted', id: 'n', text: 'no', outcome: abandoned });
  t.strictSame(world.state.outcome, abandoned);
  tell(
    { type: 'run-began', runId: 'two' },
    { type: 'noted', id: 'm', text: 'Gate fast', title: 'Gate fast' },
  );
  t.strictSame(shown(), [], 'words are no gate');
  t.strictSame(world.state.outcome, abandoned, 'until another one is decided');
  t.match(world.state.transcript.at(-2)?.metadata, { outcome: abandoned });
});
