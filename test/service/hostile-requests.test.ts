import { long } from '../rooms/long.ts';
import { bodyRows } from './hostile/body-rows.ts';
import { eventRows } from './hostile/event-rows.ts';
import { exchange, healthProbe } from './hostile/exchange.ts';
import { framingRows } from './hostile/framing-rows.ts';
import { hostRows } from './hostile/host-rows.ts';
import type { HostileRow } from './hostile/hostile-row.ts';
import { judgeAnswer } from './hostile/judge-answer.ts';
import { openGround } from './hostile/open-ground.ts';
import { openSteward } from './hostile/open-steward.ts';
import { originRows } from './hostile/origin-rows.ts';
import { pathRows } from './hostile/path-rows.ts';
import { protocolRows } from './hostile/protocol-rows.ts';
import { targetRows } from './hostile/target-rows.ts';
import { tokenRows } from './hostile/token-rows.ts';

const themes: Readonly<Record<string, readonly HostileRow[]>> = {
  'a Host that is not the loopback’s is refused': hostRows,
  'a page of another origin is refused': originRows,
  'without the one right token there is nothing to have': tokenRows,
  'nobody can make two requests of one, or one of two': framingRows,
  'a body is one sound JSON object of the route’s form': bodyRows,
  'only what may be published is published': eventRows,
  'a path that leads out takes its whole batch with it': pathRows,
  'what is served has one name and one method': targetRows,
  'what is not HTTP/1.1 is refused and does no harm': protocolRows,
};

long('the service handles every hostile request as the table expects', async (t) => {
  const place = await openGround(t);
  const steward = await openSteward(t, place);
  for (const [theme, rows] of Object.entries(themes)) {
    await t.test(theme, async (t) => {
      for (const row of rows) {
        const { answers, left } = await exchange(place, row, healthProbe(place));
        const sent = row.send(place);
        const wrong = row.answers.flatMap((expected, at) => {
          const answer = answers[at];
          return answer === undefined
            ? [`expected ${expected.status}, found no answer`]
            : judgeAnswer(place, sent, expected, answer);
        });
        const isSound = left === 'in step' || left === 'ended';
        const { stores = [] } = row;
        const { publishes = stores.length > 0 ? ['dirty_marked'] : [] } = row;
        // The service lives, and this is all that came of it.
        const seen = await steward.look();
        t.strictSame(
          { wrong, left: isSound ? 'sound' : left, ...seen },
          { wrong: [], left: 'sound', stored: stores, published: publishes },
          row.says,
        );
      }
    });
  }
  t.strictSame(place.faults, [], 'no row is a fault of ours');
  const said = Object.values(themes).flatMap((rows, theme) => rows.map(({ says }) => `${theme} ${says}`));
  t.equal(new Set(said).size, said.length, 'every row is there once');
  t.comment(`${said.length} rows`);
});
