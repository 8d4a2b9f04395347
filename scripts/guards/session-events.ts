import { type Guard, within } from './guard.ts';

const events = 'test/session/api/event-streams.test.ts';
const changes = 'test/session/api/change-stream.test.ts';
const broadcast = 'test/http/broadcast.test.ts';
const opening = 'test/http/open-event-stream.test.ts';
const bits = 'what is said bit by bit';
const back = 'who comes back gets what followed';
const once = 'a snapshot becomes text once';

/** What readers of a session's events are told, how often, and what it costs. */
export const guards: readonly Guard[] = [
  ...within('session/api/events/event-streams.ts', events, [
    [
      'a wire that there is',
      "if (more.length === 0 && (wire === '1' || wire === '2')) return wire;",
      "if (wire === '1' || wire === '2') return wire;",
      'a HEAD is no reader',
    ],
    [
      'no stream of a session that is over',
      "if (channel.closed.aborted) throw new WritError('CODE_UI_UNAVAILABLE');",
      '',
      'streams end when',
    ],
    [
      'no stream without its session',
      "channel.closed.addEventListener('abort', () => void opened.end(endWithinMs), { once: true });",
      '',
      'streams end when',
    ],
  ]),
  ...within('session/api/events/snapshot-stream.ts', events, [
    [
      'one text for all',
      'rememberLast((state: SessionState) => JSON',
      '((state: SessionState) => JSON',
      once,
    ],
    [
      'no text for nobody',
      'if (broadcast.size > 0) broadcast.publish(of, frame());',
      'broadcast.publish(of, frame());',
      once,
    ],
    ['the last word', 'if (channel.state !== told && broadcast.size > 0) tell();', '', 'streams end when'],
    [
      'a status is told by itself',
      "(['status_changed'] as const)",
      '([] as const)',
      'a reader gets the snapshot',
    ],
    [
      'a controller is told by itself',
      "(['controller_changed'] as const)",
      '([] as const)',
      'a reader gets the snapshot',
    ],
  ]),
  ...within('session/api/events/pace.ts', events, [
    ['deltas together', 'Math.max(forBurst, spentAt + intervalMs - now, 0)', 'forBurst', bits],
    ['a storm within its rate', 'left = Math.max(0, left - 1);', '', 'a storm of changes'],
  ]),
  ...within('session/api/events/replay-ring.ts', events, [
    ['an id of nobody', 'if (seq > last || seq < ', 'if (seq < ', back],
    ['an id too old', '|| seq < (kept[0]?.seq ?? last + 1) - 1)', ')', back],
  ]),
  ...within('session/api/events/event-stream.ts', events, [
    [
      'numbers of this run',
      'return randomOctets(6).readUIntBE(0, 6);',
      'return Number(randomOctets(0).length);',
      back,
    ],
  ]),
  ...within('session/api/events/changes-between.ts', changes, [
    [
      'a finished reply goes on as an element',
      'if (last?.id !== fact.id || !last.streaming) return undefined;',
      'if (last?.id !== fact.id) return undefined;',
      'a reply that goes on after its end',
    ],
    [
      'what is gone is told',
      'if (gone.length > 0) removed.push(',
      'if (gone.length < 0) removed.push(',
      'what a snapshot no longer holds',
    ],
    ['what is over is told as gone', '    ...membersGone(old, now),\n', '', 'what is over is told'],
  ]),
  ...within('http/event-subscriber.ts', broadcast, [
    ['nothing behind a resync that it is about', '    log.seal();\n', '', 'what a lagging one is told'],
  ]),
  ...within('http/open-event-stream.ts', opening, [
    [
      'a HEAD asks for nothing',
      "response.req.method === 'HEAD' ? [] : first()",
      'first()',
      'a HEAD is answered',
    ],
  ]),
];
